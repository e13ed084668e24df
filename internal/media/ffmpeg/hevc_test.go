package ffmpeg_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// standIn is an ffmpeg that encodes by x265 what macOS's encoder is asked for, without alpha.
const standIn = `#!/bin/bash
args=()
while [ $# -gt 0 ]; do
  case $1 in
  hevc_videotoolbox) args+=(libx265) ;;
  bgra) args+=(yuv420p) ;;
  -alpha_quality | -allow_sw | -q:v) shift ;;
  *) args+=("$1") ;;
  esac
  shift
done
exec FFMPEG "${args[@]}"
`

// HEVC is in a MOV with the tag that Safari plays, and its frames keep their times.
func TestHEVCFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, path := filepath.Join(dir, "ffmpeg"), filepath.Join(dir, "out.mov")
	text := strings.Replace(standIn, "FFMPEG", tools(t).FFmpeg, 1)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	encoder, err := ffmpeg.Locate(script, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) time.Duration { return time.Duration(i*i) * 100 * time.Millisecond }
	o := ffmpeg.SinkOptions{Format: ffmpeg.HEVC, Width: 66, Height: 62, End: at(4), Timescale: 10000}
	sink, err := encoder.NewSink(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if err := sink.Write(t.Context(), &media.Frame{Image: rainbow(66, 62, i), PTS: at(i), Duration: at(i+1) - at(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	stream := output(t, []string{tools(t).FFprobe, "-v", "error", "-show_entries", "stream=codec_name,codec_tag_string,width,height,duration", "-of", "csv=p=0", "FILE"}, path)
	if want := "hevc,hvc1,66,62,1.600000"; strings.TrimSpace(stream) != want {
		t.Errorf("the stream is %s, want %s", stream, want)
	}
	times := output(t, []string{tools(t).FFprobe, "-v", "error", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", "FILE"}, path)
	if want := "0.000000,0.100000 0.100000,0.300000 0.400000,0.500000 0.900000,0.700000"; strings.Join(strings.Fields(times), " ") != want {
		t.Errorf("the frames are at %s, want %s", times, want)
	}
	joined := filepath.Join(dir, "joined.mov")
	if err := encoder.Concat(t.Context(), joined, []ffmpeg.Piece{{Path: path, Duration: at(4)}}, o); err != nil {
		t.Fatal(err)
	}
	if whole, joined := indexFirst(t, path), indexFirst(t, joined); !whole || !joined {
		t.Errorf("the index comes first in the file: %t, in one joined of it: %t", whole, joined)
	}
}

// The encoder is asked for alpha, unless nothing is transparent.
func TestHEVCArguments(t *testing.T) {
	t.Parallel()
	for opaque, want := range map[bool][]string{false: {"-alpha_quality 0.60", "-pix_fmt bgra"}, true: {"-pix_fmt nv12"}} {
		args := strings.Join(ffmpeg.EncodeArgs("out.mov", ffmpeg.SinkOptions{Format: ffmpeg.HEVC, Opaque: opaque, Quality: 60}), " ")
		for _, part := range append(slices.Clone(want), "-c:v "+ffmpeg.AppleHEVC, "-q:v 60", "-tag:v hvc1") {
			if !strings.Contains(args, part) {
				t.Errorf("opaque %t: no %q in %s", opaque, part, args)
			}
		}
		if opaque && strings.Contains(args, "alpha") {
			t.Errorf("alpha of an opaque video: %s", args)
		}
	}
}
