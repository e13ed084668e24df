#!/bin/sh
# Installs the programs that the tests and the demo run: nothing to do, and
# quick, where they are there. Fails where it cannot install them.
# "setup.sh peers" brings gifski and rembg too, into .cache, for `make bench-peers`;
# "setup.sh demo" leaves out what only tests need.
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" = peers ]; then
	command -v gifski >/dev/null || [ -x .cache/bin/gifski ] ||
		cargo install --quiet --root .cache gifski
	[ -x .cache/rembg/bin/rembg ] || {
		python3 -m venv .cache/rembg
		.cache/rembg/bin/pip install --quiet 'rembg[cpu,cli]==2.0.86'
	}
fi

# Packages of programs that are not there. One that is there may have come in
# another way, with which its package does not agree: npm of nodejs.org's.
missing=
needs() { # package program...
	package=$1
	shift
	for program; do
		command -v "$program" >/dev/null || { missing="$missing $package"; return; }
	done
}
needs ffmpeg ffmpeg ffprobe
if [ "${1:-}" != demo ]; then
	needs gifsicle gifsicle
	needs imagemagick identify
	needs curl curl
	needs jq jq
	needs rclone rclone
	needs npm npm
	command -v google-chrome >/dev/null || needs chromium chromium
	# Debian keeps the server's programs out of PATH.
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || needs postgresql initdb
fi
if [ -n "$missing" ]; then
	as_root=
	test "$(id -u)" = 0 || as_root="sudo -n"
	if command -v apt-get >/dev/null && $as_root true 2>/dev/null; then
		$as_root apt-get update -qq
		$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing
	else
		echo "setup: missing:$missing" >&2
		echo "hint: install the packages ffmpeg, gifsicle, imagemagick, postgresql, curl, jq, rclone, npm and chromium, on macOS with: brew install ffmpeg gifsicle imagemagick postgresql jq rclone node chromium" >&2
		exit 1
	fi
fi

# The library that the neural networks run on, as users get it. Tests that
# need it are skipped without.
version=$(sed -n 's/^const Version = //p' internal/ortlib/ortlib.go)
if [ "${1:-}" != demo ] && ! grep -qs "\"version\": $version" .cache/bgremove/onnxruntime/setup.json; then
	GOCACHE=$(go env GOCACHE) XDG_CACHE_HOME=$PWD/.cache go run ./cmd/bgremove setup ||
		echo "setup: without ONNX Runtime the tests of neural networks are skipped" >&2
fi

# What tells whether pages can be used by everybody; it is run in the browser.
if [ "${1:-}" != demo ] && [ ! -f .cache/axe/node_modules/axe-core/axe.min.js ]; then
	npm install --silent --no-save --ignore-scripts --no-audit --no-fund --prefix .cache/axe axe-core@4.14.1 ||
		echo "setup: without axe-core the pages' looks are not tested" >&2
fi
