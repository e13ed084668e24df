package motion

// The inner loops in Go. The assembly gives the same bits: products are converted
// to float32 so that no compiler adds to one before it is rounded.

// comparePlain sets s for a patch at the beginning of a, with its derivatives, and one
// at u, v parts of a pixel from the beginning of b. Rows are row apart.
func comparePlain(s *sums, a, b []uint8, dx, dy []int16, row int, u, v int32) {
	*s = sums{}
	above := across(b, u)
	for y := range patch {
		below := across(b[(y+1)*row:], u)
		pa, px, py := a[y*row:][:patch], dx[y*row:][:patch], dy[y*row:][:patch]
		for x, h := range above {
			d := (h + ((below[x]-h)*v+1<<(subpixelBits-1))>>subpixelBits - int32(pa[x])<<subpixelBits) >> (subpixelBits - 4)
			s.d += d
			s.dd += d * d
			s.dx += d * int32(px[x])
			s.dy += d * int32(py[x])
		}
		above = below
	}
}

// across is a patch's row of b, u parts of a pixel on, in 1/64 of brightness.
func across(b []uint8, u int32) (h [patch]int32) {
	b = b[:patch+1]
	for x := range h {
		h[x] = int32(b[x])*(1<<subpixelBits-u) + int32(b[x+1])*u
	}
	return h
}

// blendPlain adds a patch to w pixels of h rows of the flow from to on, with a, b, u and v as above.
// Rows of the flow are step apart.
func (f *Flow) blendPlain(to, step, w, h int, p *fit, a, b []uint8, row int, u, v int32) {
	above := across(b, u)
	for y := range h {
		below := across(b[(y+1)*row:], u)
		pa := a[y*row:][:patch]
		fx, fy, weight := f.x[to+y*step:][:w], f.y[to+y*step:][:w], f.weight[to+y*step:][:w]
		for x := range weight {
			d := above[x] + ((below[x]-above[x])*v+1<<(subpixelBits-1))>>subpixelBits - int32(pa[x])<<subpixelBits
			e := float32(max(d, -d, 1<<subpixelBits))
			k := 1 / float32(e*e)
			weight[x] += k
			fx[x] += float32(k * p.x)
			fy[x] += float32(k * p.y)
		}
		above = below
	}
}

// warpPlain sets which pixels of half a row are known, and the mean of a and b
// there, and their difference.
func (r *refiner) warpPlain(y, odd int, a, b *level) {
	right, bottom := float32(r.w-1), float32(r.h-1)
	at, n := r.at(y, odd), (r.w+1-odd)/2
	pix := a.pix[a.index(0, y):][:r.w]
	u, v, known := r.u[at:][:n], r.v[at:][:n], r.known[at:][:n]
	mean, diff := r.mean[at:][:n], r.diff[at:][:n]
	for i := range n {
		x := 2*i + odd
		tx, ty := float32(x)+u[i], float32(y)+v[i]
		known[i] = 1
		if !(tx >= 0 && ty >= 0 && tx <= right && ty <= bottom) {
			known[i] = 0
			tx, ty = min(max(tx, 0), right), min(max(ty, 0), bottom)
		}
		p, q := float32(pix[x]), b.sample(tx, ty)
		mean[i], diff[i] = (p+q)*0.5, q-p
	}
}

// sample is the bilinear value at a place inside the picture.
func (l *level) sample(x, y float32) float32 {
	i, j := int(x), int(y)
	kx, ky := x-float32(i), y-float32(j)
	p := l.pix[l.index(i, j):][:l.row+2]
	a, b, c, d := float32(p[0]), float32(p[1]), float32(p[l.row]), float32(p[l.row+1])
	top, bottom := a+float32(kx*(b-a)), c+float32(kx*(d-c))
	return top + float32(ky*(bottom-top))
}

// mixPlain sets a line to twice the values between near and far, a quarter of the way to far.
func mixPlain(line, near, far []float32) {
	near, far = near[:len(line)], far[:len(line)]
	for i := range line {
		line[i] = float32(1.5*near[i]) + float32(0.5*far[i])
	}
}

// interpolatePlain sets two values for each of line but the first and the last, a quarter of the way to the one
// before and the one after.
func interpolatePlain(dst, line []float32) {
	for i := range len(dst) / 2 {
		l := line[i : i+3 : i+3]
		m := 0.75 * l[1]
		dst[2*i], dst[2*i+1] = float32(0.25*l[0])+float32(m), float32(m)+float32(0.25*l[2])
	}
}

// constrainPlain makes the constraints of half a row, number half of all. It begins at at,
// and the pixels to the left begin at before. Each is divided by how large it is, so that it counts in pixels
// (H. Zimmer, A. Bruhn, J. Weickert, "Optic Flow in Harmony", IJCV 2011, section 2.2).
func (r *refiner) constrainPlain(half, at, before int) {
	row := r.row
	for g := half * r.groups; g < (half+1)*r.groups; g++ {
		d := &r.data[g]
		m, a, b := r.mean[at-1:][:lanes+2], r.mean[at-row:][:lanes], r.mean[at+row:][:lanes]
		aa, bb := r.mean[at-2*row:][:lanes], r.mean[at+2*row:][:lanes] // two rows above and below
		l, la, lb := r.mean[before:][:lanes+1], r.mean[before-row:][:lanes+1], r.mean[before+row:][:lanes+1]
		z, za, zb := r.diff[at:][:lanes], r.diff[at-row:][:lanes], r.diff[at+row:][:lanes]
		zl := r.diff[before:][:lanes+1]
		for i := range lanes {
			c := m[i+1]
			xx, yy := (m[i+2]-c)-(c-m[i]), (bb[i]-c)-(c-aa[i])
			xy := (lb[i+1] - lb[i]) - (la[i+1] - la[i])
			d[px][i], d[py][i], d[pz][i] = (l[i+1]-l[i])*0.5, (b[i]-a[i])*0.5, z[i]
			d[qx][i], d[qy][i], d[qz][i] = xx*0.25, xy*0.25, (zl[i+1]-zl[i])*0.5
			d[rx][i], d[ry][i], d[rz][i] = xy*0.25, yy*0.25, (zb[i]-za[i])*0.5
		}
		known, u, v := r.known[at:][:lanes], r.u[at:][:lanes], r.v[at:][:lanes]
		for c := px; c <= rx; c += rx - qx {
			scalePlain(&d[c], &d[c+1], &d[c+2], known, u, v)
		}
		at, before = at+lanes, before+lanes
	}
}

// scalePlain brings constraints to pixels and to the flow so far.
func scalePlain(x, y, z *[lanes]float32, known, u, v []float32) {
	for i := range lanes {
		k := known[i] / root(float32(x[i]*x[i])+float32(y[i]*y[i])+gradientFloor*gradientFloor)
		x[i], y[i] = k*x[i], k*y[i]
		z[i] = float32(x[i]*u[i]) + float32(y[i]*v[i]) - float32(k*z[i])
	}
}

// edgesPlain sets the weights of the edges of half a row.
func (r *refiner) edgesPlain(at, before int) {
	n := r.groups * lanes
	u, v, ur, vr := r.u[at:][:n], r.v[at:][:n], r.u[before+1:][:n], r.v[before+1:][:n]
	ub, vb := r.u[at+r.row:][:n], r.v[at+r.row:][:n]
	sx, sy, kx, ky := r.sx[at:][:n], r.sy[at:][:n], r.kx[at:][:n], r.ky[at:][:n]
	for i := range n {
		ux, vx, uy, vy := ur[i]-u[i], vr[i]-v[i], ub[i]-u[i], vb[i]-v[i]
		k := 1 / root(float32(ux*ux)+float32(vx*vx)+float32(uy*uy)+float32(vy*vy)+penaltyEpsilon*penaltyEpsilon)
		kx[i], ky[i] = sx[i]*k, sy[i]*k
	}
}

// systemPlain makes the equations of half a row.
func (r *refiner) systemPlain(half, at, before int) {
	for g := half * r.groups; g < (half+1)*r.groups; g++ {
		w, d := &r.work[g], &r.data[g]
		u, v := r.u[at:at+lanes], r.v[at:at+lanes]
		kl, kr := r.kx[before:before+lanes], r.kx[at:at+lanes]
		ka, kb := r.ky[at-r.row:][:lanes], r.ky[at:at+lanes]
		for i := range lanes {
			a, b, z := d[px][i], d[py][i], d[pz][i]
			e := float32(a*u[i]) + float32(b*v[i]) - z
			k := brightnessWeight / root(float32(e*e)+penaltyEpsilon*penaltyEpsilon)
			xx, xy, yy := float32(k*float32(a*a)), float32(k*float32(a*b)), float32(k*float32(b*b))
			xz, yz := float32(k*float32(a*z)), float32(k*float32(b*z))
			a, b, z = d[qx][i], d[qy][i], d[qz][i]
			c, f, y := d[rx][i], d[ry][i], d[rz][i]
			e = float32(a*u[i]) + float32(b*v[i]) - z
			h := float32(c*u[i]) + float32(f*v[i]) - y
			k = gradientWeight / root(float32(e*e)+float32(h*h)+penaltyEpsilon*penaltyEpsilon)
			xx += float32(k * (float32(a*a) + float32(c*c)))
			xy += float32(k * (float32(a*b) + float32(c*f)))
			yy += float32(k * (float32(b*b) + float32(f*f)))
			xz += float32(k * (float32(a*z) + float32(c*y)))
			yz += float32(k * (float32(b*z) + float32(f*y)))
			sum := kl[i] + kr[i] + ka[i] + kb[i] + divisorFloor
			w[cross][i], w[bx][i], w[by][i] = xy, xz, yz
			w[ix][i], w[iy][i] = overRelaxation/(xx+sum), overRelaxation/(yy+sum)
			w[left][i], w[right][i], w[up][i], w[down][i] = kl[i], kr[i], ka[i], kb[i]
		}
		at, before = at+lanes, before+lanes
	}
}

// relaxPlain improves the flow of half a row.
func (r *refiner) relaxPlain(half, at, before int) {
	for g := half * r.groups; g < (half+1)*r.groups; g++ {
		w := &r.work[g]
		u, v := r.u[at:at+lanes], r.v[at:at+lanes]
		ul, vl := r.u[before:before+lanes+1], r.v[before:before+lanes+1]
		ua, va := r.u[at-r.row:][:lanes], r.v[at-r.row:][:lanes]
		ub, vb := r.u[at+r.row:][:lanes], r.v[at+r.row:][:lanes]
		for i := range lanes {
			x := w[bx][i] + float32(w[left][i]*ul[i]) + float32(w[right][i]*ul[i+1]) + float32(w[up][i]*ua[i]) + float32(w[down][i]*ub[i])
			y := w[by][i] + float32(w[left][i]*vl[i]) + float32(w[right][i]*vl[i+1]) + float32(w[up][i]*va[i]) + float32(w[down][i]*vb[i])
			u[i] = float32((1-overRelaxation)*u[i]) + float32(w[ix][i]*(x-float32(w[cross][i]*v[i])))
			v[i] = float32((1-overRelaxation)*v[i]) + float32(w[iy][i]*(y-float32(w[cross][i]*u[i])))
		}
		at, before = at+lanes, before+lanes
	}
}

// consistencyPlain is Consistency for row y, from pixel x on.
func (g *grid) consistencyPlain(dst, fx, fy, bx, by []float32, x int, y float32) {
	fx, fy, by = fx[:len(dst)], fy[:len(dst)], by[:len(bx)]
	for i := range dst {
		u, v := fx[i], fy[i]
		px, py := float32(x+i)+u, y+v
		if px >= -borderTolerance && py >= -borderTolerance && px <= g.endX && py <= g.endY {
			at, kx, ky := g.at(px, py)
			dx, dy := u+g.of(bx, at, kx, ky), v+g.of(by, at, kx, ky)
			s := halfError + float32(halfErrorShare*length(u, v))
			s *= s
			dst[i] = s / (s + float32(dx*dx) + float32(dy*dy))
		} else {
			dst[i] = 0
		}
	}
}
