package subject

import (
	"context"
	"image"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/motion"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// unsure is the trust in a way up to which nothing is carried along it.
const unsure = 0.06

// decided is how much surer a matte becomes from one frame to the next. Otherwise doubts would
// stay, for in training the doubts in a matte are about the thing itself.
const decided = 3

// part is the least share of a pixel that joins those beside it to one thing.
const part = 128

// state is what is carried from one frame to the next: the marks, the matte found, and how the thing
// was seen. Its links are the frame's own.
type state struct {
	marks
	matte []uint8
	links *Links
	sight sight
	// covered and chosen say that the clip's own matte has what was marked, and so tells of it: in
	// all, and as Choose decided.
	covered, chosen bool
}

// frame finds the matte of frame i, and returns its state. last is the state of the frame that it comes
// after, in a step of 1 or -1; nil: none.
func (f *follower) frame(ctx context.Context, i int, last *state, step int) (*state, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	links, err := f.clip.links(i)
	if err != nil {
		return nil, err
	}
	hints := f.hints[i]
	st := &state{marks: newMarks(f.marks.w * f.marks.h), links: links}
	var way *motion.Field
	var trust []float32
	if last != nil {
		way, trust = f.way(st, last, step)
		if len(hints) == 0 && !f.clip.due[max(i, i-step)] && f.move(st, last, way, trust) {
			return st, nil
		}
	}
	v, err := f.shown(i, st, last, way, trust)
	if err != nil {
		return nil, err
	}
	f.marks.add(st.marks, hints)
	matte, err := f.look(ctx, &v, st.marks, hints)
	if err != nil {
		return nil, err
	}
	own, err := f.ownMattes(i, st)
	if err != nil {
		return nil, err
	}
	if own != nil {
		if err = f.divide(ctx, i, &v, st.marks, own, matte); err == nil {
			err = f.unite(ctx, &v, hints, st.marks, own.limit, matte)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, h := range hints {
		f.marks.hold(matte, &h)
	}
	f.reached(matte, st.keep, v.Plane(view.MarkBefore))
	if own == nil || len(hints) > 0 { // hints may change what the thing is
		st.sight = sight{}
	}
	if own != nil {
		f.again(&st.sight, matte, own.all)
	}
	st.matte = matte
	return st, nil
}

// shown is frame i with what is known of it from the state that it comes after, and of its own hints the
// masks that keep. way leads from there, with that trust.
func (f *follower) shown(i int, st, last *state, way *motion.Field, trust []float32) (view.Marked, error) {
	v := view.NewMarked(f.marks.w, f.marks.h)
	if err := f.clip.pictures.Read(i, v.Plane(view.MarkRed), v.Plane(view.MarkGreen), v.Plane(view.MarkBlue)); err != nil {
		return v, err
	}
	before, trusted := v.Plane(view.MarkBefore), v.Plane(view.MarkTrust)
	if last != nil {
		last.carry(way, trust, before, trusted)
	}
	st.show(&v)
	for _, h := range f.hints[i] {
		if h.whole() {
			f.marks.whole(before, trusted, &h)
		}
	}
	return v, nil
}

// movedLeast is the trust in the motion of a thing, on the mean, with which its matte moves on as it is.
const movedLeast = 0.9

// move makes a state's matte that of the one that it comes after, moved on, and reports whether that is
// enough.
func (f *follower) move(st, last *state, way *motion.Field, trust []float32) bool {
	n := len(last.matte)
	matte := make([]uint8, n)
	all := carry(matte, last.matte, way, make([]float32, n), make([]float32, n))
	sure := float32(0)
	for k, share := range matte {
		sure += float32(share) * trust[k] / 255
	}
	if all == 0 || sure < movedLeast*all {
		return false
	}
	st.matte = matte
	if st.sight.thing != nil {
		st.sight.arrive()
	}
	return true
}

// carry shows the matte that was found before, where the way from there is trusted, and that trust.
func (st *state) carry(way *motion.Field, trust []float32, before, trusted []uint8) {
	matte := make([]float32, len(before))
	way.Carry(matte, st.surer(), 0)
	for k, t := range trust {
		if t > unsure {
			before[k], trusted[k] = round(matte[k]/255), round(t)
		}
	}
}

// way finds the way to this frame from the one that it comes after, and the trust in it, and brings
// all but the matte along. Where the way is not trusted, marks fade.
func (f *follower) way(st, last *state, step int) (way *motion.Field, trust []float32) {
	if step > 0 {
		way, trust = f.enlarged(&st.links.Back, st.links.Trust)
	} else {
		way, trust = f.enlarged(&last.links.Forward, last.links.Ahead)
	}
	st.covered, st.chosen = last.covered, last.chosen
	for _, p := range [...][2][]float32{{st.keep, last.keep}, {st.drop, last.drop}} {
		if slices.Max(p[1]) == 0 { // few hints are of both kinds
			continue
		}
		way.Carry(p[0], p[1], 0)
		for k, t := range trust {
			p[0][k] *= t
		}
	}
	st.sight = last.sight.after(way)
	return way, trust
}

// surer is the matte found, surer than it is, as values of bytes.
func (st *state) surer() []float32 {
	matte := make([]float32, len(st.matte))
	for k, share := range st.matte {
		matte[k] = min(max(decided*(float32(share)-127.5)+127.5, 0), 255)
	}
	return matte
}

// enlarged is a way between cells and the trust in it, for pixels.
func (f *follower) enlarged(way *motion.Field, trust []float32) (*motion.Field, []float32) {
	c, w, h := f.clip, f.marks.w, f.marks.h
	to, shares := new(motion.Field), make([]float32, w*h)
	to.Set(w, h)
	whole := image.Pt(c.meter.w, c.meter.h)
	for _, p := range []struct {
		dst, src []float32
		scale    float32
	}{{to.X, way.X, cell * float32(w) / float32(whole.X)}, {to.Y, way.Y, cell * float32(h) / float32(whole.Y)}, {shares, trust, 1}} {
		between(p.src, c.grid, image.Pt(w, h), whole, func(y int, row []float32) {
			for x, v := range row {
				p.dst[y*w+x] = p.scale * v
			}
		})
	}
	return to, shares
}

// reached clears from a matte what does not touch a mark that keeps, nor what was found in the
// frame before: other things, however alike. Faint places stay beside the thing, as its edges. If
// nothing does, all stays.
func (f *follower) reached(matte []uint8, keep []float32, before []uint8) {
	in := make([]bool, len(matte))
	var found []int
	for k, share := range matte {
		if share >= part && (keep[k] >= boxed || before[k] >= part) {
			in[k] = true
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		return
	}
	touching := f.marks.spread(in, found, func(k int) bool { return matte[k] >= part })
	f.marks.spread(in, touching, func(k int) bool { return matte[k] > surer && matte[k] < part })
	for k := range matte {
		if !in[k] {
			matte[k] = 0
		}
	}
}

// spread adds to the pixels in what touches them and is like that, beginning at some of them. It
// returns these and what was added.
func (m marker) spread(in []bool, from []int, like func(k int) bool) []int {
	for n := 0; n < len(from); n++ {
		k := from[n]
		m.each(m.beside(k), func(k, _, _ int) {
			if !in[k] && like(k) {
				in[k] = true
				from = append(from, k)
			}
		})
	}
	return from
}

// beside is the part of the picture with a pixel and those that touch it.
func (m marker) beside(k int) image.Rectangle {
	return image.Rect(k%m.w-1, k/m.w-1, k%m.w+2, k/m.w+2)
}

// pieces calls do with the pixels of each connected part of those that are like something. It returns
// all of them.
func (m marker) pieces(like func(k int) bool, do func(piece []int)) (in []bool) {
	in = make([]bool, m.w*m.h)
	for k := range in {
		if !in[k] && like(k) {
			in[k] = true
			do(m.spread(in, []int{k}, like))
		}
	}
	return in
}
