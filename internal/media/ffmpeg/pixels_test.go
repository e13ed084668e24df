package ffmpeg_test

import (
	"fmt"
	"image"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// bars are large flat colours, where all filters of colour differences give the
// same result.
const bars = "smptehdbars=size=%s:rate=10:duration=0.2"

// Clips become the same pictures as in ffmpeg, whatever their pixels and
// whichever program converts them.
func TestColours(t *testing.T) {
	t.Parallel()
	const limited, full = "scale=out_color_matrix=%s:out_range=tv,format=yuv420p", "scale=out_color_matrix=%s:out_range=pc,format=yuvj420p"
	tagged := func(matrix string) []string {
		return []string{"-vf", fmt.Sprintf(limited, matrix), "-colorspace", matrix}
	}
	tests := map[string]struct {
		name, size string
		args       []string
		matrix     string // given to ffmpeg; "" is the stream's own
	}{
		"BT.709":           {"a.mp4", "320x180", tagged("bt709"), ""},
		"BT.601":           {"a.mp4", "320x180", tagged("smpte170m"), ""},
		"SMPTE 240M":       {"a.mp4", "320x180", tagged("smpte240m"), ""},
		"small, no tags":   {"a.mp4", "320x180", []string{"-pix_fmt", "yuv420p"}, "bt601"},
		"large, no tags":   {"a.mp4", "1280x720", []string{"-vf", fmt.Sprintf(limited, "bt709")}, "bt709"},
		"full range":       {"a.mp4", "320x180", []string{"-vf", fmt.Sprintf(full, "bt601")}, "bt601"},
		"full, tagged":     {"a.mp4", "320x180", []string{"-vf", fmt.Sprintf(full, "bt709"), "-colorspace", "bt709"}, ""},
		"full, large":      {"a.mp4", "1280x720", []string{"-vf", fmt.Sprintf(full, "bt709")}, "bt709"},
		"full, VP9":        {"a.webm", "320x180", []string{"-vf", "scale=out_color_matrix=bt709:out_range=pc,format=yuv420p", "-c:v", "libvpx-vp9", "-colorspace", "bt709", "-color_range", "pc"}, ""},
		"4:2:2":            {"a.mp4", "320x180", []string{"-pix_fmt", "yuv422p"}, "bt601"},
		"4:4:4":            {"a.mp4", "320x180", []string{"-pix_fmt", "yuv444p"}, "bt601"},
		"10 bits":          {"a.mp4", "320x180", []string{"-pix_fmt", "yuv420p10le"}, "bt601"},
		"RGB":              {"a.mov", "320x180", []string{"-c:v", "png", "-pix_fmt", "rgb24"}, ""},
		"odd size":         {"a.webm", "321x181", []string{"-c:v", "libvpx-vp9", "-pix_fmt", "yuv420p"}, "bt601"},
		"wide pixels":      {"a.mp4", "160x180", []string{"-vf", "format=yuv420p,setsar=2"}, "bt601"},
		"wide, full range": {"a.mp4", "160x180", []string{"-vf", fmt.Sprintf(full, "bt601") + ",setsar=2"}, "bt601"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := generate(t, tt.name, append([]string{"-f", "lavfi", "-i", fmt.Sprintf(bars, tt.size)}, tt.args...)...)
			asFFmpeg(t, path, tt.matrix, 2)
		})
	}
}

// asFFmpeg compares the last frame of a clip with ffmpeg's.
func asFFmpeg(t *testing.T, path, matrix string, count int) {
	t.Helper()
	all := frames(t, probe(t, path), media.ReadOptions{})
	if len(all) != count {
		t.Fatalf("%d frames, want %d", len(all), count)
	}
	got := all[count-1].Image
	scale := fmt.Sprintf("scale=%d:%d:flags=bicubic+accurate_rnd+full_chroma_int", got.Rect.Dx(), got.Rect.Dy())
	if matrix != "" {
		scale += ":in_color_matrix=" + matrix
	}
	want, err := exec.CommandContext(t.Context(), tools(t).FFmpeg, "-v", "error", "-i", path, "-vf", scale+",format=rgba",
		"-f", "rawvideo", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != count*len(got.Pix) {
		t.Fatalf("ffmpeg made %d bytes, want %d times %d", len(want), count, len(got.Pix))
	}
	if off := meanDifference(got.Pix, want[len(want)-len(got.Pix):]); off > 2 {
		t.Errorf("channels differ by %.2f from ffmpeg's on the mean", off)
	}
}

// A clip whose frames change size or range in the middle keeps its colours.
func TestColoursThatChange(t *testing.T) {
	t.Parallel()
	encode := func(size, colourRange string) string {
		return generate(t, "part.webm", "-f", "lavfi", "-i", fmt.Sprintf(bars, size), "-vf", "scale=out_color_matrix=bt709:out_range="+colourRange+",format=yuv420p",
			"-c:v", "libvpx-vp9", "-colorspace", "bt709", "-color_range", colourRange)
	}
	tests := map[string][2]string{
		"size, full range": {encode("320x180", "pc"), encode("160x90", "pc")},
		"full to limited":  {encode("320x180", "pc"), encode("320x180", "tv")},
		"limited to full":  {encode("320x180", "tv"), encode("320x180", "pc")},
	}
	for name, parts := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := filepath.Join(t.TempDir(), "list")
			if err := os.WriteFile(list, []byte("file '"+parts[0]+"'\nfile '"+parts[1]+"'\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			asFFmpeg(t, generate(t, "whole.webm", "-f", "concat", "-safe", "0", "-i", list, "-c", "copy"), "", 4)
		})
	}
}

func meanDifference(a, b []uint8) float64 {
	sum := 0.0
	for i := range a {
		sum += math.Abs(float64(a[i]) - float64(b[i]))
	}
	return sum / float64(len(a))
}

// Pictures of odd sizes keep all of their pixels in encoding.
func TestSinkOddSize(t *testing.T) {
	t.Parallel()
	const w, h = 37, 23
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(60 + 3*(i/4%w)) // grey, brighter to the right
		if i%4 == 3 {
			img.Pix[i] = uint8(255 * (i / 4 / w % 2))
		}
	}
	path := filepath.Join(t.TempDir(), "out.webm")
	sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: w, Height: h, End: time.Second, Quality: 100})
	if err != nil {
		t.Fatal(err)
	}
	want := append([]uint8(nil), img.Pix...)
	if err := sink.Write(t.Context(), &media.Frame{Image: img, Duration: time.Second}); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	got := frames(t, probe(t, path), media.ReadOptions{})[0].Image
	if got.Rect != image.Rect(0, 0, w, h) {
		t.Fatalf("picture of %v", got.Rect)
	}
	if off := meanDifference(got.Pix, want); off > 3 {
		t.Errorf("channels are off by %.2f on the mean", off)
	}
}

// A clip without changes keeps its brightness and its colours.
func TestUntouched(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=10:duration=0.5", "-colorspace", "bt709", "-qp", "1",
		"-vf", "eq=contrast=0.5,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p") // pale, so that RGB can hold it
	out := filepath.Join(t.TempDir(), "out.mp4")
	clip := probe(t, in)
	sink, err := tools(t).NewSink(t.Context(), out, ffmpeg.SinkOptions{Format: ffmpeg.MP4, Width: 320, Height: 180, Opaque: true,
		End: clip.Info().Duration, Quality: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames(t, clip, media.ReadOptions{}) {
		if err := sink.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	samples := func(path string) []uint8 {
		raw, err := exec.CommandContext(t.Context(), tools(t).FFmpeg, "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-").Output()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	a, b := samples(in), samples(out)
	if len(a) != len(b) {
		t.Fatalf("%d bytes of samples, want %d", len(b), len(a))
	}
	brighter := 0.0
	for i := range a {
		brighter += float64(b[i]) - float64(a[i])
	}
	if bias := brighter / float64(len(a)); math.Abs(bias) > 0.3 {
		t.Errorf("samples are %.2f higher on the mean", bias)
	}
	if off := meanDifference(a, b); off > 1 {
		t.Errorf("samples are off by %.2f on the mean", off)
	}
}
