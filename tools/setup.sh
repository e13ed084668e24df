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

# The library that the neural networks run on, as users get it. Tests that
# need it are skipped without.
if [ "${1:-}" != demo ] && [ ! -d .cache/bgremove/onnxruntime ]; then
	XDG_CACHE_HOME=$PWD/.cache go run ./cmd/bgremove setup ||
		echo "setup: without ONNX Runtime the tests of neural networks are skipped" >&2
fi

missing=
tools="ffmpeg ffprobe"
[ "${1:-}" = demo ] || tools="$tools gifsicle identify curl jq"
for tool in $tools; do
	command -v "$tool" >/dev/null || missing="$missing $tool"
done
# Debian keeps the server's programs out of PATH.
[ "${1:-}" = demo ] || command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing initdb"
test -n "$missing" || exit 0

as_root=
test "$(id -u)" = 0 || as_root="sudo -n"
if command -v apt-get >/dev/null && $as_root true 2>/dev/null; then
	$as_root apt-get update -qq
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ffmpeg gifsicle imagemagick postgresql curl jq
	exit
fi
echo "setup: missing:$missing" >&2
echo "hint: install the packages ffmpeg, gifsicle, imagemagick, postgresql, curl and jq, on macOS with: brew install ffmpeg gifsicle imagemagick postgresql jq" >&2
exit 1
