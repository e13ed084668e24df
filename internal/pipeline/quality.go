package pipeline

import (
	"encoding/binary"
	"image"
	"math"
	"slices"
)

// Quality has numbers about the mattes of the written frames, for warnings to
// people.
type Quality struct {
	// Kept is the share of the clip's visible area that is left.
	Kept float64
	// Haze is the share of the visible area that is less than half covered.
	Haze float64
	// Pops is the share of frames that are kept by a third more, or less, than
	// both of the frames beside them.
	Pops float64
	// Fragments is how many pieces the median frame has.
	Fragments int
	// TouchesEdge is the share of frames in which something solid touches the picture's
	// left, top or right edge.
	TouchesEdge float64
	// Halo is the share of the pixels at edges that have the backdrop's colour, of
	// methods that know it.
	Halo float64
}

// add adds the shares of a part of the clip, by the part's own share in it.
func (q *Quality) add(part Quality, share float64) {
	q.Kept += share * part.Kept
	q.Haze += share * part.Haze
	q.Pops += share * part.Pops
	q.TouchesEdge += share * part.TouchesEdge
	q.Halo += share * part.Halo
}

// Haloer is an estimator that recognises the backdrop by its colour.
type Haloer interface {
	// Halo counts the pixels at the edges of a cut-out before its matte is applied,
	// and those of them that have the backdrop's colour.
	Halo(img *image.NRGBA, m *image.Alpha) (edge, left int)
}

const (
	halfCovered = 128
	// gridPoints is how many points the shorter side of a picture is looked at, to
	// count fragments, minFragment the least number of points that are one.
	gridPoints, minFragment = 64, 3
	// touchedShare is the share of a side that the subject must touch to be cut off by
	// it.
	touchedShare = 0.05
	// popFactor is by which factor a frame's area differs from those beside it.
	popFactor = 4.0 / 3
)

// frameStats is one frame's contribution to Quality.
type frameStats struct {
	area, kept  int // sums of alpha
	shown, hazy int // pixels
	fragments   int
	touchesEdge bool
	edge, left  int
}

// frameStats measures a frame before its matte is applied.
func (r *runner) frameStats(it *item) (v frameStats) {
	img, m := it.Image, it.Matte
	if h, ok := r.Estimator.(Haloer); ok && !r.MaskOnly {
		v.edge, v.left = h.Halo(img, m)
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	step := 1 + min(w, h)/480 // every row of large pictures says no more
	sides := [3]int{}
	for y := 0; y < h; y += step {
		row, alpha := img.Pix[y*img.Stride:][:4*w], m.Pix[y*m.Stride:][:w]
		v.addRow(row, alpha)
		for i, x := range [2]int{0, w - 1} {
			if alpha[x] >= halfCovered {
				sides[i] += step
			}
		}
	}
	for _, a := range m.Pix[:w] {
		if a >= halfCovered {
			sides[2]++
		}
	}
	v.touchesEdge = float64(max(sides[0], sides[1])) > touchedShare*float64(h) || float64(sides[2]) > touchedShare*float64(w)
	v.fragments = countFragments(m)
	return v
}

// addRow adds the pixels of a row. Most of them have an opaque source, and the matte
// keeps all or nothing of them.
func (v *frameStats) addRow(row, alpha []uint8) {
	for x := 0; x < len(alpha); x++ {
		if x+8 <= len(alpha) {
			a := binary.LittleEndian.Uint64(alpha[x:])
			if (a == 0 || a == math.MaxUint64) && allOpaque(row[4*x:][:32:32]) {
				v.area += 8 * 255
				v.kept += 8 * int(a&255)
				v.shown += 8 * int(a&1)
				x += 7
				continue
			}
		}
		a, own := alpha[x], row[4*x+3]
		v.area += int(own)
		if a < visibleAlpha || own < visibleAlpha {
			continue
		}
		v.kept += int(min(a, own))
		v.shown++
		if a < halfCovered {
			v.hazy++
		}
	}
}

// allOpaque reports whether eight pixels are opaque.
func allOpaque(pix []uint8) bool {
	const opaque = 0xff000000ff000000
	all := binary.LittleEndian.Uint64(pix) & binary.LittleEndian.Uint64(pix[8:]) &
		binary.LittleEndian.Uint64(pix[16:]) & binary.LittleEndian.Uint64(pix[24:])
	return all&opaque == opaque
}

// countFragments counts the connected parts of a matte.
func countFragments(m *image.Alpha) (n int) {
	step := max(1, min(m.Rect.Dx(), m.Rect.Dy())/gridPoints)
	w, h := m.Rect.Dx()/step, m.Rect.Dy()/step
	on := make([]bool, w*h)
	for i := range on {
		on[i] = m.Pix[i/w*step*m.Stride+i%w*step] >= halfCovered
	}
	var queue []int
	for i := range on {
		if !on[i] {
			continue
		}
		on[i], queue = false, append(queue[:0], i)
		for k := 0; k < len(queue); k++ {
			x, y := queue[k]%w, queue[k]/w
			for v := max(y-1, 0); v <= min(y+1, h-1); v++ {
				for u := max(x-1, 0); u <= min(x+1, w-1); u++ {
					if on[v*w+u] {
						on[v*w+u], queue = false, append(queue, v*w+u)
					}
				}
			}
		}
		if len(queue) >= minFragment {
			n++
		}
	}
	return n
}

// clipStats makes Quality from the statistics of all frames, in order.
type clipStats struct {
	sum       frameStats
	areas     []float32 // share kept of each frame
	fragments map[int]int
	touching  int
}

func (r *clipStats) add(v frameStats) {
	r.sum.area += v.area
	r.sum.kept += v.kept
	r.sum.shown += v.shown
	r.sum.hazy += v.hazy
	r.sum.edge += v.edge
	r.sum.left += v.left
	if v.touchesEdge {
		r.touching++
	}
	if r.fragments == nil {
		r.fragments = make(map[int]int)
	}
	r.fragments[v.fragments]++
	r.areas = append(r.areas, float32(float64(v.kept)/float64(max(v.area, 1))))
}

func (r *clipStats) quality() Quality {
	n := max(len(r.areas), 1)
	q := Quality{
		Kept:        float64(r.sum.kept) / float64(max(r.sum.area, 1)),
		Haze:        float64(r.sum.hazy) / float64(max(r.sum.shown, 1)),
		Halo:        float64(r.sum.left) / float64(max(r.sum.edge, 1)),
		TouchesEdge: float64(r.touching) / float64(n),
		Pops:        float64(r.countPops()) / float64(n),
	}
	seen := 0
	for _, k := range slices.Sorted(func(yield func(int) bool) {
		for k := range r.fragments {
			if !yield(k) {
				return
			}
		}
	}) {
		if seen += r.fragments[k]; 2*seen >= n {
			q.Fragments = k
			break
		}
	}
	return q
}

// countPops counts frames that stand out from both beside them.
func (r *clipStats) countPops() (n int) {
	const least = 0.002 // of the picture: less is nobody's subject
	for i := 1; i+1 < len(r.areas); i++ {
		a, before, after := float64(r.areas[i])+least, float64(r.areas[i-1])+least, float64(r.areas[i+1])+least
		if a > popFactor*math.Max(before, after) || a*popFactor < math.Min(before, after) {
			n++
		}
	}
	return n
}
