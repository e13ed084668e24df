package yuv

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"
)

var codings = map[string]Coding{
	"BT.601": {BT601, false}, "BT.709": {BT709, false}, "BT.601 full": {BT601, true}, "BT.709 full": {BT709, true},
}

var hd = Coding{Matrix: BT709}

func noise(n int) []uint8 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]uint8, n)
	for i := range b {
		b[i] = uint8(r.UintN(256))
	}
	return b
}

// pale is a picture of colours that RGB can hold.
func pale(d *Decoder) []uint8 {
	p := noise(d.Bytes())
	for i, v := range p {
		if i < d.layout.Width*d.layout.Height {
			p[i] = 100 + v/4
		} else {
			p[i] = 112 + v/8
		}
	}
	return p
}

func picture(w, h int, pix []uint8) *image.NRGBA {
	return &image.NRGBA{Pix: pix, Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
}

// exact is a colour according to the recommendations' formulas.
func exact(c Coding, y, cb, cr float64) [3]float64 {
	red, blue := c.Matrix.weights()
	black, luma, colour := c.scale()
	l, b, r := (y-float64(black))/luma, (cb-128)/colour, (cr-128)/colour
	R, B := l+2*(1-red)*r, l+2*(1-blue)*b
	return [3]float64{R, (l - red*R - blue*B) / (1 - red - blue), B}
}

// Every colour has the formulas' nearest value, or nearly.
func TestDecodeIsTheFormula(t *testing.T) {
	t.Parallel()
	for name, c := range codings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const w, h = 256, 2
			d := NewDecoder(c, w, h)
			src, dst := make([]uint8, d.Bytes()), image.NewNRGBA(image.Rect(0, 0, w, h))
			off, worst := 0, 0.0
			const step = 5
			for cb := 0; cb < 256; cb += step {
				for cr := 0; cr < 256; cr += step {
					y, u, v, _ := d.layout.planes(src)
					for i := range y {
						y[i] = uint8(i)
					}
					for i := range u {
						u[i], v[i] = uint8(cb), uint8(cr)
					}
					d.Decode(dst, src)
					for x := range w {
						p := dst.Pix[4*x:]
						for i, want := range exact(c, float64(x), float64(cb), float64(cr)) {
							want = min(max(want, 0), 255)
							if worst = max(worst, math.Abs(float64(p[i])-want)); math.Round(want) != float64(p[i]) {
								off++
							}
						}
						if p[3] != 255 {
							t.Fatal("not opaque")
						}
					}
				}
			}
			all := 3 * w * ((255/step + 1) * (255/step + 1))
			if worst > 0.56 || off > all/20 {
				t.Errorf("off by up to %.3f, %d of %d not the nearest", worst, off, all)
			}
		})
	}
}

// Every luma and colour difference of a flat picture has the formulas' nearest
// value, or nearly, and alpha is unchanged.
func TestEncodeIsTheFormula(t *testing.T) {
	t.Parallel()
	for name, c := range codings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			red, blue := c.Matrix.weights()
			black, luma, colour := c.scale()
			e := NewEncoder(c, Layout{16, 2, true})
			dst, src := make([]uint8, e.Bytes()), image.NewNRGBA(image.Rect(0, 0, 16, 2))
			worst := 0.0
			for i := range 1 << 12 {
				p := color.NRGBA{uint8(i >> 8 * 17), uint8(i >> 4 & 15 * 17), uint8(i & 15 * 17), uint8(i)}
				for x := range 16 {
					src.SetNRGBA(x, 0, p)
					src.SetNRGBA(x, 1, p)
				}
				e.Encode(dst, src)
				y, cb, cr, a := e.layout.planes(dst)
				r, g, b := float64(p.R), float64(p.G), float64(p.B)
				l := red*r + (1-red-blue)*g + blue*b
				want := [3]float64{float64(black) + luma*l, 128 + colour*(b-l)/2/(1-blue), 128 + colour*(r-l)/2/(1-red)}
				for i, got := range [3]uint8{y[3], cb[1], cr[1]} {
					worst = max(worst, math.Abs(float64(got)-want[i]))
				}
				if a[31] != p.A {
					t.Fatalf("alpha %d, want %d", a[31], p.A)
				}
			}
			if worst > 0.51 {
				t.Errorf("off by up to %.3f", worst)
			}
		})
	}
}

// The lower half of a stacked picture is its alpha in grey: black for none, white for
// full, and white everywhere without alpha.
func TestStackedMatte(t *testing.T) {
	t.Parallel()
	const w, h = 34, 6 // not whole blocks
	pix := noise(4 * w * h)
	for i := range 100 {
		pix[4*i+3] = uint8(i / 50 * 255)
	}
	for _, alpha := range []bool{true, false} {
		e := NewStackedEncoder(hd, Layout{w, h, alpha})
		got := noise(e.Bytes())
		e.Encode(got, picture(w, h, pix))
		y, cb, cr, _ := Layout{w, 2 * h, false}.planes(got)
		for i, v := range y[w*h:] {
			want := 235
			if alpha {
				want = int(math.Round(16 + 219*float64(pix[4*i+3])/255))
			}
			if int(v) != want {
				t.Fatalf("with alpha %v, pixel %d of the matte is %d, want %d", alpha, i, v, want)
			}
		}
		grey := bytes.Repeat([]uint8{Grey}, w*h/4)
		if !bytes.Equal(cb[w*h/4:], grey) || !bytes.Equal(cr[w*h/4:], grey) {
			t.Errorf("with alpha %v the matte has colour", alpha)
		}
	}
}

// A colour difference is the mean of its four pixels.
func TestEncodeAverages(t *testing.T) {
	t.Parallel()
	e := NewEncoder(hd, Layout{2, 2, false})
	mixed, flat := make([]uint8, e.Bytes()), make([]uint8, e.Bytes())
	e.Encode(mixed, picture(2, 2, []uint8{200, 40, 0, 9, 100, 60, 20, 9, 60, 100, 40, 9, 40, 200, 60, 9}))
	e.Encode(flat, picture(2, 2, bytes.Repeat([]uint8{100, 100, 30, 9}, 4)))
	if _, b, r, _ := e.layout.planes(mixed); b[0] != flat[4] || r[0] != flat[5] {
		t.Errorf("differences %d and %d, want %d and %d", b[0], r[0], flat[4], flat[5])
	}
}

// Colours that RGB can hold are unchanged after a round trip, except for
// rounding.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, c := range codings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const w, h = 70, 31
			d, e := NewDecoder(c, w, h), NewEncoder(c, Layout{w, h, false})
			src, back := pale(d), make([]uint8, e.Bytes())
			img := image.NewNRGBA(image.Rect(0, 0, w, h))
			d.Decode(img, src)
			e.Encode(back, img)
			changed := 0
			for i := range src {
				if diff := int(src[i]) - int(back[i]); diff != 0 {
					changed++
					if diff*diff > 1 {
						t.Fatalf("sample %d is %d, was %d", i, back[i], src[i])
					}
				}
			}
			if changed > len(src)/50 {
				t.Errorf("%d of %d samples are off by one", changed, len(src))
			}
		})
	}
}

// Rows processed in blocks equal the others, and nothing is written beyond
// them.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for w := 1; w < 70; w++ {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			t.Parallel()
			half := (w + 1) / 2
			d, e := NewDecoder(hd, w, 1), NewEncoder(hd, Layout{w, 1, true})
			y, c := noise(w), noise(2*half)
			got, want := make([]uint8, 4*w+4), make([]uint8, 4*w+4)
			d.k.row(got[:4*w], y, c[:half], c[half:])
			for x := 0; x < w; x += 2 {
				n := min(2, w-x)
				d.k.row(want[4*x:][:4*n], y[x:][:n], c[x/2:][:1], c[half+x/2:][:1])
			}
			if !bytes.Equal(got, want) {
				t.Errorf("decoded %v\nwant %v", got, want)
			}
			upper, lower := noise(4*w), noise(4*w + 1)[1:]
			rows, one := make([]uint8, 2*w+2*half+1), make([]uint8, 2*w+2*half+1)
			e.k.lumaRow(rows[:w], upper)
			alphaRow(rows[w:][:w], upper)
			e.k.colourRow(rows[2*w:][:half], rows[2*w+half:][:half], upper, lower)
			for x := range w {
				e.k.lumaRow(one[x:][:1], upper[4*x:][:4])
				alphaRow(one[w+x:][:1], upper[4*x:][:4])
			}
			for x := 0; x < w; x += 2 {
				n := 4 * min(2, w-x)
				e.k.colourRow(one[2*w+x/2:][:1], one[2*w+half+x/2:][:1], upper[4*x:][:n], lower[4*x:][:n])
			}
			if !bytes.Equal(rows, one) {
				t.Errorf("encoded %v\nwant %v", rows, one)
			}
		})
	}
}

const benchWidth, benchHeight = 1920, 1080

func BenchmarkDecode(b *testing.B) {
	d := NewDecoder(hd, benchWidth, benchHeight)
	src, dst := pale(d), image.NewNRGBA(image.Rect(0, 0, benchWidth, benchHeight))
	for b.Loop() {
		d.Decode(dst, src)
	}
}

func BenchmarkStacked(b *testing.B) {
	e := NewStackedEncoder(hd, Layout{benchWidth, benchHeight, true})
	dst, src := make([]uint8, e.Bytes()), image.NewNRGBA(image.Rect(0, 0, benchWidth, benchHeight))
	for b.Loop() {
		e.Encode(dst, src)
	}
}

func BenchmarkEncode(b *testing.B) {
	e := NewEncoder(hd, Layout{benchWidth, benchHeight, true})
	dst, src := make([]uint8, e.Bytes()), picture(benchWidth, benchHeight, noise(4*benchWidth*benchHeight))
	for b.Loop() {
		e.Encode(dst, src)
	}
}
