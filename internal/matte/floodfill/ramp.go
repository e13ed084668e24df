package floodfill

import (
	"image"
	"math"
)

const (
	// inward is how many pixels a ramp of growing distance may lead into the
	// subject; what goes on growing beyond is shading.
	inward = 6
	// outward is how many pixels a soft edge may reach into the flood.
	outward = 4
	// climb is the least growth of a step on a ramp as a share of the
	// distance reached; less is shading.
	climb = 0.03
	// veer is how far, as a share of its length, a colour on a ramp may lie
	// beside the line from the backdrop to the colour above it.
	veer = 0.18
	// reach is how many pixels a thin stroke's colour is looked for along it.
	reach = 24
	// hairline is the width in pixels below which strokes count as one pixel
	// wide, slantLift what their colour lacks on average.
	hairline, slantLift = 1.5, 1.06
	// compressed is the ringing above which the source counts as compressed.
	compressed = 2
	// margin is the coverage that counts as none, and the lack of it that
	// counts as full, in compressed sources.
	margin = 0.04
	// lift bounds by which factor a thin stroke's colour may be raised.
	lift = 2.5
)

// node is a pixel of a ramp: of the rim or a soft edge.
type node struct {
	at    int32 // pixel index
	x     int32
	up    int32 // node the ramp leads to, -1 at the summit
	level int8  // steps from the flood: 1… inside, 0, -1… outside
	hops  int8  // steps along the stroke that full may still travel
	thin  bool  // a summit without solid pixels around it
	foot  bool  // other nodes lead here
	top   bool  // the crest of a node of the rim
	crest int32 // node whose summit this one mixes with the backdrop + 1, 0 for none
	d2    float32
	c     [3]float32 // colour minus backdrop
	full  [3]float32 // the subject's own colour minus backdrop, at summits
	full2 float32    // its squared length
}

// ramp finds the coverage of pixels that mix subject and backdrop. From every
// pixel at the border of the flood it climbs to the neighbour farthest from
// the backdrop, as long as the colours stay on one line through the backdrop
// and the steps are steep. The summit is the subject's own colour, and the
// projection onto it the coverage.
type ramp struct {
	nodes []node
	index []int32 // node of a pixel + 1; zero between calls
	mark  []uint8 // of weaken; zero between calls
	seen  []int32 // of weaken
}

// around are the eight neighbours in raster order.
var around = [8][2]int32{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}

// job is what one call works on.
type job struct {
	*ramp
	b    *band
	pix  []byte
	mask []byte // 255 and 0 until the end
	w, h int32
	off  [8]int32 // around as differences of pixel indexes
}

// unmix replaces the 0 and 255 in dst, where they meet, by coverage.
func (r *ramp) unmix(b *band, img *image.NRGBA, dst *image.Alpha, tol int) {
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	if len(r.index) < w*h {
		r.index = make([]int32, w*h)
	}
	r.nodes = r.nodes[:0]
	j := job{ramp: r, b: b, pix: img.Pix, mask: dst.Pix, w: int32(w), h: int32(h)}
	for k, o := range around {
		j.off[k] = o[0] + o[1]*j.w
	}
	j.rim()
	if b.ring > compressed {
		j.weaken(float32(tol))
		j.forget()
		j.rim()
	}
	rim := len(r.nodes)
	j.ascend()
	j.summits(rim)
	j.spread(rim)
	j.complete(rim)
	j.crests(rim)
	j.descend(rim, len(r.nodes))
	j.write()
}

// within returns a bit for each of the pixels k steps away in the directions
// of around that lies inside of the picture.
func (j *job) within(at, x, k int32) uint8 {
	m := uint8(0xff)
	if x < k {
		m &^= 1<<0 | 1<<3 | 1<<5
	}
	if x >= j.w-k {
		m &^= 1<<2 | 1<<4 | 1<<7
	}
	if at < k*j.w {
		m &^= 1<<0 | 1<<1 | 1<<2
	}
	if at >= (j.h-k)*j.w {
		m &^= 1<<5 | 1<<6 | 1<<7
	}
	return m
}

func (j *job) color(at int32) [3]float32 { return j.b.vec(j.pix[4*at:]) }

func (j *job) push(at, x int32, level int8, c [3]float32) int32 {
	j.nodes = append(j.nodes, node{at: at, x: x, up: -1, level: level, c: c, d2: dot(c, c)})
	j.index[at] = int32(len(j.nodes))
	return int32(len(j.nodes) - 1)
}

// ascend follows the ramps from the rim into the subject. Compressed colour
// comes in blocks two pixels wide, so there it also looks beyond neighbours.
func (j *job) ascend() {
	far := int32(1)
	if j.b.ring > compressed {
		far = 3
	}
	for i := 0; i < len(j.nodes); i++ {
		best := int32(-1)
		for k := int32(1); k <= far && best < 0; k++ {
			best = j.higher(i, k)
		}
		j.nodes[i].up = best
		if best >= 0 {
			j.nodes[best].foot = true
		}
	}
}

// higher returns the node farthest from the backdrop among the pixels k away
// from node i that continue its ramp, or -1. It adds those that are no nodes.
func (j *job) higher(i int, k int32) int32 {
	n := &j.nodes[i]
	at, nx, level, nc, d2 := n.at, n.x, n.level, n.c, n.d2
	d := sqrt(d2)
	least := d + j.b.step() + climb*d
	least *= least
	best, bestD := int32(-1), float32(0)
	in := j.within(at, nx, k)
	for o, off := range j.off {
		p := at + k*off
		if in>>o&1 == 0 || j.mask[p] == 0 {
			continue
		}
		c := j.color(p)
		p2 := dot(c, c)
		if p2 < least || !j.aligned(nc, d2, c, p2) {
			continue
		}
		q := j.index[p] - 1
		if q < 0 {
			if level > inward {
				continue
			}
			q = j.push(p, nx+k*around[o][0], level+int8(k), c)
		}
		if p2 > bestD {
			best, bestD = q, p2
		}
	}
	return best
}

// step is the least growth in distance that noise does not explain.
func (b *band) step() float32 { return 2 + 1.5*b.noise }

// aligned reports whether colour c of squared length c2 lies near the line
// from the backdrop to f of squared length f2.
func (j *job) aligned(c [3]float32, c2 float32, f [3]float32, f2 float32) bool {
	p := dot(c, f)
	if p <= 0 {
		return false
	}
	beside := c2 - p*p/f2
	l := sqrt(c2)
	limit := 5 + j.b.noise + j.b.ring + veer*l + min(0.02*min(j.b.ring, 15)*l, 10)
	return beside <= limit*limit
}

// summits sets the colour of the nodes that no ramp leads on from. Where other
// nodes depend on it, it is the mean of the pixels around that are as far from
// the backdrop.
func (j *job) summits(rim int) {
	for i := range j.nodes {
		n := &j.nodes[i]
		if n.up >= 0 {
			continue
		}
		n.full, n.full2, n.hops = n.c, n.d2, reach
		in := j.within(n.at, n.x, 1)
		if i < rim {
			n.thin = !j.solid(n.at, in, int32(rim))
		}
		if n.foot && !n.thin {
			j.smooth(n, in)
		}
	}
}

// solid reports whether a neighbour belongs to the subject without touching
// the flood.
func (j *job) solid(at int32, in uint8, rim int32) bool {
	for o, off := range j.off {
		if in>>o&1 != 0 && j.mask[at+off] != 0 && uint32(j.index[at+off]-1) >= uint32(rim) {
			return true
		}
	}
	return false
}

// smooth averages the colour of a summit with neighbours like it.
func (j *job) smooth(n *node, in uint8) {
	near := 3 + 2*j.b.noise
	floor := max(sqrt(n.d2)-1-j.b.noise, 0)
	floor *= floor
	sum, count := n.c, float32(1)
	for o, off := range j.off {
		if in>>o&1 == 0 || j.mask[n.at+off] == 0 {
			continue
		}
		c := j.color(n.at + off)
		if dot(c, c) >= floor && biggest([3]float32{c[0] - n.c[0], c[1] - n.c[1], c[2] - n.c[2]}) <= near {
			for k := range sum {
				sum[k] += c[k]
			}
			count++
		}
	}
	n.full = [3]float32{sum[0] / count, sum[1] / count, sum[2] / count}
	n.full2 = dot(n.full, n.full)
}

// spread carries the strongest colour along thin strokes, whose pixels may
// never be covered fully. The rim is in raster order, so one pass forward and
// one backward reach everything within the limit of steps.
func (j *job) spread(rim int) {
	for i := range rim {
		j.take(i, 0, 4)
	}
	for i := rim - 1; i >= 0; i-- {
		j.take(i, 4, 8)
	}
}

// complete raises the colour of strokes about one pixel wide. Slanted ones
// cover no pixel fully: with slope t, at best 1 − t/4 of it.
func (j *job) complete(rim int) {
	for i := range rim {
		n := &j.nodes[i]
		if !n.thin || n.up >= 0 || n.d2 <= 0 {
			continue
		}
		in := j.within(n.at, n.x, 1)
		if in != 0xff {
			continue
		}
		sum := float32(1)
		for _, off := range j.off {
			sum += max(dot(j.color(n.at+off), n.full)/n.full2, 0)
		}
		if sum < 3*hairline {
			for k := range n.full {
				n.full[k] *= slantLift
			}
			n.full2 *= slantLift * slantLift
		}
	}
}

// top returns the summit above node i, which may be i itself.
func (j *job) top(i int32) int32 {
	for j.nodes[i].up >= 0 {
		i = j.nodes[i].up
	}
	return i
}

// crests finds for each node the one whose colour it mixes with the backdrop:
// the last on its ramp that is on one line with all before it. Each step of a
// ramp may veer a little, and several could lead from a rim of one colour on
// into an area of another, which is no part of the edge. So nodes inside count
// only if their ramp leads to the crest of a node of the rim.
func (j *job) crests(rim int) {
	for i := range j.nodes {
		n := &j.nodes[i]
		for up := n.up; up >= 0 && j.straight(int32(i), up); up = j.nodes[up].up {
			if i < rim || j.nodes[up].top {
				n.crest = up + 1
			}
		}
		if i < rim && n.crest > 0 {
			j.nodes[n.crest-1].top = true
		}
	}
}

// straight reports whether the colour of node to is on one line with all on
// the ramp from node i up to it.
func (j *job) straight(i, to int32) bool {
	t := &j.nodes[to]
	for ; i != to; i = j.nodes[i].up {
		if n := &j.nodes[i]; !j.aligned(n.c, n.d2, t.c, t.d2) {
			return false
		}
	}
	return true
}

// summit is the subject's own colour at a crest, and its squared length.
func (n *node) summit() ([3]float32, float32) {
	if n.full2 > 0 {
		return n.full, n.full2
	}
	return n.c, n.d2
}

// take raises the colour of the thin summit above rim node i to that of the
// neighbours of i in the given directions.
func (j *job) take(i, from, to int) {
	p := &j.nodes[i]
	n := &j.nodes[j.top(int32(i))]
	if !n.thin {
		return
	}
	in := j.within(p.at, p.x, 1)
	for o := from; o < to; o++ {
		if in>>o&1 == 0 {
			continue
		}
		q := j.index[p.at+j.off[o]] - 1
		if q < 0 {
			continue
		}
		m := &j.nodes[j.top(q)]
		if m.hops == 0 || m.full2 <= n.full2 || m.full2 > lift*lift*n.d2 || !j.aligned(n.c, n.d2, m.full, m.full2) {
			continue
		}
		n.full, n.full2, n.hops = m.full, m.full2, m.hops-1
	}
}

// descend follows the ramps from the rim out into the flood, as far as the
// colour stands out from the backdrop's noise. Nodes from inside on are its
// own.
func (j *job) descend(rim, inside int) {
	for i := range rim {
		j.lower(i)
	}
	for i := inside; i < len(j.nodes); i++ {
		if j.nodes[i].level > 1-outward {
			j.lower(i)
		}
	}
}

// lower makes nodes of the neighbours of node i in the flood that continue
// its ramp downwards, and leads them to the farthest summit they see.
func (j *job) lower(i int) {
	floor := j.floor()
	floor *= floor
	n := &j.nodes[i]
	at, nx, d2, level := n.at, n.x, n.d2, min(n.level, 1)-1
	t := int32(i)
	if n.crest > 0 {
		t = n.crest - 1
	}
	full, full2 := j.nodes[t].summit()
	in := j.within(at, nx, 1)
	for o, off := range j.off {
		p := at + off
		if in>>o&1 == 0 || j.mask[p] != 0 {
			continue
		}
		c := j.color(p)
		p2 := dot(c, c)
		if p2 < floor || p2 >= d2 || !j.aligned(c, p2, full, full2) {
			continue
		}
		if q := j.index[p] - 1; q < 0 {
			q = j.push(p, nx+around[o][0], level, c)
			j.nodes[q].crest = t + 1
		} else if m := &j.nodes[q]; m.crest > 0 {
			if _, known := j.nodes[m.crest-1].summit(); known < full2 {
				m.crest = t + 1
			}
		}
	}
}

// floor is the distance up to which a colour is the backdrop's noise.
func (j *job) floor() float32 { return 1.5 + j.b.noise + 0.3*j.b.ring }

// write puts the coverage of all nodes into the mask and clears the index.
func (j *job) write() {
	floor := j.floor()
	for i := range j.nodes {
		n := &j.nodes[i]
		j.index[n.at] = 0
		full, full2 := n.full, n.full2
		if n.crest > 0 {
			full, full2 = j.nodes[n.crest-1].summit()
		}
		if full2 <= n.d2 {
			continue
		}
		a := j.share(n.c, full, full2)
		if d := sqrt(n.d2); d < 2*floor {
			a *= max(d-floor, 0) / floor
		}
		if j.b.ring > compressed {
			a = (a - margin) / (1 - 2*margin)
		}
		j.mask[n.at] = uint8(min(max(a, 0), 1)*255 + 0.5)
	}
}

// share is the coverage that explains colour c as a mix of f and the backdrop.
// Video keeps colour at half the resolution of lightness, so where there is
// compression lightness counts for more, if the two differ in it.
func (j *job) share(c, f [3]float32, f2 float32) float32 {
	a := dot(c, f) / f2
	if j.b.ring <= 0 {
		return a
	}
	cy, fy := luma(c), luma(f)
	for k := range c {
		c[k] -= cy
		f[k] -= fy
	}
	sigma := 2 + 0.3*j.b.ring
	wy, wc := fy/sigma*fy/sigma, float32(0)
	sum := cy * fy / (sigma * sigma)
	if q := dot(f, f); q > 100 {
		wc = 16
		sum += wc * dot(c, f) / q
	}
	if wy+wc == 0 {
		return a
	}
	t := min(j.b.ring/4, 1)
	return (1-t)*a + t*sum/(wy+wc)
}

// luma is the lightness of a difference of colours, ITU-R BT.601.
func luma(c [3]float32) float32 { return 0.299*c[0] + 0.587*c[1] + 0.114*c[2] }

func biggest(c [3]float32) float32 { return max(abs(c[0]), abs(c[1]), abs(c[2])) }

func dot(a, b [3]float32) float32 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

func abs(v float32) float32 {
	return math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
}
