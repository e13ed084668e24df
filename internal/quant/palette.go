package quant

import (
	"cmp"
	"math"
	"slices"
)

// maxIterations bounds the k-means iterations; later ones move the centres little.
const maxIterations = 8

// authoredColours is the largest number of colours that is taken as the author's choice,
// as in pixel art.
const authoredColours = 64

// Palette returns at most n colours, n <= 256, that show the counted pixels
// with little squared error. It also returns that error: the mean over the
// pixels of the squared distance to the nearest entry, summed over the
// channels. With lambda 0, at most n counted colours are the palette and the
// error is 0. The same counts give the same palette. An empty histogram gives
// an empty one.
//
// lambda, the Lagrange multiplier of the rate, is the error that is accepted for
// half as many colours. With lambda 0, or in a clip of at most 64 colours, the
// palette has as many colours as help.
func (h *Histogram) Palette(n int, lambda float64) ([]RGB, float64) {
	if h.pixels == 0 || n < 1 {
		return nil, 0
	}
	few := !h.distinct.overflow && h.distinct.n <= n
	if few && (lambda == 0 || h.distinct.n <= authoredColours) {
		return sorted(h.distinct.colours()), 0
	}
	list := h.samples()
	w := newWu(list)
	if lambda > 0 {
		n = w.boxCount(n, lambda)
	}
	if few && h.distinct.n <= n {
		return sorted(h.distinct.colours()), 0
	}
	k := newKMeans(list, w.palette(n), n)
	last := math.Inf(1)
	for range maxIterations {
		total := k.assign()
		if total > last*0.998 {
			break
		}
		last = total
		k.move()
	}
	total := k.assign()
	return sorted(k.colours()), total / float64(h.pixels)
}

// kMeans is Lloyd's algorithm on weighted samples. The triangle inequality
// speeds it up: a centre farther from the old one than twice the sample's
// distance cannot be nearer (Elkan, "Using the Triangle Inequality to
// Accelerate k-Means", ICML 2003, lemma 1).
type kMeans struct {
	list   []sample
	centre [][3]float32
	owner  []uint8
	near   [][]neighbour // for each centre the others, nearest first
}

// neighbour packs the squared distance between two centres and the index of the
// second into one word. Words sort by distance, because positive floats sort
// like their bits.
type neighbour uint64

func newNeighbour(d float32, at int) neighbour {
	return neighbour(math.Float32bits(d))<<8 | neighbour(at)
}

func (n neighbour) distance() float32 { return math.Float32frombits(uint32(n >> 8)) }

func newKMeans(list []sample, centre [][3]float32, n int) *kMeans {
	k := &kMeans{list: list, centre: centre, owner: make([]uint8, len(list))}
	k.addCentres(n)
	k.near = make([][]neighbour, len(k.centre))
	return k
}

// addCentres adds centres until there are n. The cells of the first split are
// coarser than the samples, so clips with few colours have some centres left.
func (k *kMeans) addCentres(n int) {
	if len(k.centre) >= n || len(k.list) <= len(k.centre) {
		return
	}
	k.near = make([][]neighbour, len(k.centre))
	k.assign()
	order := make([]int, len(k.list))
	for i := range order {
		order[i] = i
	}
	loss := func(i int) float32 { return k.list[i].n * k.list[i].distance(k.centre[k.owner[i]]) }
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(loss(b), loss(a)) })
	for _, i := range order[:min(n-len(k.centre), len(order))] {
		if s := k.list[i]; loss(i) > 0 {
			k.centre = append(k.centre, [3]float32{s.r, s.g, s.b})
		}
	}
}

func (s sample) distance(c [3]float32) float32 {
	r, g, b := s.r-c[0], s.g-c[1], s.b-c[2]
	return r*r + g*g + b*b
}

// assign gives every sample to its nearest centre and returns the total error.
func (k *kMeans) assign() float64 {
	k.sortNear()
	total := 0.0
	for i, s := range k.list {
		own := k.owner[i]
		best := s.distance(k.centre[own])
		limit := 4 * best
		for _, nb := range k.near[own] {
			if nb.distance() >= limit {
				break
			}
			if d := s.distance(k.centre[uint8(nb)]); d < best {
				best, k.owner[i] = d, uint8(nb)
			}
		}
		total += float64(s.n) * float64(best)
	}
	return total
}

func (k *kMeans) sortNear() {
	for i, c := range k.centre {
		list := k.near[i][:0]
		for j, o := range k.centre {
			if i != j {
				list = append(list, newNeighbour(sample{r: c[0], g: c[1], b: c[2]}.distance(o), j))
			}
		}
		slices.Sort(list)
		k.near[i] = list
	}
}

// move puts every centre at the mean of its samples.
func (k *kMeans) move() {
	sum := make([]moment, len(k.centre))
	for i, s := range k.list {
		m, n := &sum[k.owner[i]], float64(s.n)
		m.n += n
		m.r += n * float64(s.r)
		m.g += n * float64(s.g)
		m.b += n * float64(s.b)
	}
	for i, m := range sum {
		if m.n > 0 {
			k.centre[i] = [3]float32{float32(m.r / m.n), float32(m.g / m.n), float32(m.b / m.n)}
		}
	}
}

func (k *kMeans) colours() []RGB {
	out := make([]RGB, len(k.centre))
	for i, c := range k.centre {
		out[i] = RGB{uint8(c[0] + 0.5), uint8(c[1] + 0.5), uint8(c[2] + 0.5)}
	}
	return out
}

// sorted sorts by brightness and drops duplicates. Neighbours in the palette
// then look alike.
func sorted(pal []RGB) []RGB {
	light := func(c RGB) int { return 2*int(c.R) + 5*int(c.G) + int(c.B) }
	slices.SortFunc(pal, func(a, b RGB) int {
		return cmp.Or(cmp.Compare(light(a), light(b)), cmp.Compare(a.G, b.G), cmp.Compare(a.R, b.R))
	})
	return slices.Compact(pal)
}
