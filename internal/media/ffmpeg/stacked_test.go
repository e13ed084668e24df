package ffmpeg_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// A stacked MP4 has the colours above the matte, and its frames keep their times.
func TestStacked(t *testing.T) {
	t.Parallel()
	const w, h, count = 66, 62, 5
	for name, opaque := range map[string]bool{"alpha": false, "opaque": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out.mp4")
			at := func(i int) time.Duration { return time.Duration(i*i) * 100 * time.Millisecond }
			sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.Stacked, Width: w, Height: h, Opaque: opaque, Quality: 100, End: at(count), Timescale: 10000})
			if err != nil {
				t.Fatal(err)
			}
			var want []uint8
			for i := range count {
				img := rainbow(w, h, i)
				want = append(want, img.Pix...)
				if err := sink.Write(t.Context(), &media.Frame{Image: img, PTS: at(i), Duration: at(i+1) - at(i)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			text := output(t, []string{tools(t).FFprobe, "-v", "error", "-show_entries",
				"stream=codec_name,width,height,pix_fmt,color_range,color_space,color_transfer,color_primaries,duration", "-of", "csv=p=0", "FILE"}, path)
			if want := "h264,66,124,yuv420p,tv,bt709,bt709,bt709,2.500000"; strings.TrimSpace(text) != want {
				t.Errorf("the stream is %s, want %s", text, want)
			}
			times := output(t, []string{tools(t).FFprobe, "-v", "error", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", "FILE"}, path)
			if want := "0.000000,0.100000 0.100000,0.300000 0.400000,0.500000 0.900000,0.700000 1.600000,0.900000"; strings.Join(strings.Fields(times), " ") != want {
				t.Errorf("the frames are at %s, want %s", times, want)
			}
			got, err := exec.CommandContext(t.Context(), tools(t).FFmpeg, "-v", "error", "-i", path, "-fps_mode", "passthrough",
				"-sws_flags", "accurate_rnd+full_chroma_int", "-f", "rawvideo", "-pix_fmt", "rgb24", "-").Output()
			if err != nil {
				t.Fatal(err)
			}
			compareHalves(t, got, want, w, h, opaque)
		})
	}
}

// compareHalves wants both halves of rgb near the straight rgba.
func compareHalves(t *testing.T, rgb, rgba []uint8, w, h int, opaque bool) {
	t.Helper()
	if len(rgb)*4 != len(rgba)*6 {
		t.Fatalf("%d bytes, want %d", len(rgb), len(rgba)*6/4)
	}
	difference := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
	var colour, matte int
	for i := range len(rgba) / 4 {
		frame, pixel := i/(w*h), i%(w*h)
		above := 3 * (2*frame*w*h + pixel)
		below := above + 3*w*h
		alpha := rgba[4*i+3]
		if opaque {
			alpha = 255
		}
		for c := range 3 {
			colour += difference(rgb[above+c], rgba[4*i+c])
			matte += difference(rgb[below+c], alpha)
		}
	}
	n := float64(len(rgba) * 3 / 4)
	t.Logf("colours differ by %.2f on the mean, the matte by %.2f", float64(colour)/n, float64(matte)/n)
	if float64(colour)/n > 3 || float64(matte)/n > 1.5 {
		t.Error("too much")
	}
}
