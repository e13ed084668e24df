#!/usr/bin/env bash
# Builds the packages of a snapshot for amd64, installs, upgrades, removes and purges
# the .deb in a clean Debian, and checks that it works and that nothing is left. Does
# the same with the .rpm by Debian's rpm, and runs the .apk's program in an empty
# root. Needs what tools/podman.sh needs, and Debian's package rpm.
set -euo pipefail
cd "$(dirname "$0")/.."

test $# = 1 || { echo "usage: packages.sh GORELEASER" >&2; exit 2; }
dist=.cache/packages
suite=localhost/debian:trixie

# goreleaser release has no flag for a single target. One build after the other, so
# that the second finds the first one's results in Go's cache.
{
	sed 's/targets: \[.*\]/targets: [linux_amd64]/' .goreleaser.yaml
	echo "dist: $dist"
} >.cache/goreleaser-packages.yaml
"$1" release --config .cache/goreleaser-packages.yaml --snapshot --clean --parallelism 1 --skip=publish,archive,homebrew,sbom,sign
BGREMOVE_DIST="$PWD/$dist" go test -count=1 -run 'TestPackages/amd64' ./tools/archives

# in_debian SCRIPT runs a script of tools/packages in a clean Debian, with the
# packages in /dist and clips in /clips. Downloaded packages are kept.
in_debian() {
	printf '== %s\n' "$1"
	mkdir -p .cache/debian/archives
	tools/podman.sh run --rm -i -v "$PWD/$dist:/dist:ro" -v "$PWD/testdata:/clips:ro" -v "$PWD/tools/packages:/tests:ro" \
		-v "$PWD/.cache/debian/archives:/var/cache/apt/archives" "$suite" sh -eu "/tests/$1.sh" </dev/null
}
in_debian deb
in_debian rpm
in_debian apk
echo "packages.sh: the .deb, the .rpm and the .apk passed"
