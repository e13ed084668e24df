#!/bin/sh
# Installs the programs that the tests and the demo run. It is quick if they
# already exist, and fails if it cannot install them.
# "setup.sh peers" also installs gifski and rembg into .cache, for `make bench-peers`.
# "setup.sh demo" omits the programs that only tests need.
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

# Packages of missing programs. An existing program may come from elsewhere and
# conflict with the package, such as npm from nodejs.org.
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
	needs webp webpinfo webpmux gif2webp img2webp
	needs libavif-bin avifdec
	needs curl curl
	needs jq jq
	needs rclone rclone
	needs npm npm
	python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
	command -v google-chrome >/dev/null || needs chromium chromium
	command -v firefox >/dev/null || needs firefox-esr firefox-esr
	# Debian keeps the server's programs out of PATH.
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || needs postgresql initdb
fi
if [ -n "$missing" ]; then
	as_root=
	test "$(id -u)" = 0 || as_root="sudo -n"
	if command -v apt-get >/dev/null && $as_root true 2>/dev/null; then
		$as_root apt-get update -qq
		$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing
	elif [ "${1:-}" = demo ]; then
		echo "setup: missing: ffmpeg" >&2
		echo "hint: install ffmpeg, such as with: sudo apt install ffmpeg; on macOS: brew install ffmpeg" >&2
		exit 1
	else
		echo "setup: missing:$missing" >&2
		echo "hint: install the packages ffmpeg, gifsicle, imagemagick, webp, libavif-bin, postgresql, curl, jq, rclone, npm, python3-venv, chromium and firefox-esr, on macOS with: brew install ffmpeg gifsicle imagemagick webp libavif postgresql jq rclone node python chromium firefox" >&2
		exit 1
	fi
fi

# The library that runs the neural networks, installed as users do it. Tests
# that need it are skipped without it.
version=$(sed -n 's/^const Version = //p' internal/network/ortlib/ortlib.go)
if [ "${1:-}" != demo ] && ! grep -qs "\"version\": $version" .cache/bgremove/onnxruntime/setup.json; then
	GOCACHE=$(go env GOCACHE) XDG_CACHE_HOME=$PWD/.cache go run ./cmd/bgremove setup ||
		echo "setup: without ONNX Runtime the tests of neural networks are skipped" >&2
fi

# modules installs modules of npm into a folder, unless these versions are there.
modules() { # folder, what is lacking without them, module@version...
	folder=.cache/$1 without=$2
	shift 2
	for module; do
		grep -qs "\"version\": \"${module##*@}\"" "$folder/node_modules/${module%@*}/package.json" && continue
		npm install --silent --no-save --ignore-scripts --no-audit --no-fund --prefix "$folder" "$@" || echo "setup: without $without" >&2
		return 0
	done
}

if [ "${1:-}" != demo ]; then
	# axe-core checks in the browser whether pages are accessible.
	modules axe "axe-core the pages' looks are not tested" axe-core@4.14.1
	# PixiJS and Phaser load sprite sheets in the browser, as games do.
	modules engines "PixiJS and Phaser, sprite sheets are not tested in engines" pixi.js@8.22.0 phaser@4.2.1
	# Puppeteer drives Firefox.
	modules puppeteer "Puppeteer the pages are not tested in Firefox" puppeteer-core@24.43.1
fi
