package bgremove_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// inParts does a clip in parts, each step with a Remover of its own, as on machines of
// their own.
func inParts(t *testing.T, input, output string, o bgremove.Options, length time.Duration) (*bgremove.Result, int) {
	t.Helper()
	dir := t.TempDir()
	with := func(f func(r *bgremove.Remover) error) {
		t.Helper()
		r := bgremove.New(bgremove.Config{TempDir: dir, Library: os.Getenv("BGREMOVE_ONNXRUNTIME")})
		if err := f(r); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var parts []bgremove.Part
	with(func(r *bgremove.Remover) (err error) {
		parts, err = r.Split(t.Context(), input, o, length)
		return err
	})
	file := func(kind string, i int) string { return filepath.Join(dir, fmt.Sprintf("%s %d", kind, i)) }
	var box bgremove.Box
	for i, p := range slices.Backward(parts) {
		with(func(r *bgremove.Remover) error {
			b, err := r.MattePart(t.Context(), input, file("mattes", i), o, p, nil)
			box = box.Around(b)
			return err
		})
	}
	rendered := make([]bgremove.RenderedPart, len(parts))
	for i, p := range slices.Backward(parts) {
		with(func(r *bgremove.Remover) error {
			part, err := r.RenderPart(t.Context(), input, file("mattes", i), file("video", i), o, p, box)
			if err != nil {
				return err
			}
			text, err := json.Marshal(part)
			if err != nil {
				return err
			}
			rendered[i].Path = part.Path
			return json.Unmarshal(text, &rendered[i])
		})
	}
	var result *bgremove.Result
	with(func(r *bgremove.Remover) (err error) {
		result, err = r.JoinParts(t.Context(), input, output, o, rendered)
		return err
	})
	return result, len(parts)
}

// A clip that is done in parts is the one that is done at once: its frames, their times,
// its size and place, its sound, and nearly its transparency.
func TestParts(t *testing.T) {
	t.Parallel()
	if os.Getenv("BGREMOVE_ONNXRUNTIME") == "" {
		t.Skip("BGREMOVE_ONNXRUNTIME does not name ONNX Runtime's shared library")
	}
	clip := generate(t, "long.mp4", "-stream_loop", "1", "-i", "../../testdata/real/head.mp4", "-f", "lavfi", "-i", "sine", "-map", "0:v", "-map", "1:a", "-t", "3", "-c:a", "aac")
	for name, change := range map[string]func(*bgremove.Options){
		"webm": func(o *bgremove.Options) { o.Format = bgremove.WebM },
		"stacked": func(o *bgremove.Options) {
			// The end cuts a frame. A faint hair may end a pixel higher.
			o.Format, o.Start, o.End = bgremove.Stacked, 250*time.Millisecond, 2700*time.Millisecond
			o.Crop = false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, dir := bgremove.Defaults(), t.TempDir()
			o.Method = bgremove.Rembg
			change(&o)
			whole, joined := filepath.Join(dir, "whole."+o.Format.Extension()), filepath.Join(dir, "joined."+o.Format.Extension())
			at := bgremove.New(bgremove.Config{Library: os.Getenv("BGREMOVE_ONNXRUNTIME")})
			defer at.Close()
			want, err := at.Remove(t.Context(), clip, whole, o, bgremove.Extras{})
			if err != nil {
				t.Fatal(err)
			}
			got, n := inParts(t, clip, joined, o, time.Second)
			if n != 3 {
				t.Errorf("%d parts", n)
			}
			type facts struct {
				Frames, Width, Height int
				Duration, Start       float64
				Model                 string
			}
			of := func(r *bgremove.Result) facts {
				return facts{r.Frames, r.Width, r.Height, r.Duration, r.Placement.Start, r.Model}
			}
			if diff := cmp.Diff(of(want), of(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(timeStamps(t, whole), timeStamps(t, joined)); diff != "" {
				t.Error(diff)
			}
			if a, b := len(samples(t, whole)), len(samples(t, joined)); a == 0 || max(a-b, b-a) > 4096 {
				t.Errorf("%d bytes of sound, want %d", b, a)
			}
			a, b := mattes(t, whole, o.Format), mattes(t, joined, o.Format)
			if len(a) != len(b) || len(a) != want.Frames*want.Width*want.Height {
				t.Fatalf("%d bytes of mattes, want %d", len(b), len(a))
			}
			sum := 0.0
			for i, v := range a {
				sum += math.Abs(float64(v) - float64(b[i]))
			}
			difference := sum / 255 / float64(len(a))
			t.Logf("the mattes differ by %.5f", difference)
			if difference > 0.005 {
				t.Error("that is too much")
			}
		})
	}
}

// mattes are the alpha of a video, or all of the lightness where it is stacked.
func mattes(t *testing.T, path string, f bgremove.Format) []byte {
	t.Helper()
	args := []string{"-v", "error"}
	filter := "format=gray"
	if f == bgremove.WebM {
		args, filter = append(args, "-c:v", "libvpx-vp9"), "alphaextract"
	}
	out, err := exec.CommandContext(t.Context(), "ffmpeg", append(args, "-i", path, "-fps_mode", "passthrough", "-vf", filter, "-pix_fmt", "gray", "-f", "rawvideo", "-")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// samples is a video's sound.
func samples(t *testing.T, path string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", path, "-vn", "-f", "s16le", "-ac", "1", "-ar", "8000", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What cannot be done in parts is not split.
func TestSplitsNot(t *testing.T) {
	t.Parallel()
	clip := generate(t, "flat.mp4", "-f", "lavfi", "-i", "color=white:size=64x48:rate=10:duration=3,format=yuv420p")
	for name, change := range map[string]func(*bgremove.Options){
		"short":  func(o *bgremove.Options) { o.Format, o.End = bgremove.WebM, time.Second },
		"gif":    func(o *bgremove.Options) { o.Format = bgremove.GIF },
		"fast":   func(o *bgremove.Options) { o.Format = bgremove.WebM },
		"rate":   func(o *bgremove.Options) { o.Format, o.FPS = bgremove.WebM, 5 },
		"behind": func(o *bgremove.Options) { o.Format, o.Background = bgremove.MP4, "blur" },
	} {
		o := bgremove.Defaults()
		change(&o)
		parts, err := bgremove.New(bgremove.Config{}).Split(t.Context(), clip, o, time.Second)
		if err != nil || parts != nil {
			t.Errorf("%s: %v, %v", name, parts, err)
		}
	}
}
