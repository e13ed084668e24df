#!/bin/sh
# Makes the pictures of docs/cookbook.md. Each shows what the commands of its recipe make of the
# clips in testdata. The argument is the program.
set -eu
program=$(realpath "$1")
cd "$(dirname "$0")/.."
root=$PWD
out=$root/docs/images/cookbook
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir -p "$out" "$work/bin"
ln -s "$program" "$work/bin/bgremove"
PATH=$work/bin:$PATH
cd "$work"

ff() { ffmpeg -nostdin -v error -y "$@"; }

# recipe runs the commands below a heading that the page marks as run.
recipe() { # heading
	awk -v heading="### $1" '/^#/ && !show { on = $0 == heading } /^```$/ { run = show = 0 } show; on && /^<!-- run -->$/ { run = 1 } run && /^```sh$/ { show = 1 }' \
		"$root/docs/cookbook.md" >commands.sh
	test -s commands.sh || { echo "cookbook.sh: docs/cookbook.md has no recipe \"$1\" with commands" >&2; exit 1; }
	sh -eu commands.sh
}

# write encodes a picture of inputs and a graph of filters, and its first frame for readers who
# want no motion.
write() { # name, arguments of ffmpeg...
	name=$1
	shift
	ff "$@" -r 12 -t 2 -c:v libwebp_anim -quality 60 -compression_level 6 -loop 0 "$out/$name.webp"
	ff "$@" -frames:v 1 -c:v libwebp -quality 80 "$out/$name-still.webp"
}

# chequered is a source of squares in tones that both black and white stand out from.
chequered() { # size
	echo "color=gray:s=$1:r=12,format=gray,geq=lum='if(mod(floor(X/16)+floor(Y/16),2),150,176)'"
}

# Inputs. The owl of the sample clip hops alone; the backdrop of the studio is drawn.
ff -i "$root/testdata/demo/hop.mp4" -vf crop=144:240:40:30 clip.mp4
ff -i clip.mp4 -vf 'fps=8,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none' -t 1 walk.gif
ff -i "$root/testdata/demo/hop.mp4" -vf scale=240:-2 street.mp4
bgremove remove "$root/testdata/real/head.mp4" --crop=false --bg 'gradient:#2fb457,#178a3c' -o green.mp4
ff -f lavfi -i color=0xf6f3ea:s=480x270:r=24:d=2 -vf "drawbox=36:32:210:22:0x1c4f8f:fill,drawbox=36:92:280:20:0x3fb58f:fill,\
drawbox=36:130:190:20:0xf2bd62:fill,drawbox=36:168:240:20:0xc4231b:fill" slides.mp4
ff -f lavfi -i color=0xbfe3f2:s=480x270:r=24:d=2 -f lavfi -i color=0x9fd6d8:s=170x5:r=24:d=2 -filter_complex \
	"[0]drawbox=0:120:480:150:0x2a8f9d:fill[sea];[1]split[a][b];[sea][a]overlay=40*t:150[c];[c][b]overlay=300-30*t:178,\
drawbox=0:206:480:64:0xf2d9a0:fill,boxblur=2" beach.mp4

# squares puts a clip next to its result, in the middle of squares of transparency.
squares() { # picture, clip, size, arguments of ffmpeg for the result...
	picture=$1 clip=$2 size=$3
	shift 3
	write "$picture" -i "$clip" "$@" -f lavfi -i "$(chequered "$size")" -filter_complex '[2][1]overlay=(W-w)/2:(H-h)/2:shortest=1[e];[0][e]hstack'
}

recipe 'An emote for Discord'
squares emote clip.mp4 144x240 -ignore_loop 1 -i emote.gif
recipe 'A sticker with a white line around it'
write sticker -i clip.mp4 -c:v libvpx-vp9 -i sticker.webm -f lavfi -i "$(chequered 240x240)" \
	-filter_complex '[1]scale=240:240[s];[2][s]overlay=shortest=1[e];[0][e]hstack'
recipe 'As large as a mail allows'
squares mail clip.mp4 144x240 -ignore_loop 1 -i small.gif
recipe 'A still of the best moment'
squares still clip.mp4 200x240 -framerate 12 -loop 1 -i cover.png

recipe 'A sprite that stands on the ground'
write ground -f lavfi -i 'color=0xbfe3f2:s=400x160:r=12,drawbox=0:140:400:20:0x7a9a4f:fill' -stream_loop -1 -i walk.apng \
	-filter_complex "[1]split[a][b];[0][a]overlay=60*t-40:140-h[c];[c][b]overlay=200+60*t:140-h"

# The sheet with the frame that plays marked in it, and that frame beside it.
recipe 'A sheet for Phaser or PixiJS'
size=$(jq -r '.frames[0].sourceSize | "\(.w)x\(.h)"' phaser.json)
jq -r '.frames[] | [.frame.x, .frame.y, .frame.w, .frame.h, .spriteSourceSize.x, .spriteSourceSize.y] | @tsv' phaser.json |
	while read -r x y w h left top; do
		n=$((${n:-0} + 1))
		convert phaser.png -fill none -stroke '#c4231b' -strokewidth 3 -draw "rectangle $x,$y $((x + w - 1)),$((y + h - 1))" "sheet$n.png"
		convert -size "$size" xc:none \( phaser.png -crop "${w}x$h+$x+$y" +repage \) -geometry "+$left+$top" -composite "frame$n.png"
	done
side=$(identify -format %h phaser.png)
write sheet -framerate 8 -i sheet%d.png -framerate 8 -i frame%d.png -f lavfi -i "$(chequered "$(identify -format %w phaser.png)x$side")" -f lavfi -i "$(chequered "160x$side")" \
	-filter_complex '[2][0]overlay=shortest=1[a];[3][1]overlay=(W-w)/2:(H-h)/2:shortest=1[b];[a][b]hstack,scale=-2:240'

# The grid, and beside it each of its cells in turn.
recipe 'A grid for Godot or Unity'
w=$(jq '[.frames[]][0].frame.w' grid.json) h=$(jq '[.frames[]][0].frame.h' grid.json)
columns=$(jq '[.frames[].frame.x] | unique | length' grid.json) n=$(jq '.frames | length' grid.json)
write grid -framerate 8 -loop 1 -i grid.png -f lavfi -i "$(chequered "$(identify -format %wx%h grid.png)")" -filter_complex \
	"[1][0]overlay=shortest=1,split[a][b];[b]crop=$w:$h:mod(n\\,$columns)*$w:floor(mod(n\\,$n)/$columns)*$h[c];[a]scale=-2:240[d];[c]scale=-2:240[e];[d][e]hstack"

# beside puts a clip and its result next to each other.
beside() { # picture, clip, result
	write "$1" -i "$2" -i "$3" -filter_complex '[0]scale=-2:180[a];[1]scale=-2:180[b];[a][b]hstack'
}
recipe 'A green screen becomes white'
beside green green.mp4 white.mp4
bgremove remove "$root/testdata/real/head.mp4" --crop=false --bg '#2fb457' --shadow=60,20,16,60 -o shadowed.mp4
ff -i shadowed.mp4 -vf crop=480:270:54:28 green.mp4 # the shadow made the picture larger
recipe 'A green screen goes to the editor, with its shadows'
write shadow -i green.mp4 -i green.mov -f lavfi -i "$(chequered 320x180)" \
	-filter_complex '[0]scale=320:180[a];[1]scale=320:180[s];[2][s]overlay=shortest=1[b];[a][b]hstack'

recipe 'Premiere or DaVinci Resolve'
write editor -i clip.mp4 -i clip.mov -i beach.mp4 -filter_complex '[2]crop=144:240:170:30[b];[b][1]overlay=shortest=1[e];[0][e]hstack'
recipe 'Frames for compositing, with their matte'
write frames -framerate 24 -i frames/f%04d.png -framerate 24 -i mattes/f%04d.png -f lavfi -i "$(chequered 144x240)" \
	-filter_complex '[2][0]overlay=shortest=1[a];[a][1]hstack'
recipe 'OBS'
write overlay -f lavfi -i 'life=s=106x60:r=12:ratio=0.12:seed=2:mold=12:life_color=0x8fd0c0:death_color=0x1c4f6f:mold_color=0x12303f,scale=424:240:flags=neighbor' \
	-c:v libvpx-vp9 -i overlay.webm -filter_complex '[0][1]overlay=W-w-8:H-h-8:shortest=1'

cp "$root/testdata/real/milk.mov" talk.mp4
recipe 'A blurred room, as in calls'
beside blur talk.mp4 blurred.mp4
cp "$root/testdata/real/head.mp4" talk.mp4
recipe 'A video as background'
beside behind talk.mp4 beach-talk.mp4
ff -i "$root/testdata/real/head.mp4" -vf scale=300:-2 talk.mp4
recipe 'A talking head on slides'
write slides -i lecture.mp4

mkdir -p turn
ff -i clip.mp4 -vf fps=12 -t 2 turn/f%04d.jpg
recipe 'A product on a turn-table'
convert turn.webp -coalesce turn%04d.png
write turn -framerate 12 -i turn/f%04d.jpg -framerate 12 -i turn%04d.png -filter_complex '[0]scale=-2:240[a];[1]scale=-2:240[b];[a][b]hstack'

recipe 'A page for all browsers'
write page -f lavfi -i 'color=white:s=424x240:r=12,drawbox=0:0:424:34:0x1c4f6f:fill,drawbox=24:64:170:16:0x333333:fill,drawbox=24:96:150:7:0xbbbbbb:fill,drawbox=24:112:160:7:0xbbbbbb:fill,drawbox=24:128:130:7:0xbbbbbb:fill,drawbox=24:156:84:26:0x3fb58f:fill' \
	-c:v libvpx-vp9 -i hero.webm -filter_complex '[0][1]overlay=W-w-24:H-h-20:shortest=1'
write stacked -i clip-nobg-stacked.mp4 -filter_complex scale=-2:300

# clicked puts three animals with a mark for half a second next to what a click leaves.
clicked() { # picture, x and y of the mark's corner, result
	write "$1" -i street.mp4 -c:v libvpx-vp9 -i "$4" -f lavfi -i "$(chequered 240x136)" -filter_complex \
		"[0]drawbox=$2:$3:13:13:0xffffff:fill:enable=lt(t\\,0.5),drawbox=$(($2 + 2)):$(($3 + 2)):9:9:0xc4231b:fill:enable=lt(t\\,0.5)[a];[2][1]overlay=(W-w)/2:(H-h)/2:shortest=1[b];[a][b]hstack"
}
recipe 'One of two people, by a click'
clicked click 49 84 street.webm
recipe 'All but that lamp'
clicked drop 179 54 tidy.webm
