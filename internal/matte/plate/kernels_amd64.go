//go:build !purego

package plate

import (
	"golang.org/x/sys/cpu"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// hasAVX2 is whether the processor has AVX2, and an instruction that counts bits.
var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

// factors are constants of the inner loops, in the order in which those name them.
//
//nolint:unused // the assembly reads them
var factors = [...]float32{
	1, 0.5, history, float32(history-1) / history, minKnown, 3, 4, 16, 64, 1<<16 - 1, noiseFloor * noiseFloor, 27, 255,
	1.0 / 8, 1.0 / (robustScale * robustScale), robustScale * robustScale,
}

// The arguments of the assembly are structs, whose fields it finds by their offsets. Groups are of
// lanes pixels, and distances in pixels.

// layArguments are those of layVector.
type layArguments struct {
	pix, kind    *uint8
	right, below int
	sums         [sumPlanes]*float32
	colour       [3]*uint16
	known        *uint8
	spread       *uint8
	frames       *uint8
	claimed      *uint8
	shares       [4]uint32
	inverse      [3]float32
	groups       int
}

func (l *laying) row(i, at, n int) {
	if groups := n / lanes; hasAVX2 && groups > 0 {
		c, p := l.canvas, &l.canvas.pixels
		last := at + groups*lanes - 1
		_, _ = l.frame.kind[i+groups*lanes-1+l.right+l.below], l.frame.pix[4*(i+groups*lanes-1+l.right+l.below)+3]
		a := layArguments{
			pix: &l.frame.pix[4*i], kind: &l.frame.kind[i], right: l.right, below: l.below,
			known: &p.known[at], spread: &p.spread[at], frames: &p.frames[at], claimed: &p.claimed[at],
			shares: l.shares, inverse: l.inverse, groups: groups,
		}
		for s := range c.sums {
			_ = c.sums[s][last]
			a.sums[s] = &c.sums[s][at]
		}
		for s := range p.colour {
			_ = p.colour[s][last]
			a.colour[s] = &p.colour[s][at]
		}
		layVector(&a)
		i, at, n = i+groups*lanes, at+groups*lanes, n%lanes
	}
	l.rowPlain(i, at, n)
}

// drawArguments are those of drawVector.
type drawArguments struct {
	colour                                 [3]*uint16
	known, spread, frames, claimed         *uint8
	right, below                           int
	pix                                    *uint8
	toKnown, toSpread, toFrames, toClaimed *uint8
	shares                                 [4]uint32
	light                                  light
	groups                                 int
}

func (d *drawing) row(at, i, n int) {
	p, to := &d.canvas.pixels, d.to
	for groups := n / lanes; hasAVX2 && groups > 0; groups = n / lanes {
		last := at + groups*lanes - 1 + d.right + d.below
		_, _ = p.known[last], to.known[i+groups*lanes-1]
		a := drawArguments{
			colour: [3]*uint16{&p.colour[0][at], &p.colour[1][at], &p.colour[2][at]},
			known:  &p.known[at], spread: &p.spread[at], frames: &p.frames[at], claimed: &p.claimed[at],
			right: d.right, below: d.below, pix: &to.pix[4*i],
			toKnown: &to.known[i], toSpread: &to.spread[i], toFrames: &to.frames[i], toClaimed: &to.claimed[i],
			shares: d.shares, light: d.light, groups: groups,
		}
		done := groups - drawVector(&a)
		at, i, n = at+done*lanes, i+done*lanes, n-done*lanes
		if done < groups { // the next group is known in part
			d.rowPlain(at, i, lanes)
			at, i, n = at+lanes, i+lanes, n-lanes
		}
	}
	d.rowPlain(at, i, n)
}

// compareArguments are those of compareVector. The planes of the view are from red on, plane
// bytes apart.
type compareArguments struct {
	pix, predicted          *uint8
	spread, frames, claimed *uint8
	view                    *uint8
	plane                   int
	inverseVariance         *[256]float32
	groups                  int
}

func (o *comparison) row(i, j int) (known int) {
	if groups := (j - i) / lanes; hasAVX2 && groups > 0 {
		p := o.predicted
		last := i + groups*lanes - 1
		_, _, _, _, _ = o.frame.pix[4*last+3], p.pix[4*last+3], p.spread[last], p.frames[last], p.claimed[last]
		plane := o.view.W * o.view.H
		_ = o.view.Pix[(int(view.Count)-1)*plane+last]
		known = compareVector(&compareArguments{
			pix: &o.frame.pix[4*i], predicted: &p.pix[4*i], spread: &p.spread[i], frames: &p.frames[i], claimed: &p.claimed[i],
			view: &o.view.Pix[i], plane: plane, inverseVariance: &inverseVariance, groups: groups,
		})
		i += groups * lanes
	}
	return known + o.rowPlain(i, j)
}

func lightness(dst []float32, pix []uint8) {
	if groups := len(dst) / lanes; hasAVX2 && groups > 0 {
		_ = pix[4*groups*lanes-1]
		lightVector(&dst[0], &pix[0], groups)
		dst, pix = dst[groups*lanes:], pix[4*groups*lanes:]
	}
	lightPlain(dst, pix)
}

// matchArguments are those of matchVector. Rows are in pixels.
type matchArguments struct {
	frame, plate           *float32
	frameKnown, plateKnown *uint8
	frameRow, plateRow     int
	groups                 int
	weight                 [4][lanes]float32
	lighter                [lanes]float32
	sums                   *[matchSums][lanes]float32
}

func (m *matching) row(i, j, n int) {
	if groups := n / lanes; hasAVX2 && groups > 0 {
		f, p := m.frame, m.plate
		end := groups*lanes - 1
		_, _, _, _ = f.light[i+end+f.w], p.light[j+end+p.w+1], f.known[i+end], p.known[j+end+p.w+1]
		_, _ = f.light[i-f.w], f.light[i-1]
		a := matchArguments{
			frame: &f.light[i], plate: &p.light[j], frameKnown: &f.known[i], plateKnown: &p.known[j],
			frameRow: f.w, plateRow: p.w, groups: groups, sums: &m.sums,
		}
		for l := range lanes {
			for k, w := range m.weight {
				a.weight[k][l] = w
			}
			a.lighter[l] = m.lighter
		}
		m.count += matchVector(&a)
		i, j, n = i+groups*lanes, j+groups*lanes, n%lanes
	}
	m.rowPlain(i, j, n, 0)
}

func (s *shifting) sum(i, j, n int) {
	if groups := n / lanes; hasAVX2 && groups > 0 {
		f, p := s.frame, s.plate
		end := groups*lanes - 1
		_, _, _, _ = f.light[i+end], p.light[j+end], f.known[i+end], p.known[j+end]
		s.count += sumVector(&s.sums, &f.light[i], &p.light[j], &f.known[i], &p.known[j], groups)
		i, j, n = i+groups*lanes, j+groups*lanes, n%lanes
	}
	s.sumPlain(i, j, n, 0)
}

func (s *shifting) cost(i, j, n int) {
	if groups := n / lanes; hasAVX2 && groups > 0 {
		f, p := s.frame, s.plate
		end := groups*lanes - 1
		_, _, _, _ = f.light[i+end], p.light[j+end], f.known[i+end], p.known[j+end]
		costVector(&s.costs, &f.light[i], &p.light[j], &f.known[i], &p.known[j], s.mean, groups)
		i, j, n = i+groups*lanes, j+groups*lanes, n%lanes
	}
	s.costPlain(i, j, n, 0)
}

// layVector is laying.rowPlain.
//
//go:noescape
func layVector(a *layArguments)

// drawVector is drawing.rowPlain up to the first group that is known in part. It returns
// how many groups are left.
//
//go:noescape
func drawVector(a *drawArguments) (left int)

// compareVector is comparison.rowPlain.
//
//go:noescape
func compareVector(a *compareArguments) (known int)

// lightVector is lightPlain.
//
//go:noescape
func lightVector(dst *float32, pix *uint8, groups int)

// matchVector is matching.rowPlain. It returns how many pixels count.
//
//go:noescape
func matchVector(a *matchArguments) (count int)

// sumVector is shifting.sumPlain. It returns how many pixels count.
//
//go:noescape
func sumVector(sums *[lanes]float32, f, p *float32, frameKnown, plateKnown *uint8, groups int) (count int)

// costVector is shifting.costPlain.
//
//go:noescape
func costVector(costs *[lanes]float32, f, p *float32, frameKnown, plateKnown *uint8, mean float32, groups int)
