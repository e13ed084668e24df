package gif_test

import (
	"bytes"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
)

// fuzzLimits bounds memory and time of one input.
var fuzzLimits = media.Limits{MaxSide: 512, MaxFrames: 64, MaxPixels: 1 << 20}

func seed(f *testing.F) {
	for _, name := range suiteNames(f) {
		f.Add(suiteFile(f, name+".gif"))
	}
	f.Add([]byte(header2x1 + dot + previous + dotRight + background + dot + trailer))
	f.Add(synthetic(f, 4, 9, 5))
}

// FuzzReader reads any bytes and checks the Reader's limits.
func FuzzReader(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, _, _ := readAll(bytes.NewReader(data), fuzzLimits)
		if len(frames) > fuzzLimits.MaxFrames {
			t.Errorf("%d frames", len(frames))
		}
		pixels := 0
		for _, frame := range frames {
			size := frame.Image.Rect.Size()
			if size != frames[0].Image.Rect.Size() || max(size.X, size.Y) > fuzzLimits.MaxSide || len(frame.Image.Pix) != 4*size.X*size.Y {
				t.Errorf("frame of %v with %d bytes", size, len(frame.Image.Pix))
			}
			pixels += size.X * size.Y
		}
		if int64(pixels) > fuzzLimits.MaxPixels {
			t.Errorf("%d pixels", pixels)
		}
	})
}

// FuzzScan compares Scan with a Reader on the same bytes.
func FuzzScan(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data, fuzzLimits) })
}
