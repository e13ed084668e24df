package bgremove_test

import (
	"errors"
	"image"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// firstFrame removes a background and returns the preview, which is one of the output's frames.
func firstFrame(t *testing.T, in, out string, o bgremove.Options) *image.NRGBA {
	t.Helper()
	var shown *image.NRGBA
	r := bgremove.New(bgremove.Config{})
	defer r.Close()
	if _, err := r.Remove(t.Context(), in, out, o, bgremove.Extras{Preview: func(_, after *image.NRGBA) { shown = after }}); err != nil {
		t.Fatal(err)
	}
	return shown
}

// A picture covers the output, also where no frame reaches, and makes it opaque.
func TestPictureBehind(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.gif", movingSquare("-t", "0.3")...)
	for _, name := range []string{"picture.png", "picture.jpg", "picture.webp"} {
		picture := generate(t, name, "-f", "lavfi", "-i", "color=0x0000ff:s=64x64", "-frames:v", "1")
		o := bgremove.Options{Method: bgremove.Fast, Crop: true, Pad: 50, Background: picture, Format: bgremove.APNG, CanvasW: 100, CanvasH: 300}
		img := firstFrame(t, in, filepath.Join(t.TempDir(), "out.png"), o)
		for i := 3; i < len(img.Pix); i += 4 {
			if img.Pix[i] != 255 {
				t.Fatalf("%s: the output is not opaque", name)
			}
		}
		for _, at := range []image.Point{{0, 0}, {99, 0}, {0, 299}, {50, 299}} {
			if got := img.NRGBAAt(at.X, at.Y); !alike(got, color.NRGBA{0, 0, 255, 255}) {
				t.Errorf("%s: %v is %v", name, at, got)
			}
		}
	}
}

// alike allows for codecs that lose a little.
func alike(a, b color.NRGBA) bool {
	d := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return max(d(a.R, b.R), d(a.G, b.G), d(a.B, b.B), d(a.A, b.A)) <= 6
}

// What cannot be read is refused before work begins: there is no file at the output's
// place, and none beside it.
func TestUnreadableBehind(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.gif", movingSquare("-t", "0.3")...)
	large := generate(t, "large.png", "-f", "lavfi", "-i", "color=red:s=300x10", "-frames:v", "1")
	whole, err := os.ReadFile(generate(t, "small.png", "-f", "lavfi", "-i", "testsrc=s=64x64", "-frames:v", "1"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		path  string
		kind  bgremove.Kind
		cause bgremove.Cause
	}{
		"missing":   {filepath.Join(dir, "none.png"), bgremove.NotFound, ""},
		"text":      {write("text.png", []byte("text")), bgremove.Unreadable, bgremove.NotPicture},
		"truncated": {write("half.png", whole[:len(whole)/2]), bgremove.Unreadable, bgremove.InputDamaged},
		"folder":    {dir + "/.", bgremove.Unreadable, bgremove.InputNotFile},
		"too large": {large, bgremove.TooLarge, bgremove.OverLimits},
	} {
		out := filepath.Join(t.TempDir(), "out.gif")
		r := bgremove.New(bgremove.Config{Limits: bgremove.Limits{MaxSide: 256}})
		o := bgremove.Options{Method: bgremove.Fast, Background: c.path}
		_, err := r.Remove(t.Context(), in, out, o, bgremove.Extras{})
		e := (*bgremove.Error)(nil)
		if !errors.As(err, &e) || e.Kind != c.kind || e.Cause != c.cause || e.Path != c.path || !strings.HasPrefix(e.Error(), c.path+": ") {
			t.Errorf("%s: %v", name, err)
		}
		if checked := r.CheckBackground(t.Context(), o); checked == nil || checked.Error() != err.Error() {
			t.Errorf("%s: CheckBackground says %v", name, checked)
		}
		if left, _ := os.ReadDir(filepath.Dir(out)); len(left) > 0 {
			t.Errorf("%s: %s is left", name, left[0].Name())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A clip behind the subject runs in the output's time and loops: each frame shows what
// the clip shows then, whatever the rates of both.
func TestClipBehind(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.gif", movingSquare("-t", "1")...)
	// 0.2 s red, 0.2 s blue.
	for _, name := range []string{"behind.gif", "behind.mp4", "behind.webm", "behind.mov"} {
		clip := generate(t, name, "-f", "lavfi", "-i", "color=red:s=64x64:r=10:d=0.2", "-f", "lavfi", "-i", "color=blue:s=64x64:r=10:d=0.2",
			"-filter_complex", "[0][1]concat=n=2")
		out := filepath.Join(t.TempDir(), "out.gif")
		o := bgremove.Options{Method: bgremove.Fast, Background: clip, Start: 100e6}
		result := remove(t, in, out, o)
		frames := gifFrames(t, out)
		for i, f := range frames {
			blue := f.PTS%(400*time.Millisecond) >= 200*time.Millisecond
			if got := f.Image.NRGBAAt(0, 0); got.A != 255 || max(got.R, got.B) < 220 || min(got.R, got.B) > 30 || blue != (got.B > got.R) {
				t.Errorf("%s: frame %d at %s is on %v, blue: %t", name, i, f.PTS, got, blue)
			}
		}
		if last := frames[len(frames)-1].PTS; last < 600*time.Millisecond || len(frames) != result.Frames {
			t.Errorf("%s: %d frames, until %s", name, len(frames), last)
		}
	}
}

// gifFrames reads all frames of a GIF.
func gifFrames(t *testing.T, path string) (frames []*media.Frame) {
	t.Helper()
	clip, err := gif.Probe(path, media.Limits{MaxSide: 4096, MaxArea: 1 << 24, MaxFrames: 1000, MaxPixels: 1 << 32})
	if err != nil {
		t.Fatal(err)
	}
	src, err := clip.Open(t.Context(), media.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for {
		f, err := src.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, f)
	}
}
