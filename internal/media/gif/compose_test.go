package gif_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"os"
	"path/filepath"
	"testing"
)

// compose decodes with the standard library and draws the frames as browsers
// do. It returns the visible picture of each frame, and the decoded file.
func compose(tb testing.TB, file []byte) ([]*image.NRGBA, *gif.GIF) {
	tb.Helper()
	g, err := gif.DecodeAll(bytes.NewReader(file))
	if err != nil {
		tb.Fatal(err)
	}
	canvas := image.NewNRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	var out []*image.NRGBA
	for i, p := range g.Image {
		if !p.Rect.In(canvas.Rect) {
			tb.Fatalf("frame %d: %v is outside the canvas", i, p.Rect)
		}
		for y := p.Rect.Min.Y; y < p.Rect.Max.Y; y++ {
			for x := p.Rect.Min.X; x < p.Rect.Max.X; x++ {
				if c := p.At(x, y).(color.RGBA); c.A != 0 {
					canvas.SetNRGBA(x, y, color.NRGBA(c))
				}
			}
		}
		shown := image.NewNRGBA(canvas.Rect)
		copy(shown.Pix, canvas.Pix)
		out = append(out, shown)
		if g.Disposal[i] == gif.DisposalBackground {
			for y := p.Rect.Min.Y; y < p.Rect.Max.Y; y++ {
				clear(canvas.Pix[canvas.PixOffset(p.Rect.Min.X, y):canvas.PixOffset(p.Rect.Max.X, y)])
			}
		}
	}
	return out, g
}

// composeTool composes the file with a program, one PNG per frame.
func composeTool(tb testing.TB, dir, name string, args ...string) []*image.NRGBA {
	tb.Helper()
	run(tb, name, args...)
	files, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		tb.Fatal(err)
	}
	var out []*image.NRGBA
	for _, file := range files {
		out = append(out, readPNG(tb, file))
	}
	return out
}

// sameFrames compares the composed frames with the intended ones. They must be
// transparent exactly where these have alpha below 128, with colours that
// differ by at most tolerance in each channel.
func sameFrames(tb testing.TB, got, want []*image.NRGBA, tolerance int) {
	tb.Helper()
	if len(got) != len(want) {
		tb.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for f := range want {
		w := want[f].Rect.Dx()
		for i := 0; i < len(want[f].Pix); i += 4 {
			a, b := want[f].Pix[i:i+4], got[f].Pix[i:i+4]
			if (a[3] >= 128) != (b[3] >= 128) {
				tb.Fatalf("frame %d at %d,%d: alpha %d, want %d", f, i/4%w, i/4/w, b[3], a[3])
			}
			if a[3] < 128 {
				continue
			}
			for k := range 3 {
				if d := int(a[k]) - int(b[k]); d > tolerance || -d > tolerance {
					tb.Fatalf("frame %d at %d,%d: %v, want %v", f, i/4%w, i/4/w, b, a)
				}
			}
		}
	}
}

func writeFile(tb testing.TB, data []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "x.gif")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}
