package bgremove_test

import (
	"errors"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			if got := img.NRGBAAt(at.X, at.Y); !close(got, color.NRGBA{0, 0, 255, 255}) {
				t.Errorf("%s: %v is %v", name, at, got)
			}
		}
	}
}

// close allows for codecs that lose a little.
func close(a, b color.NRGBA) bool {
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
		r.Close()
	}
}
