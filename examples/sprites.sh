#!/bin/sh
# Makes sprites of every clip in a folder: 128×128, standing on the ground,
# lossless, and of a GIF without the idle frames at both ends.
# Usage: examples/sprites.sh CLIPS SPRITES
set -eu
clips=$1 sprites=$2
mkdir -p "$sprites"

for clip in "$clips"/*.gif "$clips"/*.mp4 "$clips"/*.mov "$clips"/*.webm; do
	[ -e "$clip" ] || continue
	name=$(basename "${clip%.*}") trim=
	case $clip in *.gif) trim=--trim ;; esac
	bgremove remove "$clip" -o "$sprites/$name.apng" \
		--canvas-w 128 --canvas-h 128 --anchor bottom --pad 0 $trim --force
done
