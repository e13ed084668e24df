package apng_test

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/bgremove/bgremove/internal/media/apng"
)

// A still that is written in pieces is read back as it was, by another reader.
func TestStill(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []image.Point{{1, 1}, {7, 1}, {1, 9}, {301, 207}} {
		want := chaos(size.X, size.Y, 1, r)[0]
		for _, filtered := range []bool{false, true} {
			var file bytes.Buffer
			s, err := apng.NewStill(&file, size.X, size.Y, filtered)
			if err != nil {
				t.Fatal(err)
			}
			for y := 0; y < size.Y; {
				n := min(1+r.IntN(50), size.Y-y)
				if err := s.WriteRows(want.Pix[y*want.Stride : (y+n)*want.Stride]); err != nil {
					t.Fatal(err)
				}
				y += n
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			img, err := png.Decode(&file)
			if err != nil {
				t.Fatal(err)
			}
			got := image.NewNRGBA(img.Bounds())
			draw.Draw(got, got.Rect, img, image.Point{}, draw.Src)
			if straight, ok := img.(*image.NRGBA); ok {
				got = straight
			}
			if !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%v, filtered %t: it differs", size, filtered)
			}
		}
	}
}

func TestStillRefuses(t *testing.T) {
	t.Parallel()
	if _, err := apng.NewStill(new(bytes.Buffer), 0, 5, true); err == nil {
		t.Error("a picture without a column")
	}
	s, err := apng.NewStill(new(bytes.Buffer), 2, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	if s.WriteRows(make([]byte, 7)) == nil || s.WriteRows(make([]byte, 3*8)) == nil {
		t.Error("it takes half a row, or a row too many")
	}
	if s.Close() == nil {
		t.Error("it is complete without its rows")
	}
}
