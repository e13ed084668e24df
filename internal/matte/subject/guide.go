package subject

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// Guide is a network that gives the matte of what is marked in a picture, of 255, row by row. It must
// be safe for concurrent use.
type Guide func(context.Context, *view.Marked) ([]uint8, error)

// Guide decides by hints, after Choose. The subject is all that they keep, and nothing else.
// Where they only drop something, the rest of what was chosen stays. At each place the hints
// that are nearest in time hold.
//
// A network follows the marked thing through the shot, from the frame of the hint that was given
// first. In each frame it is shown its matte of the one before (F. Perazzi et al., "Learning Video
// Object Segmentation from Static Images", CVPR 2017). Other hints correct that. In a shot
// without hints it follows what looks most like the things that were marked, if anything does.
func (c *Clip) Guide(ctx context.Context, hints []Hint, network Guide) error {
	f := newFollower(c, hints, network)
	c.hinted, c.followed = make([]int, c.frames.Len()), f
	for i := range c.shots {
		if err := f.shot(ctx, &c.shots[i]); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps the matte that Guide found for frame i. It may be decided anew.
func (c *Clip) keep(i int, matte []uint8) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hinted[i] = c.hints.Len()
	return c.hints.Append(matte)
}

// follower follows marked things through a clip.
type follower struct {
	clip    *Clip
	network Guide
	marks   marker
	drops   bool           // what it follows; its hints then keep the thing for the network
	hints   map[int][]Hint // by frame
	asked   []int          // the frames of those that keep something, as the hints were given
	liked   samples        // the features at what hints keep; nil before they are needed
}

func newFollower(c *Clip, hints []Hint, network Guide) *follower {
	f := &follower{clip: c, network: network, marks: c.marker(), hints: map[int][]Hint{}}
	f.drops = !keeps(hints)
	for _, h := range hints {
		h.Keep = h.Keep || f.drops
		f.add(h)
	}
	return f
}

// add adds a hint.
func (f *follower) add(h Hint) {
	f.hints[h.Frame] = append(f.hints[h.Frame], h)
	if h.Keep {
		f.asked = append(f.asked, h.Frame)
	}
}

// shot goes from the first hint given that keeps something to both ends of a shot: the others
// correct what it leads to. From those it goes back to half the way.
func (f *follower) shot(ctx context.Context, s *shot) error {
	marked, first, err := f.marked(s)
	if err != nil {
		return err
	}
	if len(marked) == 0 {
		for i := s.first; i <= s.last; i++ {
			if err := f.clip.keep(i, f.marks.plane()); err != nil {
				return err
			}
		}
		return nil
	}
	states, err := f.outwards(ctx, s, marked[first])
	if err != nil {
		return err
	}
	for i := first + 1; i < len(marked); i++ {
		if err := f.follow(ctx, states[marked[i]], marked[i], halfway(marked[i], marked[i-1]), -1, nil); err != nil {
			return err
		}
	}
	for i := first - 1; i >= 0; i-- {
		if err := f.follow(ctx, states[marked[i]], marked[i], halfway(marked[i], marked[i+1]), 1, nil); err != nil {
			return err
		}
	}
	return nil
}

// outwards goes from a frame to both ends of a shot at once, and returns the states of those with hints.
func (f *follower) outwards(ctx context.Context, s *shot, from int) (map[int]*state, error) {
	begin, err := f.decide(ctx, from, nil, 0)
	if err != nil {
		return nil, err
	}
	later, earlier := map[int]*state{}, map[int]*state{}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return f.follow(ctx, begin, from, s.last+1, 1, later) })
	both.Go(func() error { return f.follow(ctx, begin, from, s.first-1, -1, earlier) })
	err = both.Wait()
	maps.Copy(later, earlier)
	return later, err
}

// decide is frame, and decides the frame by what that finds.
func (f *follower) decide(ctx context.Context, i int, last *state, step int) (*state, error) {
	st, err := f.frame(ctx, i, last, step)
	if err != nil {
		return nil, err
	}
	return st, f.clip.keep(i, st.matte)
}

// halfway is the frame between two with hints to which the hints of both reach.
func halfway(a, b int) int { return (a + b) / 2 }

// marked are the frames of a shot with hints, and which of them shot begins at. None are
// marked where no hint keeps anything, and nothing looks as if one did.
func (f *follower) marked(s *shot) (frames []int, first int, err error) {
	if !slices.ContainsFunc(f.asked, s.has) {
		if ok, err := f.guess(s); !ok || err != nil {
			return nil, 0, err
		}
	}
	frames = f.within(s)
	return frames, slices.Index(frames, f.asked[slices.IndexFunc(f.asked, s.has)]), nil
}

// within are the frames of a shot with hints, in order.
func (f *follower) within(s *shot) (frames []int) {
	for i := range f.hints {
		if s.has(i) {
			frames = append(frames, i)
		}
	}
	slices.Sort(frames)
	return frames
}

// marker marks pictures of the size that Guide looks at.
func (c *Clip) marker() marker {
	_, size := c.scaler.Sizes()
	return marker{size.X, size.Y}
}

// follow goes on from a frame up to another one, which it leaves out, and decides them. The states of
// frames with hints go to states, if that is not nil.
func (f *follower) follow(ctx context.Context, st *state, from, end, step int, states map[int]*state) (err error) {
	for i := from + step; i*step < end*step; i += step {
		if st, err = f.decide(ctx, i, st, step); err != nil {
			return err
		}
		if states != nil && len(f.hints[i]) > 0 {
			states[i] = st
		}
	}
	return nil
}
