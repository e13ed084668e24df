package inspect_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/apng"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/media/inspect"
)

// write writes three frames of 12×8 pixels, which are shown for 50, 20 and 300 ms.
func write(t *testing.T, name string, open func(f *os.File) (media.Sink, error)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := open(f)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Duration(0)
	for i, shown := range []time.Duration{50, 20, 300} {
		img := image.NewNRGBA(image.Rect(0, 0, 12, 8))
		img.Pix[4*i], img.Pix[4*i+3] = 200, 255
		shown *= time.Millisecond
		if err := s.Write(t.Context(), &media.Frame{Image: img, PTS: at, Duration: shown, Delay: shown}); err != nil {
			t.Fatal(err)
		}
		at += shown
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// still is a PNG that is no animation.
func still(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 3, 3))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp is an animated WebP without pictures: 300×200, two frames of 40 and 8 ms.
func webp() []byte {
	b := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x12\x00\x00\x00\x2b\x01\x00\xc7\x00\x00ANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	for _, ms := range []byte{40, 8} {
		b = append(b, "ANMF\x11\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
		b = append(b, ms, 0, 0, 0, 'x', 0) // an odd chunk has a byte more
	}
	b[4] = byte(len(b) - 8)
	return b
}

func save(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The facts of each format are those of what was written.
func TestFile(t *testing.T) {
	t.Parallel()
	all := 370 * time.Millisecond
	for name, test := range map[string]struct {
		path string
		want inspect.Facts
	}{
		"gif": {write(t, "a.gif", func(f *os.File) (media.Sink, error) { return gif.NewWriter(f, 12, 8, gif.WriterOptions{}) }),
			inspect.Facts{Container: media.GIF, Size: image.Pt(12, 8), Frames: 3, Duration: all}},
		"apng": {write(t, "a.png", func(f *os.File) (media.Sink, error) { return apng.NewWriter(f, 12, 8, apng.Options{}) }),
			inspect.Facts{Container: media.PNG, Size: image.Pt(12, 8), Frames: 3, Duration: all, Shortest: 20 * time.Millisecond}},
		"png": {save(t, still(t)),
			inspect.Facts{Container: media.PNG, Size: image.Pt(3, 3), Frames: 1}},
		"still webp": {save(t, []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x02\x40\x00\x00\x07\x10\x11\x11\x88\x88\xfe\x07\x00")),
			inspect.Facts{Container: media.WebP, Size: image.Pt(3, 2), Frames: 1}},
		"webp": {save(t, webp()),
			inspect.Facts{Container: media.WebP, Size: image.Pt(300, 200), Frames: 2, Duration: 48 * time.Millisecond, Shortest: 8 * time.Millisecond}},
	} {
		got, err := inspect.File(test.path)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// A file that lacks its end, and anything else, are errors.
func TestDamaged(t *testing.T) {
	t.Parallel()
	animated, err := os.ReadFile(write(t, "a.png", func(f *os.File) (media.Sink, error) { return apng.NewWriter(f, 12, 8, apng.Options{}) }))
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range [][]byte{animated, webp()} {
		for n := range len(whole) {
			if _, err := inspect.File(save(t, whole[:n])); err == nil {
				t.Errorf("%d of %d bytes are a file", n, len(whole))
			}
		}
	}
	for _, data := range [][]byte{nil, []byte("GIF89a"), []byte("text"), still(t)[:60], webp()[:12]} {
		if f, err := inspect.File(save(t, data)); err == nil {
			t.Errorf("%q is %+v", data, f)
		}
	}
	if _, err := inspect.File(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("a file that is not there was read")
	}
}
