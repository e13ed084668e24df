#!/bin/sh
# Makes the picture of the README: two clips of people beside themselves on another
# backdrop. The argument is the program.
set -eu
program=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
for clip in milk.mov head.mp4; do
	"$program" remove "testdata/real/$clip" -o "$work/$clip.mp4" --crop=false --no-audio --bg 'gradient:#3fb58f,#1c4f8f'
done
part='fps=12,scale=-2:240:flags=lanczos,crop=240:240'
# picture encodes the clips and their results side by side.
picture() { # arguments of ffmpeg...
	ffmpeg -nostdin -v error -y -i testdata/real/milk.mov -i "$work/milk.mov.mp4" -i testdata/real/head.mp4 -i "$work/head.mp4.mp4" \
		-filter_complex "[0]$part[a];[1]$part[b];[2]$part[c];[3]$part[d];[a][b][c][d]hstack=4" "$@"
}
picture -t 1.65 -c:v libwebp_anim -quality 80 -compression_level 6 -loop 0 docs/images/people.webp
picture -frames:v 1 -c:v libwebp -quality 80 docs/images/people-still.webp # for readers who want no motion
