package floodfill

import (
	"encoding/binary"
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
	reach = 12
	// lift bounds by which factor a thin stroke's colour may be raised.
	lift = 2.5
)

// node is a pixel of a ramp: of the rim or a soft edge.
type node struct {
	at    int32 // pixel index
	x, y  int32
	up    int32 // node the ramp leads to, -1 at the summit
	level int8  // steps from the flood: 1… inside, 0, -1… outside
	hops  int8  // steps along the stroke that full may still travel
	thin  bool  // a summit without solid pixels around it
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

var around = [8][2]int32{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}

// job is what one call works on.
type job struct {
	*ramp
	b    *band
	pix  []byte
	mask []byte // 255 and 0 until the end
	w, h int32
	pw   int // bytes in a row of pix
	mw   int // bytes in a row of mask
	ring float32
}

// unmix replaces the 0 and 255 in dst, where they meet, by coverage.
func (r *ramp) unmix(b *band, img *image.NRGBA, dst *image.Alpha, tol int, ring float32) {
	w, h := dst.Rect.Dx(), dst.Rect.Dy()
	if len(r.index) < w*h {
		r.index = make([]int32, w*h)
	}
	r.nodes = r.nodes[:0]
	j := job{ramp: r, b: b, pix: img.Pix, mask: dst.Pix, w: int32(w), h: int32(h), pw: img.Stride, mw: dst.Stride, ring: ring}
	j.rim()
	if ring > 2 {
		j.weaken(float32(tol))
		j.forget()
		j.rim()
	}
	rim := len(r.nodes)
	j.ascend()
	j.summits(rim)
	j.spread(rim)
	inside := len(r.nodes)
	j.descend(rim, inside)
	j.write()
}

// rim makes nodes of the subject's pixels that touch the flood, in raster
// order.
func (j *job) rim() {
	for y := int32(0); y < j.h; y++ {
		row := j.mask[int(y)*j.mw : int(y)*j.mw+int(j.w)]
		up, down := row, row
		if y > 0 {
			up = j.mask[int(y-1)*j.mw : int(y-1)*j.mw+int(j.w)]
		}
		if y < j.h-1 {
			down = j.mask[int(y+1)*j.mw : int(y+1)*j.mw+int(j.w)]
		}
		x := int32(0)
		for ; x+8 <= j.w; x += 8 {
			c := binary.LittleEndian.Uint64(row[x:])
			if c == 0 {
				continue
			}
			u, d := binary.LittleEndian.Uint64(up[x:]), binary.LittleEndian.Uint64(down[x:])
			if c&u&d == math.MaxUint64 && (x == 0 || up[x-1]&row[x-1]&down[x-1] == 255) &&
				(x+8 == j.w || up[x+8]&row[x+8]&down[x+8] == 255) {
				continue
			}
			for i := x; i < x+8; i++ {
				j.touch(up, row, down, i, y)
			}
		}
		for ; x < j.w; x++ {
			j.touch(up, row, down, x, y)
		}
	}
}

// touch adds the pixel if it is of the subject and has a neighbour in the
// flood.
func (j *job) touch(up, row, down []byte, x, y int32) {
	if row[x] == 0 {
		return
	}
	all := up[x] & down[x]
	if x > 0 {
		all &= up[x-1] & row[x-1] & down[x-1]
	}
	if x < j.w-1 {
		all &= up[x+1] & row[x+1] & down[x+1]
	}
	if all == 0 {
		j.push(x, y, 1, j.color(x, y))
	}
}

func (j *job) color(x, y int32) [3]float32 { return j.b.vec(j.pix[int(y)*j.pw+4*int(x):]) }

func (j *job) push(x, y int32, level int8, c [3]float32) int32 {
	at := y*j.w + x
	j.nodes = append(j.nodes, node{at: at, x: x, y: y, up: -1, level: level, c: c, d2: dot(c, c)})
	j.index[at] = int32(len(j.nodes))
	return int32(len(j.nodes) - 1)
}

// ascend follows the ramps from the rim into the subject. Compressed colour
// comes in blocks two pixels wide, so there it also looks beyond neighbours.
func (j *job) ascend() {
	far := 1
	if j.ring > 2 {
		far = 3
	}
	for i := 0; i < len(j.nodes); i++ {
		best := int32(-1)
		for k := 1; k <= far && best < 0; k++ {
			best = j.higher(i, int32(k))
		}
		j.nodes[i].up = best
	}
}

// higher returns the node farthest from the backdrop among the pixels k away
// from node i that continue its ramp, or -1. It adds those that are no nodes.
func (j *job) higher(i int, k int32) int32 {
	n := j.nodes[i]
	d := sqrt(n.d2)
	least := d + j.b.step() + climb*d
	least *= least
	best, bestD := int32(-1), float32(0)
	for _, o := range around {
		x, y := n.x+k*o[0], n.y+k*o[1]
		if uint32(x) >= uint32(j.w) || uint32(y) >= uint32(j.h) || j.mask[int(y)*j.mw+int(x)] == 0 {
			continue
		}
		c := j.color(x, y)
		d2 := dot(c, c)
		if d2 < least || !j.aligned(n.c, n.d2, c, d2) {
			continue
		}
		q := j.index[y*j.w+x] - 1
		if q < 0 {
			if n.level > inward {
				continue
			}
			q = j.push(x, y, n.level+int8(k), c)
		}
		if d2 > bestD {
			best, bestD = q, d2
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
	limit := 5 + j.b.noise + j.ring + (veer+0.02*min(j.ring, 15))*sqrt(c2)
	return beside <= limit*limit
}

// summits sets the colour of the nodes that no ramp leads on from: the mean
// of the pixels around that are as far from the backdrop.
func (j *job) summits(rim int) {
	for i := range j.nodes {
		n := &j.nodes[i]
		if n.up >= 0 {
			continue
		}
		near := 3 + 2*j.b.noise
		floor := sqrt(n.d2) - 1 - j.b.noise
		floor *= max(floor, 0)
		sum, count, solid := n.c, float32(1), false
		for _, o := range around {
			x, y := n.x+o[0], n.y+o[1]
			if uint32(x) >= uint32(j.w) || uint32(y) >= uint32(j.h) || j.mask[int(y)*j.mw+int(x)] == 0 {
				continue
			}
			q := j.index[y*j.w+x] - 1
			solid = solid || q < 0 || q >= int32(rim)
			c := j.color(x, y)
			if dot(c, c) >= floor && close3(c, n.c, near) {
				for k := range sum {
					sum[k] += c[k]
				}
				count++
			}
		}
		n.full = [3]float32{sum[0] / count, sum[1] / count, sum[2] / count}
		n.thin = i < rim && !solid
		if n.thin {
			n.full = n.c
		}
		n.full2 = dot(n.full, n.full)
		n.hops = reach
	}
}

func close3(a, b [3]float32, d float32) bool {
	return abs(a[0]-b[0]) <= d && abs(a[1]-b[1]) <= d && abs(a[2]-b[2]) <= d
}

// spread carries the strongest colour along thin strokes, whose pixels may
// never be covered fully. The rim is in raster order, so one pass forward and
// one backward reach everything within the limit of steps.
func (j *job) spread(rim int) {
	for i := range rim {
		j.nodes[i].up = j.top(int32(i))
	}
	for i := range rim {
		j.take(int32(i), around[:4])
	}
	for i := rim - 1; i >= 0; i-- {
		j.take(int32(i), around[4:])
	}
}

// top returns the summit above node i, which may be i itself.
func (j *job) top(i int32) int32 {
	for j.nodes[i].up >= 0 && j.nodes[i].up != i {
		i = j.nodes[i].up
	}
	return i
}

// take raises the colour of a thin summit to that of the given neighbours.
func (j *job) take(i int32, from [][2]int32) {
	t := j.nodes[i].up
	n := &j.nodes[t]
	if !n.thin {
		return
	}
	p := j.nodes[i]
	for _, o := range from {
		x, y := p.x+o[0], p.y+o[1]
		if uint32(x) >= uint32(j.w) || uint32(y) >= uint32(j.h) {
			continue
		}
		q := j.index[y*j.w+x] - 1
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
// colour stands out from the backdrop's noise.
func (j *job) descend(rim, inside int) {
	floor := j.floor()
	floor *= floor
	for i := 0; i < len(j.nodes); i++ {
		if i == rim {
			i = inside
			if i >= len(j.nodes) {
				break
			}
		}
		n := j.nodes[i]
		if n.level <= 1-outward {
			continue
		}
		t := i
		if n.level > 0 {
			t = int(j.top(int32(i)))
		} else {
			t = int(n.up)
		}
		full, full2 := j.nodes[t].full, j.nodes[t].full2
		level := min(n.level, 1) - 1
		for _, o := range around {
			x, y := n.x+o[0], n.y+o[1]
			if uint32(x) >= uint32(j.w) || uint32(y) >= uint32(j.h) || j.mask[int(y)*j.mw+int(x)] != 0 {
				continue
			}
			c := j.color(x, y)
			d2 := dot(c, c)
			if d2 < floor || d2 >= n.d2 || !j.aligned(c, d2, full, full2) {
				continue
			}
			if q := j.index[y*j.w+x] - 1; q < 0 {
				q = j.push(x, y, level, c)
				j.nodes[q].up = int32(t)
			} else if m := &j.nodes[q]; m.level <= 0 && j.nodes[m.up].full2 < full2 {
				m.up = int32(t)
			}
		}
	}
}

// floor is the distance up to which a colour is the backdrop's noise.
func (j *job) floor() float32 { return 1.5 + j.b.noise + 0.3*j.ring }

// write puts the coverage of all nodes into the mask and clears the index.
func (j *job) write() {
	floor := j.floor()
	for i := range j.nodes {
		n := &j.nodes[i]
		j.index[n.at] = 0
		t := &j.nodes[j.top(int32(i))]
		if t.full2 <= 0 {
			continue
		}
		a := j.share(n.c, t.full, t.full2)
		if d := sqrt(n.d2); d < 2*floor {
			a *= max(d-floor, 0) / floor
		}
		j.mask[int(n.y)*j.mw+int(n.x)] = uint8(min(max(a, 0), 1)*255 + 0.5)
	}
}

// share is the coverage that explains colour c as a mix of f and the backdrop.
// Video keeps colour at half the resolution of lightness, so where there is
// compression lightness counts for more, if the two differ in it.
func (j *job) share(c, f [3]float32, f2 float32) float32 {
	a := dot(c, f) / f2
	if j.ring <= 0 {
		return a
	}
	cy, fy := luma(c), luma(f)
	for k := range c {
		c[k] -= cy
		f[k] -= fy
	}
	sigma := 2 + 0.3*j.ring
	wy, wc := fy/sigma*fy/sigma, float32(0)
	sum := cy * fy / (sigma * sigma)
	if q := dot(f, f); q > 100 {
		wc = 16
		sum += wc * dot(c, f) / q
	}
	if wy+wc == 0 {
		return a
	}
	t := min(j.ring/4, 1)
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
