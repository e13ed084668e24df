#!/bin/sh
# Installs the tools and parts for the release archives: a C compiler for all
# systems, ONNX Runtime's library for each system that has one, man pages and
# completions. It is quick if they already exist.
set -eu
cd "$(dirname "$0")/.."

if [ ! -x .cache/zig/bin/python3 ] || ! cmp -s tools/zig.txt .cache/zig/zig.txt; then
	python3 -m venv --clear .cache/zig
	.cache/zig/bin/pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r tools/zig.txt
	cp tools/zig.txt .cache/zig/
fi

for system in linux_amd64 linux_arm64 windows_amd64 windows_arm64 darwin_arm64; do
	go run ./cmd/bgremove setup --quiet --platform "${system%_*}/${system#*_}" --dir ".cache/libraries/$system"
done

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) go run ./tools/manual .cache/manual
