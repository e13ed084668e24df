#!/bin/sh
# Turns the sample clip into a transparent GIF, and draws the clip before and
# after, side by side. Usage: examples/demo.sh [FOLDER]; `make demo` calls it.
set -eu
cd "$(dirname "$0")/.."
out=${1:-dist/demo}
mkdir -p "$out"

bin/bgremove remove testdata/demo/hop.mp4 -o "$out/hop.gif" --compare "$out/before-after.png" --force
bin/bgremove probe "$out/hop.gif"

echo
echo "the transparent animation:  $out/hop.gif"
echo "before and after:           $out/before-after.png"
