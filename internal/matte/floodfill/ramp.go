package floodfill

import "image"

const (
	// inward is how many pixels a ramp of growing distance may lead into the
	// subject; growth beyond that is shading.
	inward = 6
	// outward is how many pixels a soft edge may reach into the flood.
	outward = 4
	// minGrowth is the least growth of a step on a ramp as a share of the
	// distance reached; less is shading.
	minGrowth = 0.03
	// offLine is how far, as a share of its length, a colour on a ramp may lie
	// beside the line from the backdrop to the colour above it.
	offLine = 0.18
	// paletteError is how far a mix of colours may lie beside their line in a
	// palette that had to spend its colours on a slope.
	paletteError = 40
	// strokeReach is how many pixels a thin stroke's colour is looked for along it.
	strokeReach = 24
	// hairline is the width in pixels below which strokes count as one pixel
	// wide, slantLift what their colour lacks on average.
	hairline, slantLift = 1.5, 1.06
	// margin is the coverage that counts as none, and the lack of it that
	// counts as full, where colour is halved.
	margin = 0.04
	// maxLift bounds by which factor a thin stroke's colour may be raised.
	maxLift = 2.5
)

// node is a pixel of a ramp: of the rim or a soft edge.
type node struct {
	at       int32 // pixel index
	x        int32
	up       int32 // node the ramp leads to, -1 at a local maximum
	level    int8  // steps from the flood: 1… inside, 0, -1… outside
	hops     int8  // steps along the stroke that full may still travel
	thin     bool  // a local maximum without solid pixels around it
	ledTo    bool  // other nodes lead here
	isSource bool  // the source of a node of the rim
	source   int32 // node that this one mixes with the backdrop + 1, 0 for none
	d2       float32
	c        vector  // colour minus backdrop
	full     vector  // the subject's own colour minus backdrop, at local maxima
	full2    float32 // its squared length
}

// ramp finds the coverage of pixels that mix subject and backdrop. From every
// pixel at the border of the flood it climbs to the neighbour farthest from
// the backdrop, as long as the colours stay on one line through the backdrop
// and the steps are steep. The local maximum there is the subject's own colour, and the
// projection onto it the coverage.
type ramp struct {
	nodes []node
	index []int32 // node of a pixel + 1; zero between calls
	mark  []uint8 // of removeRinging; zero between calls
	seen  []int32 // of removeRinging
}

// around are the eight neighbours in raster order.
var around = [8][2]int32{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}

// unmixer is the data of one call.
type unmixer struct {
	*ramp
	b    *metric
	pix  []byte
	mask []byte // 255 and 0 until the end
	w, h int32
	off  [8]int32 // around as differences of pixel indexes
}

// unmix replaces the 0 and 255 in dst, where they meet, by coverage.
func (r *ramp) unmix(b *metric, img *image.NRGBA, dst *image.Alpha, tol int) {
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	if len(r.index) < w*h {
		r.index = make([]int32, w*h)
	}
	r.nodes = r.nodes[:0]
	j := unmixer{ramp: r, b: b, pix: img.Pix, mask: dst.Pix, w: int32(w), h: int32(h)}
	for k, o := range around {
		j.off[k] = o[0] + o[1]*j.w
	}
	j.findRim()
	if b.halved {
		j.removeRinging(float32(tol))
		j.clearNodes()
		j.findRim()
	}
	rim := len(r.nodes)
	j.ascend()
	j.setForegrounds(rim)
	j.propagate(rim)
	j.correctHairlines(rim)
	j.chooseSources(rim)
	j.descend(rim, len(r.nodes))
	j.write()
}

// within returns a bit for each of the pixels k steps away in the directions
// of around that lies inside of the picture.
func (j *unmixer) within(at, x, k int32) uint8 {
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

func (j *unmixer) colour(at int32) vector { return j.b.offset(j.pix, int(at)) }

func (j *unmixer) push(at, x int32, level int8, c vector) int32 {
	j.nodes = append(j.nodes, node{at: at, x: x, up: -1, level: level, c: c, d2: dot(c, c)})
	j.index[at] = int32(len(j.nodes))
	return int32(len(j.nodes) - 1)
}

// ascend follows the ramps from the rim into the subject. Compressed colour
// comes in blocks two pixels wide, so there it also looks beyond neighbours.
func (j *unmixer) ascend() {
	maxDistance := int32(1)
	if j.b.halved {
		maxDistance = 3
	}
	for i := 0; i < len(j.nodes); i++ {
		best := int32(-1)
		for k := int32(1); k <= maxDistance && best < 0; k++ {
			best = j.higher(i, k)
		}
		j.nodes[i].up = best
		if best >= 0 {
			j.nodes[best].ledTo = true
		}
	}
}

// higher returns the node farthest from the backdrop among the pixels k away
// from node i that continue its ramp, or -1. It adds pixels that are not nodes
// yet.
func (j *unmixer) higher(i int, k int32) int32 {
	n := &j.nodes[i]
	at, nx, level, nc, d2 := n.at, n.x, n.level, n.c, n.d2
	d := sqrt(d2)
	minSquare := d + j.b.minStep() + minGrowth*d
	minSquare *= minSquare
	best, bestD := int32(-1), float32(0)
	in := j.within(at, nx, k)
	for o, off := range j.off {
		p := at + k*off
		if in>>o&1 == 0 || j.mask[p] == 0 {
			continue
		}
		c := j.colour(p)
		p2 := dot(c, c)
		if p2 < minSquare || !j.aligned(nc, d2, c, p2) {
			continue
		}
		q := j.index[p] - 1
		if q < 0 {
			if level > inward {
				continue
			}
			q = j.push(p, nx+k*around[o][0], level+int8(k), c)
		}
		for i := int32(1); i < k; i++ { // skipped pixels belong to the same ramp
			if p := at + i*off; level <= inward && j.mask[p] != 0 && j.index[p] == 0 {
				j.push(p, nx+i*around[o][0], level+int8(i), j.colour(p))
			}
		}
		if p2 > bestD {
			best, bestD = q, p2
		}
	}
	return best
}

// minStep is the least growth in distance that noise does not explain.
func (b *metric) minStep() float32 { return 2 + 1.5*b.noise }

// aligned reports whether colour c of squared length c2 lies near the line
// from the backdrop to f of squared length f2.
func (j *unmixer) aligned(c vector, c2 float32, f vector, f2 float32) bool {
	if j.b.halved {
		return j.between(c, f)
	}
	p := dot(c, f)
	if p <= 0 {
		return false
	}
	beside := c2 - p*p/f2
	l := sqrt(c2)
	limit := 5 + j.b.noise + j.b.ring + offLine*l + min(0.02*min(j.b.ring, 15)*l, 10)
	if j.b.slope != nil {
		limit += paletteError
	}
	return beside <= limit*limit
}

// between reports whether colour c may lie on an edge between the backdrop and
// f where colour has half of its resolution: lightness and chroma each lie
// between those of the two, but not as far along.
func (j *unmixer) between(c, f vector) bool {
	slack := 5 + j.b.noise + j.b.ring
	cy, fy := j.b.luma(c), j.b.luma(f)
	if fy < 0 {
		cy, fy = -cy, -fy
	}
	if cy < -slack || cy > fy+slack {
		return false
	}
	cc, fc := j.b.chroma(c), j.b.chroma(f)
	c2, f2, p := dot(cc, cc), dot(fc, fc), dot(cc, fc)
	slack += offLine * sqrt(c2)
	if f2 <= slack*slack {
		return c2 <= 4*slack*slack
	}
	along := p / sqrt(f2)
	return along >= -slack && along <= sqrt(f2)+slack && c2-p*p/f2 <= slack*slack
}

// descend follows the ramps from the rim out into the flood, as far as the
// colour stands out from the backdrop's noise. Nodes from inside on are its
// own.
func (j *unmixer) descend(rim, inside int) {
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
// its ramp downwards, and leads them to the farthest local maximum they see.
func (j *unmixer) lower(i int) {
	floor := j.floor()
	floor *= floor
	n := &j.nodes[i]
	at, nx, d2, level := n.at, n.x, n.d2, min(n.level, 1)-1
	t := int32(i)
	if n.source > 0 {
		t = n.source - 1
	}
	full, full2 := j.nodes[t].foreground()
	in := j.within(at, nx, 1)
	for o, off := range j.off {
		p := at + off
		if in>>o&1 == 0 || j.mask[p] != 0 {
			continue
		}
		c := j.colour(p)
		p2 := dot(c, c)
		if p2 < floor || p2 >= d2 || !j.aligned(c, p2, full, full2) {
			continue
		}
		if q := j.index[p] - 1; q < 0 {
			q = j.push(p, nx+around[o][0], level, c)
			j.nodes[q].source = t + 1
		} else if m := &j.nodes[q]; m.source > 0 {
			if _, known := j.nodes[m.source-1].foreground(); known < full2 {
				m.source = t + 1
			}
		}
	}
}

// floor is the distance up to which a colour is the backdrop's noise.
func (j *unmixer) floor() float32 { return 1.5 + j.b.noise + 0.3*j.b.ring }

// write puts the coverage of all nodes into the mask and clears the index.
func (j *unmixer) write() {
	floor := j.floor()
	for i := range j.nodes {
		n := &j.nodes[i]
		j.index[n.at] = 0
		full, full2 := n.full, n.full2
		if n.source > 0 {
			full, full2 = j.nodes[n.source-1].foreground()
		}
		if full2 <= n.d2 {
			continue
		}
		a := j.coverage(n.c, full, full2)
		if d := sqrt(n.d2); d < 2*floor {
			a *= max(d-floor, 0) / floor
		}
		if j.b.halved {
			a = (a - margin) / (1 - 2*margin)
		}
		j.mask[n.at] = uint8(min(max(a, 0), 1)*255 + 0.5)
	}
}

// coverage is the coverage that explains colour c as a mix of f and the backdrop.
// Video keeps colour at half the resolution of lightness, so where there is
// compression lightness counts for more, if the two differ in it.
func (j *unmixer) coverage(c, f vector, f2 float32) float32 {
	a := dot(c, f) / f2
	if j.b.ring <= 0 {
		return a
	}
	cy, fy := j.b.luma(c), j.b.luma(f)
	c, f = c.less(cy), f.less(fy)
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
