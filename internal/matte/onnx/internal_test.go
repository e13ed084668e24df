package onnx

import (
	"bytes"
	"image"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func TestToHalf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v    float32
		want uint16
	}{
		{0, 0}, {1, 0x3c00}, {-2, 0xc000}, {65504, 0x7bff}, {65519, 0x7bff}, {65520, 0x7c00}, {1e9, 0x7c00},
		{1.0 / 3, 0x3555}, {6.103515625e-05, 0x0400}, {6.097555e-05, 0x03ff}, {5.9604645e-08, 1}, {2.9e-08, 0},
		{1 + 1.0/2048, 0x3c00}, {1 + 3.0/2048, 0x3c02}, // ties to even
		{float32(math.Inf(-1)), 0xfc00}, {float32(math.NaN()), 0x7e00},
	} {
		if got := toHalf(tt.v); got != tt.want {
			t.Errorf("toHalf(%g) = %#04x, want %#04x", tt.v, got, tt.want)
		}
	}
}

func TestTapsCoverTheSource(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 7, 64, 360, 1080, 4096} {
		for _, m := range []int{1, 2, 5, 64, 320, 1024} {
			cover := make([]float64, n)
			tp := newTaps(n, m)
			for i, start := range tp.start {
				sum := 0
				for j, w := range tp.weight[i*tp.count:][:tp.count] {
					sum += int(w)
					cover[start+j] += float64(w)
				}
				if sum != 256 {
					t.Fatalf("%d to %d: weights of %d add up to %d", n, m, i, sum)
				}
			}
			for i, c := range cover {
				if want := 256 * float64(m) / float64(n); n >= m && math.Abs(c-want) > 2 {
					t.Fatalf("%d to %d: sample %d counts %g, want %g", n, m, i, c, want)
				}
			}
		}
	}
}

// TestScale compares with a plain area average in floating point.
func TestScale(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, tt := range [][4]int{{64, 64, 64, 64}, {101, 67, 32, 24}, {1920, 1080, 320, 320}, {33, 17, 32, 16}, {1, 1, 4, 4}} {
		img := image.NewNRGBA(image.Rect(0, 0, tt[0], tt[1]))
		for i := range img.Pix {
			img.Pix[i] = uint8(r.Uint32())
		}
		got := newScaler(tt[0], tt[1], tt[2], tt[3], image.Rect(0, 0, tt[2], tt[3])).draw(img)
		for y := range tt[3] {
			for x := range tt[2] {
				want := average(img, x, y, tt[2], tt[3])
				for c := range 3 {
					if g := float64(got.pix[3*(y*tt[2]+x)+c]); math.Abs(g-want[c]) > 2 {
						t.Fatalf("%v: (%d, %d) channel %d is %g, want %g", tt, x, y, c, g, want[c])
					}
				}
			}
		}
	}
}

func average(img *image.NRGBA, x, y, w, h int) (mean [3]float64) {
	sx, sy := float64(img.Rect.Dx())/float64(w), float64(img.Rect.Dy())/float64(h)
	overlap := func(i, j int, s float64) float64 {
		return max(0, min(float64(i+1), float64(j+1)*s)-max(float64(i), float64(j)*s))
	}
	for v := int(float64(y) * sy); v < img.Rect.Dy() && float64(v) < float64(y+1)*sy; v++ {
		for u := int(float64(x) * sx); u < img.Rect.Dx() && float64(u) < float64(x+1)*sx; u++ {
			k := overlap(v, y, sy) * overlap(u, x, sx) / sx / sy
			for c := range mean {
				mean[c] += k * float64(img.Pix[img.PixOffset(u, v)+c])
			}
		}
	}
	return mean
}

func TestEnlargingIsBilinear(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	copy(img.Pix, []uint8{0, 100, 200, 255, 200, 100, 0, 255})
	got := newScaler(2, 1, 4, 1, image.Rect(0, 0, 4, 1)).draw(img)
	if want := []uint8{0, 100, 200, 50, 100, 150, 150, 100, 50, 200, 100, 0}; !bytes.Equal(got.pix, want) {
		t.Errorf("got %v, want %v", got.pix, want)
	}
}

func TestLetterboxIsBlack(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 8, 4))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	got := newScaler(8, 4, 4, 4, image.Rect(0, 1, 4, 3)).draw(img)
	for i, v := range got.pix {
		if inside := i/12 == 1 || i/12 == 2; inside != (v == 255) || !inside && v != 0 {
			t.Fatalf("row %d has %d", i/12, v)
		}
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cores, threads, sessions int
		heavy                    bool
		want                     [2]int
	}{
		{1, 0, 0, false, [2]int{1, 1}},
		{1, 0, 0, true, [2]int{1, 1}},
		{2, 0, 0, false, [2]int{1, 2}},
		{2, 0, 0, true, [2]int{2, 1}},
		{4, 0, 0, false, [2]int{1, 4}},
		{16, 0, 0, false, [2]int{4, 4}},
		{16, 0, 0, true, [2]int{8, 2}},
		{64, 0, 0, false, [2]int{8, 4}},
		{2, 3, 0, false, [2]int{3, 1}},
		{2, 0, 5, true, [2]int{1, 5}},
		{16, 4, 2, false, [2]int{4, 2}},
	} {
		a, b := share(tt.cores, tt.threads, tt.sessions, tt.heavy)
		if got := [2]int{a, b}; got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

func FuzzParseModel(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/onnx/*.onnx")
	if err != nil || len(files) == 0 {
		f.Fatal(err, files)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 4096 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := readGraph(Config{ModelData: append([]byte{}, b...)})
		if err != nil {
			return
		}
		if k, err := newContract(Config{}, g); err == nil {
			for _, size := range [][2]int{{1, 1}, {1920, 1080}, {3, 4000}} {
				w, h, r := k.fit(size[0], size[1])
				if w <= 0 || h <= 0 || r.Empty() || !r.In(image.Rect(0, 0, w, h)) {
					t.Errorf("%v goes to %v of %d×%d", size, r, w, h)
				}
			}
		}
	})
}
