package reduce_test

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/reduce"
)

// draw makes a picture of w × h with f's values, 0..255, and alpha that must
// not matter.
func draw(w, h int, f func(x, y, c int) float64) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		for c := range 3 {
			img.Pix[4*i+c] = uint8(f(i%w, i/w, c) + 0.5)
		}
		img.Pix[4*i+3] = uint8(i)
	}
	return img
}

func noise(int, int, int) float64 { return 255 * rand.Float64() }

// scaled is img at w × h, in the middle of a larger picture that must not
// change.
func scaled(t *testing.T, img *image.NRGBA, w, h int) *image.NRGBA {
	t.Helper()
	all := draw(w+5, h+3, noise)
	before := slices.Clone(all.Pix)
	inner := image.Rect(2, 1, w+2, h+1)
	dst := all.SubImage(inner).(*image.NRGBA)
	reduce.New(img.Rect.Size(), dst.Rect.Size()).Draw(dst, img)
	for i, v := range all.Pix {
		inside := image.Pt(i/4%(w+5), i/4/(w+5)).In(inner)
		if !inside && v != before[i] || inside && i%4 == 3 && v != 255 {
			t.Fatalf("byte %d is %d", i, v)
		}
	}
	return dst
}

// compare wants every channel of got within tol of want.
func compare(t *testing.T, got *image.NRGBA, tol float64, want func(x, y, c int) float64) {
	t.Helper()
	for y := range got.Rect.Dy() {
		for x := range got.Rect.Dx() {
			for c := range 3 {
				g, w := float64(got.Pix[y*got.Stride+4*x+c]), want(x, y, c)
				if math.Abs(g-w) > tol {
					t.Fatalf("%v: channel %d of (%d, %d) is %g, want %.2f", got.Rect, c, x, y, g, w)
				}
			}
		}
	}
}

// area is the exact mean of what pixel x, y of dw × dh stands for.
func area(img *image.NRGBA, dw, dh, x, y, c int) float64 {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	sum := 0
	share := func(s, n, i, m int) int { return min((s+1)*m, (i+1)*n) - max(s*m, i*n) }
	for v := y * h / dh; v*dh < (y+1)*h; v++ {
		for u := x * w / dw; u*dw < (x+1)*w; u++ {
			sum += share(u, w, x, dw) * share(v, h, y, dh) * int(img.Pix[img.PixOffset(u, v)+c])
		}
	}
	return float64(sum) / float64(w*h)
}

// TestMean: down to a third, pixels are the means of their areas.
func TestMean(t *testing.T) {
	t.Parallel()
	for _, s := range [][4]int{
		{64, 64, 64, 64}, {101, 67, 40, 32}, {33, 17, 32, 16}, {640, 360, 320, 320}, {7, 5, 7, 2}, {17, 9, 6, 9}, {2, 2, 1, 1}, {1, 1, 1, 1},
	} {
		img := draw(s[0], s[1], noise)
		compare(t, scaled(t, img, s[2], s[3]), 2, func(x, y, c int) float64 { return area(img, s[2], s[3], x, y, c) })
	}
}

// TestSmooth: where rows are left out and columns paired, what is smooth still
// comes out at its place, within a tenth of a pixel of what is drawn.
func TestSmooth(t *testing.T) {
	t.Parallel()
	for _, s := range [][4]int{
		{1920, 1080, 320, 320}, {3840, 2160, 320, 320}, {3840, 2160, 1024, 1024}, {1919, 1079, 320, 180}, {300, 301, 50, 51}, {203, 97, 33, 15},
	} {
		img := draw(s[0], s[1], func(x, y, c int) float64 {
			u, v := (float64(x)+0.5)/float64(s[0]), (float64(y)+0.5)/float64(s[1])
			return [3]float64{255 * u, 255 * v, 127.5 * (u + 1 - v)}[c]
		})
		compare(t, scaled(t, img, s[2], s[3]), 1+25.5/float64(min(s[2], s[3])), func(x, y, c int) float64 { return area(img, s[2], s[3], x, y, c) })
	}
}

// TestFlat: flat colours come out as they went in, at any size.
func TestFlat(t *testing.T) {
	t.Parallel()
	colour := func(_, _, c int) float64 { return [3]float64{255, 17, 0}[c] }
	for _, from := range [][2]int{{123, 77}, {1, 9}, {8, 1}, {1001, 33}} {
		for _, to := range [][2]int{{1, 1}, {40, 30}, {123, 77}, {60, 76}, {200, 3}} {
			compare(t, scaled(t, draw(from[0], from[1], colour), to[0], to[1]), 0, colour)
		}
	}
}

func TestEnlargingIsBilinear(t *testing.T) {
	t.Parallel()
	img := draw(2, 1, func(x, _, c int) float64 { return [2][3]float64{{0, 100, 200}, {200, 100, 0}}[x][c] })
	compare(t, scaled(t, img, 4, 1), 0, func(x, _, c int) float64 {
		return [4][3]float64{{0, 100, 200}, {50, 100, 150}, {150, 100, 50}, {200, 100, 0}}[x][c]
	})
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	img := draw(300, 200, noise)
	s := reduce.New(img.Rect.Size(), image.Pt(50, 40))
	want := scaled(t, img, 50, 40)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got := image.NewNRGBA(image.Rect(0, 0, 50, 40))
			s.Draw(got, img)
			compare(t, got, 0, func(x, y, c int) float64 { return float64(want.Pix[y*want.Stride+4*x+c]) })
		})
	}
	wg.Wait()
}

// FuzzSizes: any sizes work.
func FuzzSizes(f *testing.F) {
	f.Add(uint16(1920), uint8(9), uint8(1), uint16(320))
	f.Add(uint16(7), uint8(200), uint8(33), uint16(1))
	f.Fuzz(func(t *testing.T, w uint16, h, dw uint8, dh uint16) {
		if w == 0 || h == 0 || dw == 0 || dh == 0 || w > 4000 || dh > 4000 {
			t.Skip()
		}
		colour := func(_, _, c int) float64 { return [3]float64{0, 99, 255}[c] }
		compare(t, scaled(t, draw(int(w), int(h), colour), int(dw), int(dh)), 0, colour)
	})
}

func BenchmarkDraw(b *testing.B) {
	for _, size := range [][2]int{{320, 320}, {640, 360}, {1920, 1080}, {3840, 2160}} {
		for _, side := range []int{320, 1024} {
			b.Run(fmt.Sprintf("%dp/%d", size[1], side), func(b *testing.B) {
				img := draw(size[0], size[1], noise)
				dst := image.NewNRGBA(image.Rect(0, 0, side, side))
				s := reduce.New(img.Rect.Size(), dst.Rect.Size())
				b.ReportAllocs()
				for b.Loop() {
					s.Draw(dst, img)
				}
			})
		}
	}
}
