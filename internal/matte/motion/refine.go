package motion

import "math"

// Variational refinement makes the flow smooth where nothing speaks against it: it
// minimises how much brightness and its gradient change along the flow, and how much the flow
// changes (T. Brox, A. Bruhn, N. Papenberg, J. Weickert, "High Accuracy Optical Flow
// Estimation Based on a Theory for Warping", ECCV 2004). Weights are those of section
// 2.3 of the DIS paper.
const (
	// rounds is how often the robust weights are found anew, sweeps how often the
	// equations are solved by over-relaxation in each.
	rounds, sweeps = 5, 5
	over           = 1.6
	// smooth, bright and steep weigh the flow's change, that of brightness and that of
	// its gradient.
	smooth, bright, steep = 20, 5, 10
	// blunt is the root below which gradients count as little, in brightness per pixel;
	// linear is where a deviation begins to count by its size instead of its square.
	blunt, linear = 0.1, 0.001
)

// lanes is how many values are worked on at once.
const lanes = 8

// The equations of lanes pixels: each is brought to three constraints first, which say
// what x and y times the flow, and z, should add up to, then to a system for both
// components, with the weights of its four edges.
const (
	px, py, pz = 0, 1, 2 // brightness
	qx, qy, qz = 3, 4, 5 // its horizontal gradient
	rx, ry, rz = 6, 7, 8 // its vertical gradient

	cross, bx, by, ix, iy, left, right, up, down = 0, 1, 2, 3, 4, 5, 6, 7, 8

	terms = 9
)

type block [terms][lanes]float32

// refiner refines flows. A row of its planes has the even pixels first, then the odd
// ones, so that neighbours of one kind, which the solver must not change together, are all
// of the other. Each half begins with a margin, and there is a row before the first.
type refiner struct {
	w, h   int
	groups int // blocks in half a row
	half   int // from a row's even pixels to its odd ones
	row    int // from one row to the next

	u, v       []float32 // the flow
	kx, ky     []float32 // weights of the edges to the right of pixels and below them
	data, work []block

	warped         // the other picture, brought back by the flow
	valid  []uint8 // 1 where that is inside
}

// warped has rows of w + 2·rim pixels: the mean of two pictures and their difference.
type warped struct {
	mean, diff []float32
}

// rim is how far the planes of warped go beyond the picture.
const rim = 2

// refine changes the flow x, y from a to b.
func (r *refiner) refine(x, y []float32, a, b *level) {
	r.resize(a.w, a.h)
	r.scatter(x, y)
	r.warp(x, y, a, b)
	for y := range r.h {
		r.constrain(y)
	}
	for range rounds {
		r.stiffen()
		r.assemble()
		r.solve()
	}
	r.gather(x, y)
}

func (r *refiner) resize(w, h int) {
	r.w, r.h = w, h
	r.groups = ((w+1)/2 + lanes - 1) / lanes
	r.half = (r.groups + 1) * lanes
	r.row = 2 * r.half
	n := (h+2)*r.row + lanes
	for _, p := range []*[]float32{&r.u, &r.v, &r.kx, &r.ky} {
		*p = sized(*p, n)
		clear(*p)
	}
	r.data, r.work = sized(r.data, 2*r.groups*h), sized(r.work, 2*r.groups*h)
	n = (w + 2*rim) * (h + 2*rim)
	r.mean, r.diff, r.valid = sized(r.mean, n), sized(r.diff, n), sized(r.valid, w*h)
}

// at is where the even or odd pixels of a row begin.
func (r *refiner) at(y, odd int) int { return (y+1)*r.row + odd*r.half + lanes }

func (r *refiner) scatter(x, y []float32) {
	for j := range r.h {
		e, o := r.at(j, 0), r.at(j, 1)
		for i := range r.w {
			at := e + i/2
			if i&1 == 1 {
				at = o + i/2
			}
			r.u[at], r.v[at] = x[j*r.w+i], y[j*r.w+i]
		}
	}
}

func (r *refiner) gather(x, y []float32) {
	for j := range r.h {
		e, o := r.at(j, 0), r.at(j, 1)
		for i := range r.w {
			at := e + i/2
			if i&1 == 1 {
				at = o + i/2
			}
			x[j*r.w+i], y[j*r.w+i] = r.u[at], r.v[at]
		}
	}
}

// warp brings b back by the flow. Where that leads outside nothing is known.
func (r *refiner) warp(x, y []float32, a, b *level) {
	row := r.w + 2*rim
	for j := range r.h {
		pa := a.pix[a.index(0, j):][:r.w]
		mean, diff := r.mean[(j+rim)*row+rim:][:r.w], r.diff[(j+rim)*row+rim:][:r.w]
		for i := range pa {
			u, v := float32(i)+x[j*r.w+i], float32(j)+y[j*r.w+i]
			r.valid[j*r.w+i] = 1
			if !(u >= 0 && v >= 0 && u <= float32(r.w-1) && v <= float32(r.h-1)) {
				r.valid[j*r.w+i] = 0
				u, v = min(max(u, 0), float32(r.w-1)), min(max(v, 0), float32(r.h-1))
			}
			c := b.sample(u, v)
			p := float32(pa[i])
			mean[i], diff[i] = (p+c)/2, c-p
		}
	}
	border(r.mean, r.w, r.h)
	border(r.diff, r.w, r.h)
}

// sample is the bilinear value at a place inside the picture.
func (l *level) sample(x, y float32) float32 {
	i, j := int(x), int(y)
	kx, ky := x-float32(i), y-float32(j)
	at := l.index(i, j)
	a, b := l.pix[at:at+2], l.pix[at+l.row:][:2]
	top := float32(a[0]) + kx*(float32(a[1])-float32(a[0]))
	bottom := float32(b[0]) + kx*(float32(b[1])-float32(b[0]))
	return top + ky*(bottom-top)
}

// border repeats the border of a plane in its rim.
func border(p []float32, w, h int) {
	row := w + 2*rim
	for y := range h {
		line := p[(y+rim)*row:][:row]
		for i := range rim {
			line[i], line[rim+w+i] = line[rim], line[rim+w-1]
		}
	}
	for i := range rim {
		copy(p[i*row:][:row], p[rim*row:])
		copy(p[(rim+h+i)*row:][:row], p[(rim+h-1)*row:][:row])
	}
}

// constrain makes the constraints of a row, each divided by how large it is, so that
// it counts in pixels (H. Zimmer and others, "Complementary Optic Flow", EMMCVPR 2009).
func (r *refiner) constrain(y int) {
	row := r.w + 2*rim
	at := (y+rim)*row + rim
	for odd := range 2 {
		blocks := r.data[(2*y+odd)*r.groups:][:r.groups]
		clear(blocks)
		for x := odd; x < r.w; x += 2 {
			if r.valid[y*r.w+x] == 0 {
				continue
			}
			d := &blocks[x/2/lanes]
			u, v := r.u[r.at(y, odd)+x/2], r.v[r.at(y, odd)+x/2]
			i := x / 2 % lanes
			m, z := r.mean[at+x-2*row-2:][:4*row+5], r.diff[at+x-2*row-2:][:4*row+5]
			c := 2*row + 2 // the pixel itself
			gx, gy := (m[c+1]-m[c-1])/2, (m[c+row]-m[c-row])/2
			xx, yy := (m[c+2]-2*m[c]+m[c-2])/4, (m[c+2*row]-2*m[c]+m[c-2*row])/4
			xy := (m[c+row+1] - m[c+row-1] - m[c-row+1] + m[c-row-1]) / 4
			d.set(px, i, gx, gy, z[c], u, v)
			d.set(qx, i, xx, xy, (z[c+1]-z[c-1])/2, u, v)
			d.set(rx, i, xy, yy, (z[c+row]-z[c-row])/2, u, v)
		}
	}
}

// set sets a constraint: x·(flow's change) + z = 0, for the flow u, v so far.
func (d *block) set(c, i int, x, y, z, u, v float32) {
	k := 1 / float32(math.Sqrt(float64(x*x+y*y+blunt*blunt)))
	x, y, z = k*x, k*y, k*z
	d[c][i], d[c+1][i], d[c+2][i] = x, y, z-x*u-y*v
}

// stiffen sets the weights of the edges.
func (r *refiner) stiffen() {
	last := (r.w - 1) / 2
	for y := range r.h {
		for odd := range 2 {
			at := r.at(y, odd)
			if (r.w-1)%2 == odd { // the border repeats beyond it
				next := r.at(y, 1-odd) + last + odd
				r.u[next], r.v[next] = r.u[at+last], r.v[at+last]
			}
		}
	}
	end := r.at(r.h-1, 0)
	copy(r.u[end+r.row:][:r.row-lanes], r.u[end:])
	copy(r.v[end+r.row:][:r.row-lanes], r.v[end:])
	for y := range r.h {
		for odd := range 2 {
			at := r.at(y, odd)
			next := r.at(y, 1-odd) + odd
			r.edges(at, next, r.groups*lanes)
			n := (r.w + 1 - odd) / 2
			clear(r.kx[at+n : at+r.groups*lanes])
			clear(r.ky[at+n : at+r.groups*lanes])
			if (r.w-1)%2 == odd {
				r.kx[at+last] = 0
			}
			if y == r.h-1 {
				clear(r.ky[at : at+n])
			}
		}
	}
}

// edges sets the weights of n pixels.
func (r *refiner) edges(at, next, n int) {
	for i := range n {
		u, v := r.u[at+i], r.v[at+i]
		ux, vx := r.u[next+i]-u, r.v[next+i]-v
		uy, vy := r.u[at+r.row+i]-u, r.v[at+r.row+i]-v
		k := smooth / float32(math.Sqrt(float64(ux*ux+vx*vx+uy*uy+vy*vy+linear*linear)))
		r.kx[at+i], r.ky[at+i] = k, k
	}
}

// assemble makes the systems of equations.
func (r *refiner) assemble() {
	for y := range r.h {
		for odd := range 2 {
			at, other := r.at(y, odd), r.at(y, 1-odd)-1+odd
			i := (2*y + odd) * r.groups
			for g := range r.groups {
				r.system(&r.work[i+g], &r.data[i+g], at+g*lanes, other+g*lanes)
			}
		}
	}
}

func (r *refiner) system(w, d *block, at, before int) {
	for i := range lanes {
		u, v := r.u[at+i], r.v[at+i]
		e := d[pz][i] + d[px][i]*u + d[py][i]*v
		f := d[qz][i] + d[qx][i]*u + d[qy][i]*v
		g := d[rz][i] + d[rx][i]*u + d[ry][i]*v
		k := bright / float32(math.Sqrt(float64(e*e+linear*linear)))
		l := steep / float32(math.Sqrt(float64(f*f+g*g+linear*linear)))
		xx := k*d[px][i]*d[px][i] + l*(d[qx][i]*d[qx][i]+d[rx][i]*d[rx][i])
		xy := k*d[px][i]*d[py][i] + l*(d[qx][i]*d[qy][i]+d[rx][i]*d[ry][i])
		yy := k*d[py][i]*d[py][i] + l*(d[qy][i]*d[qy][i]+d[ry][i]*d[ry][i])
		xz := k*d[px][i]*d[pz][i] + l*(d[qx][i]*d[qz][i]+d[rx][i]*d[rz][i])
		yz := k*d[py][i]*d[pz][i] + l*(d[qy][i]*d[qz][i]+d[ry][i]*d[rz][i])
		kl, kr, ku, kd := r.kx[before+i], r.kx[at+i], r.ky[at-r.row+i], r.ky[at+i]
		sum := kl + kr + ku + kd + 1e-6
		w[cross][i], w[bx][i], w[by][i] = xy, -xz, -yz
		w[ix][i], w[iy][i] = over/(xx+sum), over/(yy+sum)
		w[left][i], w[right][i], w[up][i], w[down][i] = kl, kr, ku, kd
	}
}

// solve relaxes all pixels, those of one kind after those of the other. The sweeps follow each
// other down the picture two rows apart, while what they need is near.
func (r *refiner) solve() {
	for front := range r.h + 2*sweeps - 1 {
		for s := range sweeps {
			y := front - 2*s
			r.relax(y, y&1)
			r.relax(y-1, y&1)
		}
	}
}

// relax improves the pixels of half a row.
func (r *refiner) relax(y, odd int) {
	if y < 0 || y >= r.h {
		return
	}
	at, before := r.at(y, odd), r.at(y, 1-odd)-1+odd
	blocks := r.work[(2*y+odd)*r.groups:][:r.groups]
	for g := range blocks {
		r.step(&blocks[g], at+g*lanes, before+g*lanes)
	}
}

func (r *refiner) step(w *block, at, before int) {
	u, v := r.u[at:at+lanes], r.v[at:at+lanes]
	ul, vl := r.u[before:before+lanes+1], r.v[before:before+lanes+1]
	ua, va := r.u[at-r.row:][:lanes], r.v[at-r.row:][:lanes]
	ub, vb := r.u[at+r.row:][:lanes], r.v[at+r.row:][:lanes]
	for i := range lanes {
		x := w[bx][i] + w[left][i]*ul[i] + w[right][i]*ul[i+1] + w[up][i]*ua[i] + w[down][i]*ub[i]
		y := w[by][i] + w[left][i]*vl[i] + w[right][i]*vl[i+1] + w[up][i]*va[i] + w[down][i]*vb[i]
		u[i] = (1-over)*u[i] + w[ix][i]*(x-w[cross][i]*v[i])
		v[i] = (1-over)*v[i] + w[iy][i]*(y-w[cross][i]*u[i])
	}
}
