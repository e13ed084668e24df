package floodfill

import (
	"encoding/binary"
	"image"
	"math"
)

// mixedPixels is the working memory of Decontaminate: the partly covered pixels,
// sorted by coverage.
type mixedPixels struct {
	at     []int32
	sorted []int32
	inner  []int32 // of restoreChroma
	near   []bool  // of restoreChroma; false between calls
}

// Decontaminate replaces, in place, the colour of partly covered pixels by the
// subject's own: the mix undone where the coverage is large, and the colour of
// the more covered neighbours where it is small and the division would amplify
// noise. Other pixels and source alpha stay as they are. m has img's size, and
// the rows of both are contiguous.
func (e *Estimator) Decontaminate(img *image.NRGBA, m *image.Alpha, _ *image.NRGBA) {
	if e.backdrop.Transparent {
		return
	}
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	s.mixed.collect(m)
	if e.metric.halved {
		s.mixed.restoreChroma(&e.metric, img, m)
		return
	}
	for _, at := range s.mixed.sorted {
		e.restore(img, m, int(at))
	}
}

// collect sorts the partly covered pixels by falling coverage.
func (p *mixedPixels) collect(m *image.Alpha) {
	p.at = p.at[:0]
	w, h := m.Rect.Dx(), m.Rect.Dy()
	var count [257]int32
	for y := range h {
		row := m.Pix[y*m.Stride : y*m.Stride+w]
		for x := 0; x < w; x++ {
			if x+8 <= w {
				if v := binary.LittleEndian.Uint64(row[x:]); v == 0 || v == math.MaxUint64 {
					x += 7
					continue
				}
			}
			if a := row[x]; a != 0 && a != 255 {
				p.at = append(p.at, int32(y*w+x))
				count[255-a+1]++
			}
		}
	}
	for i := 1; i < len(count); i++ {
		count[i] += count[i-1]
	}
	if cap(p.sorted) < len(p.at) {
		p.sorted = make([]int32, len(p.at), 2*len(p.at))
	}
	p.sorted = p.sorted[:len(p.at)]
	for _, at := range p.at {
		a := m.Pix[int(at)/w*m.Stride+int(at)%w]
		p.sorted[count[255-a]] = at
		count[255-a]++
	}
}

// restore gives one pixel its own colour. All pixels of more coverage have
// theirs already.
func (e *Estimator) restore(img *image.NRGBA, m *image.Alpha, at int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	x, y := at%w, at/w
	a := m.Pix[at]
	var sum vector
	var weight float32
	for _, o := range around {
		qx, qy := x+int(o[0]), y+int(o[1])
		if uint(qx) >= uint(w) || uint(qy) >= uint(h) {
			continue
		}
		b := m.Pix[qy*w+qx]
		if b <= a {
			continue
		}
		p := img.Pix[4*(qy*w+qx):]
		k := float32(b) * float32(b-a)
		sum = sum.plus(vector{float32(p[0]), float32(p[1]), float32(p[2])}.times(k))
		weight += k
	}
	p, back := img.Pix[4*at:4*at+3], e.metric.backdrop(at)
	share := float32(a) / 255
	own := float32(1)
	if weight > 0 {
		own = min(max((share-0.1)/0.4, 0), 1)
		if e.metric.slope != nil { // a palette's error would be un-mixed, too
			own = min(max((share-0.7)/0.3, 0), 1)
		}
	}
	for k, c := range [3]struct{ back, sum float32 }{{back.r, sum.r}, {back.g, sum.g}, {back.b, sum.b}} {
		v := min(max((float32(p[k])-c.back)/share+c.back, 0), 255)
		if own < 1 {
			v = own*v + (1-own)*c.sum/weight
		}
		p[k] = uint8(v + 0.5)
	}
}
