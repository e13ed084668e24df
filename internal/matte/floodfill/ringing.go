package floodfill

import "image"

const (
	// ringStart and ringEnd bound, in pixels from the subject, where ringing
	// is measured: outside of what edges and halved chroma reach.
	ringStart, ringEnd = 3, 7
	// ringPeak is the ratio of the strongest ringing to its mean; measured
	// between 6 and 10 for JPEG and H.264.
	ringPeak = 8
	// weakArea bounds in pixels how large a band of ringing may be.
	weakArea = 1500
	// weakWidth is how wide in pixels, per pixel of its rim, it may be.
	weakWidth = 3
)

// ringing estimates how far the compression of the source throws backdrop
// pixels near the subject's edges off the backdrop, beyond the noise there is
// everywhere. It is 0 for sources without such compression.
func (b *metric) ringing(img *image.NRGBA, l *labels) float32 {
	sum, count := float32(0), 0
	for i := range l.runs {
		r := &l.runs[i]
		if r.x1-r.x0 < 2*ringEnd || !l.parts[l.find(r.label)].selected {
			continue
		}
		row := int(r.y) * l.w
		for k := int32(ringStart); k < ringEnd; k++ {
			if r.x0 > 0 {
				sum += max(b.distance(img.Pix, row+int(r.x0+k))-b.noise, 0)
				count++
			}
			if int(r.x1) < l.w {
				sum += max(b.distance(img.Pix, row+int(r.x1-1-k))-b.noise, 0)
				count++
			}
		}
	}
	if count == 0 {
		return 0
	}
	return ringPeak * sum / float32(count)
}

// removeRinging gives back to the flood what stands out from the backdrop no more
// than the ringing of compression does and hangs on something stronger:
// narrow bands of weak pixels around the subject. nodes holds the rim.
func (j *unmixer) removeRinging(tol float32) {
	if len(j.mark) < len(j.index) {
		j.mark = make([]uint8, len(j.index))
	}
	limit := tol + j.b.ring
	j.seen = j.seen[:0]
	for i := range j.nodes {
		n := &j.nodes[i]
		if j.mark[n.at] == 0 && j.b.contrast(n.c) <= limit {
			j.trace(n.at, tol, limit)
		}
	}
	for _, at := range j.seen {
		j.mark[at] = 0
	}
}

// Marks of pixels while weak bands are traced.
const (
	traced = 1 + iota // part of a band
	kept              // part of something too large to be ringing
)

// trace follows the band of weak pixels at a seed and clears it from the mask
// if it is ringing. Pockets of the backdrop's colour that ringing cuts off go
// with it and do not count for its size.
func (j *unmixer) trace(seed int32, tol, limit float32) {
	first := len(j.seen)
	j.seen = append(j.seen, seed)
	j.mark[seed] = traced
	rim, area, strong, large := 0, 1, false, false
	for k := first; k < len(j.seen) && !large; k++ {
		at := j.seen[k]
		if j.index[at] > 0 {
			rim++
		}
		in := j.within(at, at%j.w, 1)
		for o, off := range j.off {
			q := at + off
			if in>>o&1 == 0 || j.mask[q] == 0 {
				continue
			}
			if j.mark[q] != 0 {
				large = large || j.mark[q] == kept
				continue
			}
			c := j.colour(q)
			if j.b.contrast(c) > limit {
				strong = true
				continue
			}
			if maxAbs(c) > tol {
				area++
			}
			j.mark[q] = traced
			j.seen = append(j.seen, q)
		}
		large = large || area > weakArea
	}
	band := j.seen[first:]
	if large || !strong || area > weakWidth*rim {
		for _, at := range band {
			j.mark[at] = kept
		}
		return
	}
	for _, at := range band {
		j.mask[at] = 0
	}
}

// clearNodes empties the list of nodes.
func (j *unmixer) clearNodes() {
	for i := range j.nodes {
		j.index[j.nodes[i].at] = 0
	}
	j.nodes = j.nodes[:0]
}
