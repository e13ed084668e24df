#!/bin/sh
# Checks action.yml, its scripts, and the workflows of examples/ci and of this
# repository with actionlint and, if it is there, shellcheck. A workflow's inputs must be those of action.yml.
set -eu
cd "$(dirname "$0")/.."

test $# = 1 || { echo "usage: actions.sh ACTIONLINT" >&2; exit 2; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/bgremove-actions.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# actionlint reads an action's inputs only where a workflow uses it by its path.
mkdir -p "$dir/.github/workflows" "$dir/.git"
cp action.yml "$dir"
for workflow in examples/ci/*.yaml; do
	sed 's|uses: bgremove/bgremove@.*|uses: ./|' "$workflow" >"$dir/.github/workflows/${workflow##*/}"
done
cp .github/workflows/*.yaml "$dir/.github/workflows"
# It reads no steps of an action, so they become a workflow's.
{
	printf 'on:\n  workflow_call:\n'
	sed -n '/^inputs:/,/^outputs:/{ /^outputs:/d; s/^/    /; p; s/description: .*/type: string/p; }' action.yml
	printf 'jobs:\n  action:\n    runs-on: ubuntu-latest\n'
	sed -n '/^  steps:/,$ s/^/  /p' action.yml
} >"$dir/.github/workflows/action.yaml"
grep -q 'uses: \./' "$dir"/.github/workflows/* || { echo "actions.sh: no workflow uses action.yml" >&2; exit 1; }
(cd "$dir" && "$1" -color=false)
if command -v shellcheck >/dev/null; then
	shellcheck deploy/action/*.sh deploy/packages/*.sh
fi
echo "actions.sh: action.yml and the workflows of examples/ci and .github passed"
