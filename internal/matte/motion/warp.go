package motion

// warp moves b back by the flow. Pixels from outside the picture are unknown.
func (r *refiner) warp(a, b *level) {
	for y := range r.h {
		for odd := range 2 {
			r.warpHalf(y, odd, a, b)
			n := (r.w + 1 - odd) / 2
			clear(r.known[r.at(y, odd)+n:][:r.groups*lanes-n])
		}
	}
	r.repeatBorder(r.mean)
	r.repeatBorder(r.diff)
}

// setSmoothness says how far pixels of a row should move as their neighbours do, which is not at all
// beyond the border.
func (r *refiner) setSmoothness(y int, l *level) {
	at := l.index(0, y)
	pix, below := l.pix[at:][:r.w+1], l.pix[at+l.row:][:r.w]
	for odd := range 2 {
		at, n := r.at(y, odd), (r.w+1-odd)/2
		sx, sy := r.sx[at:][:n], r.sy[at:][:n]
		for i := range n {
			x := 2*i + odd
			sx[i], sy[i] = edgeWeight(pix[x], pix[x+1]), edgeWeight(pix[x], below[x])
		}
		if y+1 == r.h {
			clear(sy)
		}
	}
	r.sx[r.at(y, (r.w-1)%2)+(r.w-1)/2] = 0
}

func edgeWeight(a, b uint8) float32 { return edgeWeights[255+int(a)-int(b)] }

// edgeWeights are the weights of edges between pixels that differ by the index less 255.
var edgeWeights = func() (g [511]float32) {
	for i := range g {
		g[i] = smoothnessWeight / (1 + float32(max(i-255, 255-i))/edgeStep)
	}
	return g
}()
