package refine

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var brick, sky = color.NRGBA{180, 60, 40, 255}, color.NRGBA{90, 140, 220, 255}

// wall is a picture of a disc of bricks before the sky, 160×120, and its true matte.
func wall() (*image.NRGBA, *image.Alpha) {
	img, m := image.NewNRGBA(image.Rect(0, 0, 160, 120)), image.NewAlpha(image.Rect(0, 0, 160, 120))
	for i := range m.Pix {
		x, y := i%160, i/160
		c := sky
		if math.Hypot(float64(x)-60, float64(y)-60) < 45 {
			c, m.Pix[i] = brick, 255
		}
		noise := uint8((x*7 + y*13) % 5)
		img.SetNRGBA(x, y, color.NRGBA{c.R + noise, c.G + noise, c.B + noise, 255})
	}
	return img, m
}

// paint sets the coverage of a matte in a disc, with a rim of some pixels.
func paint(m *image.Alpha, x, y, radius, rim float64, coverage uint8) {
	for i, a := range m.Pix {
		d := math.Hypot(float64(i%m.Stride)-x, float64(i/m.Stride)-y)
		k := min(max((radius-d)/rim, 0), 1)
		m.Pix[i] = uint8(float64(a) + k*(float64(coverage)-float64(a)) + 0.5)
	}
}

// unknown is a Prior of nothing.
func unknown(image.Point) (coverage, weight []float32) { return nil, nil }

// TestWalkerDecides checks that wide doubt within the subject becomes subject, and that in the backdrop
// goes, with their rims.
func TestWalkerDecides(t *testing.T) {
	img, want := wall()
	m := image.NewAlpha(want.Rect)
	copy(m.Pix, want.Pix)
	paint(m, 60, 60, 16, 4, 100) // half a hole
	paint(m, 132, 30, 18, 4, 90) // haze
	paint(m, 96, 80, 14, 4, 120) // over the edge
	new(Walker).Apply(img, m, unknown)
	for i, a := range m.Pix {
		if d := int(a) - int(want.Pix[i]); max(d, -d) > unsureMargin {
			t.Fatalf("at %d,%d is %d of %d", i%160, i/160, a, want.Pix[i])
		}
	}
}

// TestWalkerLeavesEdges checks that soft edges and small doubts stay as they are.
func TestWalkerLeavesEdges(t *testing.T) {
	img, _ := wall()
	m := image.NewAlpha(img.Rect)
	paint(m, 60, 60, 45, 8, 255)
	paint(m, 60, 60, 3, 1, 128)
	before := slices.Clone(m.Pix)
	new(Walker).Apply(img, m, unknown)
	if !slices.Equal(m.Pix, before) {
		t.Error("a soft edge was changed")
	}
}

// TestWalkerKnows checks that what is known decides where the picture does not.
func TestWalkerKnows(t *testing.T) {
	img, truth := wall()
	w, h := size(truth)
	coverage, weight := make([]float32, w*h), make([]float32, w*h)
	for i, a := range truth.Pix {
		coverage[i], weight[i] = float32(a)/255, 0.1
	}
	m := image.NewAlpha(truth.Rect)
	set(m.Pix, 128)
	new(Walker).Apply(img, m, func(image.Point) (c, w []float32) { return coverage, weight })
	if !slices.Equal(m.Pix, truth.Pix) {
		t.Error("what is known did not decide")
	}
}

// TestWalkerSizes checks mattes of all sizes, all of them in doubt: nothing decides them.
func TestWalkerSizes(t *testing.T) {
	var u Walker
	for _, p := range []image.Point{{0, 0}, {1, 1}, {8, 8}, {9, 9}, {10, 9}, {3, 200}, {33, 57}, {9, 9}} {
		m := image.NewAlpha(image.Rectangle{Max: p})
		set(m.Pix, 100)
		before := slices.Clone(m.Pix)
		u.Apply(image.NewNRGBA(m.Rect), m, func(p image.Point) (c, w []float32) {
			return make([]float32, p.X*p.Y), make([]float32, p.X*p.Y)
		})
		small := p.X <= 2*wideReach || p.Y <= 2*wideReach
		if same := slices.Equal(m.Pix, before); same != small {
			t.Errorf("%v: left as it is: %t, want %t", p, same, small)
		}
	}
}

// TestEquations compares a solution with what elimination finds.
func TestEquations(t *testing.T) {
	const n = 40
	dice := rand.New(rand.NewPCG(1, 2))
	var s equations
	for range 3 {
		s.reset(n)
		var a [n][n + 1]float64
		pull := func(i int, v, weight float32) {
			s.pull(i, v, weight)
			a[i][i] += float64(weight)
			a[i][n] += float64(weight * v)
		}
		for i := range n {
			pull(i, dice.Float32(), 0.01+dice.Float32())
			j := dice.IntN(n)
			if i == j {
				continue
			}
			weight := dice.Float32()
			s.couple(i, j, weight)
			for _, e := range [][2]int{{i, j}, {j, i}} {
				a[e[0]][e[0]] += float64(weight)
				a[e[0]][e[1]] -= float64(weight)
			}
		}
		for i := range n { // Gauss and Jordan
			for j := range n {
				if i == j {
					continue
				}
				f := a[j][i] / a[i][i]
				for k := range a[j] {
					a[j][k] -= f * a[i][k]
				}
			}
		}
		x := make([]float32, n)
		s.solve(x)
		for i, v := range x {
			if want := a[i][n] / a[i][i]; math.Abs(float64(v)-want) > 0.01 {
				t.Errorf("value %d is %.4f, want %.4f", i, v, want)
			}
		}
	}
}

func BenchmarkWalker(b *testing.B) {
	img, m := wall()
	paint(m, 60, 60, 16, 4, 100)
	paint(m, 132, 30, 18, 4, 90)
	before := slices.Clone(m.Pix)
	var u Walker
	for b.Loop() {
		copy(m.Pix, before)
		u.Apply(img, m, unknown)
	}
}
