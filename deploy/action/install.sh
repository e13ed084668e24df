#!/usr/bin/env bash
# Installs a release into a folder for action.yml, and ffmpeg if it is missing. The
# archive is verified by the release's checksums. BGREMOVE_RELEASES is the address
# of the releases.
set -euo pipefail

test $# = 2 || { echo "usage: install.sh VERSION|latest DIR" >&2; exit 2; }
version=${1#v}
dir=$2
releases=${BGREMOVE_RELEASES:-https://github.com/bgremove/bgremove/releases}

die() { echo "bgremove: $*" >&2; exit 1; }

if [ "$version" = latest ]; then
	# It redirects to the tag, or to the list where there is none.
	latest=$(curl -sSLf --retry 3 -o /dev/null -w '%{url_effective}' "$releases/latest") || die "$releases cannot be read: run the job again"
	case $latest in
	*/tag/v*) version=${latest##*/v} ;;
	*) die "$releases has no release yet" ;;
	esac
fi

case "${RUNNER_OS:-Linux}" in
Linux) system=linux extension=tar.gz ;;
macOS) system=macos extension=tar.gz ;;
Windows) system=windows extension=zip ;;
*) die "no release for $RUNNER_OS" ;;
esac
case "${RUNNER_ARCH:-X64}" in
X64) arch=amd64 ;;
ARM64) arch=arm64 ;;
*) die "no release for processors of kind $RUNNER_ARCH" ;;
esac
archive=bgremove_${version}_${system}_$arch.$extension

mkdir -p "$dir"
cd "$dir"
for file in "$archive" checksums.txt; do
	curl -sSLf --retry 3 -o "$file" "$releases/download/v$version/$file" || die "$releases has no $file of version $version: set the input version to a release"
done
sum=$(command -v sha256sum || echo shasum -a 256)
grep -F "  $archive" checksums.txt | $sum -c - >/dev/null || { rm "$archive"; die "$archive is not the file of checksums.txt: run the job again"; }
if [ $extension = zip ]; then unzip -qo "$archive"; else tar -xzf "$archive"; fi
rm "$archive" checksums.txt

if ! command -v ffmpeg >/dev/null; then
	case $system in
	linux)
		as_root=
		test "$(id -u)" = 0 || as_root=sudo
		$as_root apt-get -qq update
		$as_root apt-get -qq install -y --no-install-recommends ffmpeg >/dev/null
		;;
	macos) brew install --quiet ffmpeg ;;
	windows) choco install ffmpeg --yes --no-progress ;;
	esac
fi
