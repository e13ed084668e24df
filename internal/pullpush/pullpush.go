// Package pullpush fills in colours where they are not known, smoothly, from those around: it
// pulls what is known to ever coarser grids, and pushes it back (S. Gortler et al., "The
// Lumigraph", SIGGRAPH 1996, section 3.4).
package pullpush

// Sample is a colour times how far it is known, 0 to 1, and that.
type Sample [4]float32

// Grid is a picture of samples. The zero value is ready, and keeps its memory for the next
// picture. It is for one goroutine.
type Grid struct {
	levels []level
}

// Samples are those of the picture, row by row.
func (g *Grid) Samples() []Sample { return g.levels[0].px }

type level struct {
	w, h int
	px   []Sample
}

// Begin makes a picture of w × h unknown samples, and returns these.
func (g *Grid) Begin(w, h int) []Sample {
	n := 0
	for {
		if n == len(g.levels) {
			g.levels = append(g.levels, level{})
		}
		l := &g.levels[n]
		if n++; cap(l.px) < w*h {
			l.px = make([]Sample, w*h)
		}
		l.w, l.h, l.px = w, h, l.px[:w*h]
		if w == 1 && h == 1 {
			break
		}
		w, h = (w+1)/2, (h+1)/2
	}
	g.levels = g.levels[:n]
	clear(g.levels[0].px)
	return g.levels[0].px
}

// Fill makes all samples known, if any is. Those that are wholly known stay.
func (g *Grid) Fill() {
	for i := 1; i < len(g.levels); i++ {
		g.levels[i].pull(&g.levels[i-1])
	}
	if top := &g.levels[len(g.levels)-1].px[0]; top[3] > 0 {
		for k := range top[:3] {
			top[k] /= top[3]
		}
		top[3] = 1
	}
	for i := len(g.levels) - 2; i >= 0; i-- {
		g.levels[i].push(&g.levels[i+1])
	}
}

// pull sets l to the sums of up to four samples of the finer level.
func (l *level) pull(fine *level) {
	for y := range l.h {
		for x := range l.w {
			var sum Sample
			for v := 2 * y; v < min(2*y+2, fine.h); v++ {
				for u := 2 * x; u < min(2*x+2, fine.w); u++ {
					s := &fine.px[v*fine.w+u]
					for k := range sum {
						sum[k] += s[k]
					}
				}
			}
			if sum[3] > 1 {
				for k := range sum[:3] {
					sum[k] /= sum[3]
				}
				sum[3] = 1
			}
			l.px[y*l.w+x] = sum
		}
	}
}

// push fills samples that are not fully known from the coarser level,
// interpolated between its four nearest samples.
func (l *level) push(coarse *level) {
	for y := range l.h {
		up, down := coarse.row(y/2), coarse.row(secondNearest(y, coarse.h))
		for x := range l.w {
			s := &l.px[y*l.w+x]
			lack := 1 - s[3]
			if lack <= 0 {
				continue
			}
			i, j := x/2, secondNearest(x, coarse.w)
			for k := range s {
				s[k] += lack * (9*up[i][k] + 3*up[j][k] + 3*down[i][k] + down[j][k]) / 16
			}
		}
	}
}

func (l *level) row(y int) []Sample { return l.px[y*l.w : (y+1)*l.w] }

// secondNearest is which of n coarser samples is the second nearest to v.
func secondNearest(v, n int) int {
	if v%2 == 0 {
		return max(v/2-1, 0)
	}
	return min(v/2+1, n-1)
}
