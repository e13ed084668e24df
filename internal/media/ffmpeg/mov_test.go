package ffmpeg_test

import (
	"image"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// A MOV is ProRes 4444 as editors know it. Its pixels are near, and its frames keep their
// times.
func TestMOV(t *testing.T) {
	t.Parallel()
	const w, h, count = 65, 63, 5
	for name, opaque := range map[string]bool{"alpha": false, "opaque": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out.mov")
			at := func(i int) time.Duration { return time.Duration(i*i) * 100 * time.Millisecond }
			sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.MOV, Width: w, Height: h, Opaque: opaque, End: at(count), Timescale: 10000})
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
			checkStream(t, path, opaque)
			got, err := exec.CommandContext(t.Context(), tools(t).FFmpeg, "-v", "error", "-i", path, "-fps_mode", "passthrough",
				"-sws_flags", "accurate_rnd+full_chroma_int", "-f", "rawvideo", "-pix_fmt", "rgba", "-").Output()
			if err != nil {
				t.Fatal(err)
			}
			comparePixels(t, got, want, opaque)
		})
	}
}

// rainbow has soft colours, and alpha from none to full.
func rainbow(w, h, n int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			p := img.Pix[img.PixOffset(x, y):]
			p[0], p[1], p[2], p[3] = uint8(3*x+10*n), uint8(4*y), uint8(255-3*x), uint8(min(255, max(0, 9*(x+y)-400)))
		}
	}
	return img
}

func checkStream(t *testing.T, path string, opaque bool) {
	t.Helper()
	text := output(t, []string{tools(t).FFprobe, "-v", "error", "-show_entries",
		"stream=codec_name,profile,codec_tag_string,pix_fmt,color_range,color_space,color_transfer,color_primaries,duration", "-of", "csv=p=0", "FILE"}, path)
	format := "yuva444p12le" // as the decoder gives it
	if opaque {
		format = "yuv444p12le"
	}
	if want := "prores,4444,ap4h," + format + ",tv,bt709,bt709,bt709,2.500000"; strings.TrimSpace(text) != want {
		t.Errorf("the stream is %s, want %s", text, want)
	}
	times := output(t, []string{tools(t).FFprobe, "-v", "error", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", "FILE"}, path)
	if want := "0.000000,0.100000 0.100000,0.300000 0.400000,0.500000 0.900000,0.700000 1.600000,0.900000"; strings.Join(strings.Fields(times), " ") != want {
		t.Errorf("the frames are at %s, want %s", times, want)
	}
}

// comparePixels wants each component within 1, as ffmpeg rounds 10 bits, and none and
// full alpha exact.
func comparePixels(t *testing.T, got, want []uint8, opaque bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d bytes, want %d", len(got), len(want))
	}
	var sum, worst, alpha int
	for i := range want {
		d := max(int(got[i])-int(want[i]), int(want[i])-int(got[i]))
		switch {
		case i%4 != 3:
			sum, worst = sum+d, max(worst, d)
		case opaque:
			alpha = max(alpha, 255-int(got[i]))
		case want[i] == 0 || want[i] == 255:
			alpha = max(alpha, 2*d) // these are exact
		default:
			alpha = max(alpha, d)
		}
	}
	mean := float64(sum) / float64(len(want)*3/4)
	t.Logf("colours differ by %.2f on the mean, by %d at most; alpha by %d", mean, worst, alpha)
	if worst > 1 || alpha > 1 {
		t.Error("too much")
	}
}
