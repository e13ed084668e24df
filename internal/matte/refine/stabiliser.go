package refine

import (
	"bytes"
	"image"
	"slices"

	"github.com/bgremove/bgremove/internal/buffer"
)

const (
	// unchangedDiff is the mean difference of colour, in 1/255, up to which a place
	// counts as unchanged; from changedDiff on it counts as new.
	unchangedDiff, changedDiff = 4, 12
	// fallFactor is how much more a difference counts where the matte falls.
	fallFactor = 1.4
	// stillWeight is the least weight of a new matte where nothing moves, movingWeight
	// that where something does: taking the past along blurs it. In a fade, where
	// networks see more and more or less and less, it is fadingWeight.
	stillWeight, movingWeight, fadingWeight = 1.0 / 8, 0.25, 0.5
	// blockSide is the side in pixels of the blocks that move as one.
	blockSide = 8
	// huberLimit is how far a new matte may move from the past where the picture is
	// not new. A larger deviation counts no more, as in the robust mean of P.
	// J. Huber (Ann. Math. Statistics 35(1), 1964).
	huberLimit = 20
	// maxAge is the age beyond which the past gains no more weight.
	maxAge = 8
)

// Stabiliser keeps the mattes of one clip steady over time. Where the picture
// is unchanged, the matte keeps most of its past. Where it is new, only the new
// matte counts, so nothing lags. Moving places take their past along.
// Flickering light is not a change, a fade is. A cut restarts it. The zero
// value is ready. It is for one goroutine, in the order of the frames.
//
// The idea to gate smoothing by change of the picture comes from the background
// removal plugin of OBS (pull requests 498 and 605 of obs-backgroundremoval);
// there the past does not move.
type Stabiliser struct {
	w, h, tw, th int // pixels and blocks, across and down
	primed       bool
	cuts         CutDetector
	light        exposure
	fading       bool
	// ref is the picture that past belongs to, past the matte given out
	// last; next are those of the frame in work.
	ref, nextRef   []uint8
	past, next     []uint8
	age, nextAge   []uint8  // per pixel: frames that its past is the mean of
	field, moved   []vector // per block: where its past was
	block, trial   block
	frame, current []uint8 // picture and matte in work
}

// vector is a displacement in eighths of a pixel.
type vector struct{ x, y int32 }

// blockCells is the number of cells along a block.
const blockCells = blockSide / cell

// block is the past of one place: its matte, colours and ages. diff and sums are
// how much the colours of every pixel and cell differ from the present, as sums
// over channels. minWeight is the least weight of the new matte for every cell.
type block struct {
	matte     [blockSide * blockSide]uint8
	colour    [blockSide * blockSide * 4]uint8
	age       [blockSide * blockSide]uint8
	diff      [blockSide * blockSide]int32
	sums      [blockCells * blockCells]int32
	minWeight [blockCells * blockCells]float32
}

// Apply steadies m, the matte of img, in place. The first frame, one after a
// cut and one of another size than before stay as they are. img stays as it
// is.
func (s *Stabiliser) Apply(img *image.NRGBA, m *image.Alpha) {
	w, h := size(m)
	match(img, w, h)
	if w == 0 || h == 0 {
		return
	}
	if w != s.w || h != s.h {
		s.resize(w, h)
	}
	s.frame, s.current = img.Pix[:4*w*h], m.Pix[:w*h]
	if cut := s.cuts.Next(img); cut || !s.primed {
		s.restart()
	} else {
		s.fading = s.light.adapt(s.ref, s.frame, w)
		s.begin()
		for y := range s.th {
			for x := range s.tw {
				s.steadyBlock(x, y)
			}
		}
		s.past, s.next = s.next, s.past
		s.ref, s.nextRef = s.nextRef, s.ref
		s.age, s.nextAge = s.nextAge, s.age
		s.field, s.moved = s.moved, s.field
		copy(m.Pix, s.past)
	}
	s.frame, s.current = nil, nil
}

func (s *Stabiliser) resize(w, h int) {
	s.w, s.h, s.primed = w, h, false
	s.tw, s.th = (w+blockSide-1)/blockSide, (h+blockSide-1)/blockSide
	n := s.tw * s.th
	s.ref, s.nextRef = buffer.Sized(s.ref, 4*w*h), buffer.Sized(s.nextRef, 4*w*h)
	s.past, s.next = buffer.Sized(s.past, w*h), buffer.Sized(s.next, w*h)
	s.age, s.nextAge = buffer.Sized(s.age, w*h), buffer.Sized(s.nextAge, w*h)
	s.field, s.moved = buffer.Sized(s.field, n), buffer.Sized(s.moved, n)
}

func (s *Stabiliser) restart() {
	copy(s.past, s.current)
	copy(s.ref, s.frame)
	s.light = exposure{}
	clear(s.field)
	for i := range s.age {
		s.age[i] = 1
	}
	s.primed = true
}

// begin takes the whole frame as it is, and ages the unchanged places by a
// frame.
func (s *Stabiliser) begin() {
	copy(s.next, s.current)
	copy(s.nextRef, s.frame)
	for i, a := range s.age {
		s.nextAge[i] = min(a+1, maxAge)
	}
	clear(s.moved)
}

// steadyBlock finds the matte of one block, which needs nothing where past and
// present are all alike.
func (s *Stabiliser) steadyBlock(tx, ty int) {
	t := ty*s.tw + tx
	x0, y0 := tx*blockSide, ty*blockSide
	dx, dy := min(blockSide, s.w-x0), min(blockSide, s.h-y0)
	if v := s.current[y0*s.w+x0]; s.uniform(s.current, v, x0, y0, dx, dy) && s.uniform(s.past, v, x0, y0, dx, dy) {
		return
	}
	v := s.search(tx, ty, dx, dy)
	s.moved[t] = v
	s.fetch(&s.block, v, x0, y0, dx, dy)
	tried := [4]vector{v}
	for i, u := range [3]vector{{}, s.moved[max(t-1, 0)], s.moved[max(t-s.tw, 0)]} {
		if !slices.Contains(tried[:i+1], u) {
			s.fetch(&s.trial, u, x0, y0, dx, dy)
			s.block.keepCloser(&s.trial)
		}
		tried[i+1] = u
	}
	s.mix(x0, y0, dx, dy)
}

// keepCloser replaces the cells that differ more from the present than those of o.
func (b *block) keepCloser(o *block) {
	for c, sum := range o.sums {
		if sum >= b.sums[c] {
			continue
		}
		b.sums[c], b.minWeight[c] = sum, o.minWeight[c]
		for y := range cell {
			i := (c/blockCells*cell+y)*blockSide + c%blockCells*cell
			copy(b.matte[i:i+cell], o.matte[i:i+cell])
			copy(b.age[i:i+cell], o.age[i:i+cell])
			copy(b.diff[i:i+cell], o.diff[i:i+cell])
			copy(b.colour[4*i:4*(i+cell)], o.colour[4*i:4*(i+cell)])
		}
	}
}

// uniform reports whether a block of a matte has no value but v.
func (s *Stabiliser) uniform(m []uint8, v uint8, x0, y0, dx, dy int) bool {
	all := [blockSide]uint8{v, v, v, v, v, v, v, v}
	for y := y0; y < y0+dy; y++ {
		if i := y*s.w + x0; !bytes.Equal(m[i:i+dx], all[:dx]) {
			return false
		}
	}
	return true
}

// fetch fills b with the past of a place, v away.
func (s *Stabiliser) fetch(b *block, v vector, x0, y0, dx, dy int) {
	ix, iy := x0+int(v.x>>3), y0+int(v.y>>3)
	fx, fy := uint32(v.x&7), uint32(v.y&7)
	k := [4]uint32{(8 - fx) * (8 - fy), fx * (8 - fy), (8 - fx) * fy, fx * fy}
	minWeight := float32(stillWeight)
	if s.fading {
		minWeight = fadingWeight
	} else if v != (vector{}) {
		minWeight = movingWeight
	}
	for c := range b.sums {
		b.sums[c], b.minWeight[c] = 0, minWeight
	}
	if fx|fy == 0 && ix >= 0 && iy >= 0 && ix+dx <= s.w && iy+dy <= s.h {
		s.copyPast(b, ix, iy, dx, dy)
	} else {
		s.interpolate(b, ix, iy, &k, dx, dy)
	}
	b.compare(s.frame[4*(y0*s.w+x0):], 4*s.w, dx, dy)
}

// copyPast copies the past of a place that lies on pixels, all of them in the
// picture.
func (s *Stabiliser) copyPast(b *block, ix, iy, dx, dy int) {
	for y := range dy {
		from, to := (iy+y)*s.w+ix, y*blockSide
		copy(b.matte[to:to+dx], s.past[from:])
		copy(b.age[to:to+dx], s.age[from:])
		copy(b.colour[4*to:4*(to+dx)], s.ref[4*from:])
	}
}

// interpolate computes the past of a place between pixels, with their shares k
// in 1/64.
func (s *Stabiliser) interpolate(b *block, ix, iy int, k *[4]uint32, dx, dy int) {
	for y := range dy {
		up := min(max(iy+y, 0), s.h-1) * s.w
		down := min(max(iy+y+1, 0), s.h-1) * s.w
		for x := range dx {
			l, r := min(max(ix+x, 0), s.w-1), min(max(ix+x+1, 0), s.w-1)
			p := [4]int{up + l, up + r, down + l, down + r}
			i := y*blockSide + x
			b.matte[i] = weightedMean(s.past, 1, 0, &p, k)
			b.age[i] = s.age[p[0]]
			for c := range 3 {
				b.colour[4*i+c] = weightedMean(s.ref, 4, c, &p, k)
			}
		}
	}
}

// compare notes how much the colours of b differ from those of the present,
// which begins at pix with rows of so many bytes.
func (b *block) compare(pix []uint8, stride, dx, dy int) {
	for y := range dy {
		now, old := pix[y*stride:][:4*dx], b.colour[4*y*blockSide:][:4*dx]
		for x := range dx {
			p, q := now[4*x:4*x+3:4*x+3], old[4*x:4*x+3:4*x+3]
			d := absDiff(p[0], q[0]) + absDiff(p[1], q[1]) + absDiff(p[2], q[2])
			b.diff[y*blockSide+x] = d
			b.sums[y/cell*blockCells+x/cell] += d
		}
	}
}

// weightedMean is the mean of channel c of four pixels of n bytes, weighted by k in
// 1/64.
func weightedMean(pix []uint8, n, c int, at *[4]int, k *[4]uint32) uint8 {
	return uint8((k[0]*uint32(pix[n*at[0]+c]) + k[1]*uint32(pix[n*at[1]+c]) +
		k[2]*uint32(pix[n*at[2]+c]) + k[3]*uint32(pix[n*at[3]+c]) + 32) >> 6)
}

// cellMeans is the mean difference of colour in the cells of a block that has dx
// by dy pixels in the picture.
func (b *block) cellMeans(dx, dy int) (mean [blockCells * blockCells]float32) {
	for c, sum := range b.sums {
		w, h := min(cell, dx-c%blockCells*cell), min(cell, dy-c/blockCells*cell)
		if w > 0 && h > 0 {
			mean[c] = float32(sum) / float32(3*w*h)
		}
	}
	return mean
}

// weight is the weight of the new matte at a pixel of a block with the cell
// difference around. It is as in a mean over the age, and at least its cell's. It
// is more if the colours differ from the past in the cell or in the pixel itself.
//
// Where a matte falls, smaller differences count: a trail is more visible than
// a part missing for a moment.
func (b *block) weight(at, c int, around float32, falls bool) float32 {
	change := max(around, float32(b.diff[at])*(1.0/9))
	if falls {
		change *= fallFactor
	}
	floor := max(b.minWeight[c], ageWeight[b.age[at]])
	if change <= unchangedDiff {
		return floor
	}
	return floor + (1-floor)*min((change-unchangedDiff)/(changedDiff-unchangedDiff), 1)
}

// ageWeight is the weight of a new matte in the mean with a past of an age.
var ageWeight = func() (t [maxAge + 1]float32) {
	for age := range t {
		t[age] = 1 / float32(age+1)
	}
	return t
}()

func absDiff(a, b uint8) int32 {
	d := int32(a) - int32(b)
	return max(d, -d)
}

// mix writes matte and picture of a block: past and present by their weights.
func (s *Stabiliser) mix(x0, y0, dx, dy int) {
	around := s.block.cellMeans(dx, dy)
	for y := range dy {
		i := (y0+y)*s.w + x0
		for x := range dx {
			at, c := y*blockSide+x, y/cell*blockCells+x/cell
			k := s.block.weight(at, c, around[c], s.current[i+x] < s.block.matte[at])
			s.nextAge[i+x] = uint8(1/k + 0.5)
			s.next[i+x] = lerp(s.block.matte[at], s.clampChange(s.block.matte[at], s.current[i+x], k), k)
			for c := range 3 {
				s.nextRef[4*(i+x)+c] = lerp(s.block.colour[4*at+c], s.frame[4*(i+x)+c], k)
			}
		}
	}
}

// clampChange bounds how far b counts as away from a, unless the picture is new.
func (s *Stabiliser) clampChange(a, b uint8, k float32) uint8 {
	reach := int(huberLimit + 255*max(k-movingWeight, 0)*4)
	return uint8(min(max(int(b), int(a)-reach), int(a)+reach))
}

// lerp goes the share k of the way from a to b. It rounds towards b, so that
// it gets there.
func lerp(a, b uint8, k float32) uint8 {
	d := k * (float32(b) - float32(a))
	if d < 0 {
		return uint8(float32(a) + d)
	}
	return uint8(float32(a) + d + 0.996)
}
