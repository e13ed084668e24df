package subject

import (
	"context"
	"errors"
	"image"
)

// Preview is what Guide would choose for frame i, after Choose. It changes no choice. It takes as long
// as the way to the frame from those with hints, but keeps what it finds there. The next call goes on
// from that, as far as the hints are the same. It follows a frame at least, even if ctx has ended.
func (c *Clip) Preview(ctx context.Context, i int, hints []Hint, network Guide) (Choice, error) {
	if len(hints) == 0 {
		return c.Choice(i)
	}
	choice, err := c.choice(i)
	if err != nil {
		return choice, err
	}
	if err := c.makeRoom(); err != nil {
		return Choice{}, err
	}
	f := newFollower(c, hints, network)
	matte, err := f.reach(ctx, c.shotOf(i), i)
	if err != nil {
		if ctx.Err() == nil { // the states may be what failed
			err = errors.Join(err, c.dropStates())
		}
		return Choice{}, err
	}
	choice.hint(&image.Alpha{Pix: matte, Stride: f.marks.w, Rect: f.marks.bounds()}, f, i)
	return choice, nil
}

// Picture is frame i in the size in which Guide looks at it. It needs a clip that is to be hinted.
func (c *Clip) Picture(i int) (*image.NRGBA, error) {
	m := c.marker()
	r, g, b := m.plane(), m.plane(), m.plane()
	if err := c.pictures.Read(i, r, g, b); err != nil {
		return nil, err
	}
	img := image.NewNRGBA(m.bounds())
	for k := range r {
		copy(img.Pix[4*k:], []uint8{r[k], g[k], b[k], 255})
	}
	return img, nil
}

// reach goes as shot does, but only to frame i, and returns the matte that it finds there.
func (f *follower) reach(ctx context.Context, s *shot, i int) ([]uint8, error) {
	marked, first, err := f.marked(s)
	if err != nil {
		return nil, err
	}
	if len(marked) == 0 {
		return f.marks.plane(), nil
	}
	root, turn := marked[first], turning(marked, first, i)
	t := f.trail(s, marked, root)
	st, err := f.advance(ctx, nil, t.out, root, turn)
	if err == nil && turn != i {
		st, err = f.advance(ctx, st, t.back, turn, i)
	}
	if err != nil {
		return nil, err
	}
	return st.matte, nil
}

// turning is the frame at which the way to i turns back, if that begins at the first of the marked
// frames. It is the next one with hints after i, or i where nothing turns back.
func turning(marked []int, first, i int) int {
	root, step := marked[first], 1
	if i < root {
		step = -1
	}
	last := root
	for n := first + step; n >= 0 && n < len(marked); n += step {
		next := marked[n]
		if next*step >= i*step {
			if (i-halfway(next, last))*step > 0 {
				return next
			}
			break
		}
		last = next
	}
	return i
}

// advance goes from one frame, whose state begins there, to another one, and returns the state of
// that. It uses the states that are kept of the way, and keeps the others. Without a state the
// way begins at the first frame itself.
func (f *follower) advance(ctx context.Context, begin *state, kept map[int]int, from, to int) (st *state, err error) {
	step := 1
	if to < from {
		step = -1
	}
	at := to // the last frame of the way that is known
	for at != from {
		if _, known := kept[at]; known {
			break
		}
		at -= step
	}
	record, known := kept[at]
	switch {
	case known:
		st, err = f.clip.readState(record, at)
	case begin != nil:
		st = begin
	default:
		st, err = f.further(ctx, kept, at, nil, 0)
	}
	for went := false; err == nil && at != to; went = true {
		if went && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		at += step
		st, err = f.further(ctx, kept, at, st, step)
	}
	return st, err
}

// further is frame, and keeps the state. It does so even if ctx has ended: calls that have little time
// get there, too.
func (f *follower) further(ctx context.Context, kept map[int]int, i int, last *state, step int) (*state, error) {
	st, err := f.frame(context.WithoutCancel(ctx), i, last, step)
	if err != nil {
		return nil, err
	}
	record, err := f.clip.writeState(st)
	if err != nil {
		return nil, err
	}
	kept[i] = record
	return st, nil
}
