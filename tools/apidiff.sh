#!/bin/sh
# Compares the API of the packages in pkg/ with that of the last release, by the
# program in $1. Incompatible changes are exit code 1.
set -eu
apidiff=$1
cd "$(dirname "$0")/.."

if ! tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null); then
	echo "apidiff: no release has a tag yet, so there is nothing to compare with"
	exit 0
fi
old=$(mktemp -d)
trap 'rm -rf "$old"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
git archive "$tag" | tar -x -C "$old"

module=$(go list -m)
broken=
for folder in pkg/*/; do
	package=$module/${folder%/}
	[ -d "$old/$folder" ] || { echo "$package: new since $tag"; continue; }
	(cd "$old" && "$apidiff" -w "$old/export" "$package")
	changes=$("$apidiff" "$old/export" "$package")
	[ -z "$changes" ] || printf '%s since %s:\n%s\n' "$package" "$tag" "$changes"
	[ -z "$("$apidiff" -incompatible "$old/export" "$package")" ] || broken=yes
done
for folder in "$old"/pkg/*/; do
	name=$(basename "$folder")
	[ -d "pkg/$name" ] || { echo "$module/pkg/$name: removed since $tag"; broken=yes; }
done
if [ -n "$broken" ]; then
	echo "apidiff: incompatible changes: raise the minor version, and name them in CHANGELOG.md" >&2
	exit 1
fi
echo "apidiff: nothing incompatible since $tag"
