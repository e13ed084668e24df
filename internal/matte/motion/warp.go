package motion

// warp brings a row of b back by the flow. Where that leads outside nothing is known.
func (r *refiner) warp(y int, a, b *level) {
	pix := a.pix[a.index(0, y):][:r.w]
	right, bottom := float32(r.w-1), float32(r.h-1)
	for odd := range 2 {
		at, n := r.at(y, odd), (r.w+1-odd)/2
		u, v, known := r.u[at:][:n], r.v[at:][:n], r.known[at:][:n]
		mean, diff := r.mean[at:][:n], r.diff[at:][:n]
		for i := range n {
			x := 2*i + odd
			tx, ty := float32(x)+u[i], float32(y)+v[i]
			if tx >= 0 && ty >= 0 && tx <= right && ty <= bottom {
				known[i] = 1
			} else {
				tx, ty = min(max(tx, 0), right), min(max(ty, 0), bottom)
			}
			p, q := float32(pix[x]), b.sample(tx, ty)
			mean[i], diff[i] = (p+q)/2, q-p
		}
	}
}

// sample is the bilinear value at a place inside the picture.
func (l *level) sample(x, y float32) float32 {
	i, j := int(x), int(y)
	kx, ky := x-float32(i), y-float32(j)
	at := l.index(i, j)
	p := l.pix[at:][:l.row+2]
	a, b, c, d := float32(p[0]), float32(p[1]), float32(p[l.row]), float32(p[l.row+1])
	top, bottom := a+kx*(b-a), c+kx*(d-c)
	return top + ky*(bottom-top)
}

// couple says how far pixels of a row should move as their neighbours do, which is not at all
// beyond the border.
func (r *refiner) couple(y int, l *level) {
	at := l.index(0, y)
	pix, below := l.pix[at:][:r.w+1], l.pix[at+l.row:][:r.w]
	for odd := range 2 {
		at, n := r.at(y, odd), (r.w+1-odd)/2
		sx, sy := r.sx[at:][:n], r.sy[at:][:n]
		for i := range n {
			x := 2*i + odd
			sx[i], sy[i] = gate(pix[x], pix[x+1]), gate(pix[x], below[x])
		}
		if y+1 == r.h {
			clear(sy)
		}
	}
	r.sx[r.at(y, (r.w-1)%2)+(r.w-1)/2] = 0
}

func gate(a, b uint8) float32 { return gates[255+int(a)-int(b)] }

// gates are the weights of edges between pixels that differ by the index less 255.
var gates = func() (g [511]float32) {
	for i := range g {
		g[i] = smooth / (1 + float32(max(i-255, 255-i))/edge)
	}
	return g
}()
