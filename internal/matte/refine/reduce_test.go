package refine_test

import (
	"image"
	"math"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/refine"
)

// TestReduceIsTheMean compares every pixel with the exact mean of its area.
func TestReduceIsTheMean(t *testing.T) {
	t.Parallel()
	for _, s := range [][4]int{{64, 36, 16, 9}, {101, 67, 32, 32}, {37, 300, 5, 2}, {120, 9, 1, 1}, {5, 4, 5, 4}, {3, 3, 8, 7}, {1, 1, 1, 1}} {
		img := texture(s[0], s[1], noise)
		for i := 3; i < len(img.Pix); i += 4 {
			img.Pix[i] = uint8(i * 7)
		}
		dst := image.NewNRGBA(image.Rect(0, 0, s[2], s[3]))
		refine.Reduce(dst, img)
		for i, v := range dst.Pix {
			want := areaMean(img, s[2], s[3], i/4%s[2], i/4/s[2], i%4)
			if math.Abs(float64(v)-want) > 2 {
				t.Fatalf("%v: byte %d is %d, want %.2f", s, i, v, want)
			}
		}
	}
}

func areaMean(img *image.NRGBA, dw, dh, x, y, channel int) float64 {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	sum := 0
	share := func(s, n, i, m int) int { return min((s+1)*m, (i+1)*n) - max(s*m, i*n) }
	for v := y * h / dh; v*dh < (y+1)*h; v++ {
		for u := x * w / dw; u*dw < (x+1)*w; u++ {
			sum += share(u, w, x, dw) * share(v, h, y, dh) * int(img.Pix[4*(v*w+u)+channel])
		}
	}
	return float64(sum) / float64(w*h)
}

// TestReduceFlat: flat colours come out as they went in.
func TestReduceFlat(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 123, 77))
	for i := range img.Pix {
		img.Pix[i] = [4]uint8{255, 17, 0, 0}[i%4]
	}
	for _, s := range [][2]int{{1, 1}, {40, 30}, {123, 77}, {60, 76}} {
		dst := image.NewNRGBA(image.Rect(0, 0, s[0], s[1]))
		refine.Reduce(dst, img)
		for i, v := range dst.Pix {
			if v != img.Pix[i%4] {
				t.Fatalf("%v: byte %d is %d, want %d", s, i, v, img.Pix[i%4])
			}
		}
	}
}
