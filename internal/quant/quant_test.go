package quant_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/quant"
)

func pack(c quant.RGB) uint32 { return uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 }

// cloud draws n pixels around a few centres.
func cloud(seed uint64, n int) []uint8 {
	rng := rand.New(rand.NewPCG(seed, 1))
	centres := [][3]float64{{40, 30, 25}, {200, 150, 130}, {90, 120, 200}, {20, 90, 40}}
	var pix []uint8
	for range n {
		c := centres[rng.IntN(len(centres))]
		for _, v := range c {
			pix = append(pix, uint8(min(max(v+14*rng.NormFloat64(), 0), 255)))
		}
		pix = append(pix, 255)
	}
	return pix
}

// loss is the mean squared error of the best entry, found by trying all.
func loss(pix []uint8, pal []quant.RGB) float64 {
	sum := 0
	for i := 0; i < len(pix); i += 4 {
		best := math.MaxInt
		for _, c := range pal {
			best = min(best, quant.Distance(c, quant.RGB{R: pix[i], G: pix[i+1], B: pix[i+2]}))
		}
		sum += best
	}
	return float64(sum) / float64(len(pix)/4)
}

func TestFewColoursStayExact(t *testing.T) {
	t.Parallel()
	var h quant.Histogram
	want := make([]quant.RGB, 0, 255)
	for i := range 255 {
		c := quant.RGB{R: uint8(i), G: uint8(i / 3), B: 7}
		want = append(want, c)
		h.AddPix([]uint8{c.R, c.G, c.B, 255, 1, 2, 3, 127})
	}
	got, miss := h.Palette(255, 0)
	byRed := func(a, b quant.RGB) int { return int(a.R) - int(b.R) }
	slices.SortFunc(got, byRed)
	if diff := cmp.Diff(want, got); diff != "" || miss != 0 {
		t.Errorf("error %v, palette (-want +got):\n%s", miss, diff)
	}
}

func TestPaletteIsGood(t *testing.T) {
	t.Parallel()
	tests := map[int]float64{2: 6000, 4: 620, 16: 335, 64: 145, 255: 61}
	pix := cloud(1, 60000)
	var h quant.Histogram
	h.AddPix(pix)
	for n, most := range tests {
		pal, said := h.Palette(n, 0)
		if len(pal) > n {
			t.Errorf("%d colours, want at most %d", len(pal), n)
		}
		got := loss(pix, pal)
		if got > most {
			t.Errorf("%d colours lose %.1f, want at most %.1f", n, got, most)
		}
		if n > 2 && math.Abs(got-said) > 0.2*got+4 {
			t.Errorf("%d colours lose %.1f, but %.1f is claimed", n, got, said)
		}
	}
}

func TestManyPixelsOfOneCellKeepTheirMean(t *testing.T) {
	t.Parallel()
	pix := make([]uint8, 0, 4*100_000)
	for i := range 100_000 {
		pix = append(pix, uint8(101+i%2), 103, 100, 200)
	}
	pix = append(pix, cloud(4, 2000)...)
	var h, c quant.Histogram
	h.AddPix(pix)
	c = *h.Clone()
	for _, hist := range []*quant.Histogram{&h, &c} {
		pal, _ := hist.Palette(64, 0)
		best := math.MaxInt
		for _, p := range pal {
			best = min(best, quant.Distance(p, quant.RGB{R: 101, G: 103, B: 100}))
		}
		if best > 2 {
			t.Errorf("the commonest colour is %d off", best)
		}
	}
	h.Reset()
	if pal, _ := h.Palette(8, 0); len(pal) != 0 {
		t.Errorf("after Reset: %v", pal)
	}
}

func TestMapper(t *testing.T) {
	t.Parallel()
	var h quant.Histogram
	h.AddPix(cloud(2, 30000))
	pal, _ := h.Palette(200, 0)
	m := quant.NewMapper(pal, 0.2)
	rng := rand.New(rand.NewPCG(9, 9))
	for range 3000 {
		c := quant.RGB{R: uint8(rng.Uint32()), G: uint8(rng.Uint32()), B: uint8(rng.Uint32())}
		e := m.Entry(pack(c))
		near := quant.Distance(pal[e.Near()], c)
		best := math.MaxInt
		for _, p := range pal {
			best = min(best, quant.Distance(p, c))
		}
		if math.Sqrt(float64(near)) > math.Sqrt(float64(best))+7 { // cells have a diagonal of 7
			t.Errorf("%v is shown as %v, %d off, at best %d", c, pal[e.Near()], near, best)
		}
		if e.Share() > 64 || e.Share() == 0 && e.Partner() != e.Near() {
			t.Errorf("%v has share %d of %d and %d", c, e.Share(), e.Near(), e.Partner())
		}
	}
	for i, c := range pal {
		if got := m.Nearest(pack(c)); int(got) != i {
			t.Errorf("entry %d is shown as %d", i, got)
		}
	}
}

func TestPairMixesToTheColour(t *testing.T) {
	t.Parallel()
	pal := []quant.RGB{{R: 96, G: 96, B: 96}, {R: 112, G: 112, B: 112}}
	soft, calm := quant.NewMapper(pal, 0.05), quant.NewMapper(pal, 1)
	for v := uint8(98); v < 112; v += 4 {
		c := pack(quant.RGB{R: v, G: v, B: v})
		if got := 96 + 16*float64(soft.Entry(c).Share())/64; math.Abs(got-float64(v)) > 2 {
			t.Errorf("grey %d is mixed to %.1f", v, got)
		}
		if s := calm.Entry(c).Share(); s != 0 {
			t.Errorf("grey %d is dithered, share %d, by a calm mapper", v, s)
		}
	}
}

func BenchmarkCount(b *testing.B) {
	pix := cloud(3, 1<<18)
	var h quant.Histogram
	b.ReportAllocs()
	for b.Loop() {
		h.Count(pix)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N<<18), "ns/pixel")
}

func BenchmarkPalette(b *testing.B) {
	var h quant.Histogram
	h.AddPix(cloud(3, 1<<18))
	b.ReportAllocs()
	for b.Loop() {
		h.Palette(255, 0)
	}
}

func TestPaletteIsWorthItsPrice(t *testing.T) {
	t.Parallel()
	var h quant.Histogram
	for i := range 1 << 12 { // a colour field, and a few pixels of another colour
		h.Add(quant.RGB{R: uint8(i % 64), G: uint8(i / 64), B: 100}, 9)
	}
	h.Add(quant.RGB{R: 255}, 9)
	last, loss := 256, -1.0
	for _, price := range []float64{0, 2, 20, 200} {
		pal, l := h.Palette(255, price)
		if len(pal) >= last || l <= loss {
			t.Errorf("price %v: %d colours with an error of %.1f, after %d with %.1f", price, len(pal), l, last, loss)
		}
		if half, other := h.Palette((len(pal)+1)/2, 0); price > 0 && other-l < price/2 {
			t.Errorf("price %v: %d colours instead of %d add but %.1f", price, len(half), len(pal), other-l)
		}
		last, loss = len(pal), l
	}
	var art quant.Histogram
	for i := range 64 {
		art.Add(quant.RGB{R: uint8(4 * i)}, uint64(1+i%3))
	}
	if pal, l := art.Palette(255, 200); len(pal) != 64 || l != 0 {
		t.Errorf("of 64 colours %d are left", len(pal))
	}
}
