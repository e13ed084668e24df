package subject

import (
	"context"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/motion"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// guided is the Wanted of a clip whose hints keep something.
const guided Wanted = -1

// Guide decides by hints, after Decide. What they keep is the subject, with nothing else.
// Where they only drop something, it comes after Choose, and the rest of what was chosen
// stays. At each place the hints that are nearest in time hold.
//
// From a frame with hints a network follows what is marked through the shot, frame by frame,
// with what it found in the one before (F. Perazzi et al., "Learning Video Object
// Segmentation from Static Images", CVPR 2017). A shot without hints is guided by what looks
// like the things that were marked.
func (c *Clip) Guide(ctx context.Context, hints []Hint, network Chooser) error {
	f := newFollower(c, hints, network)
	f.found = c.keep
	if !f.drops {
		c.wanted = guided
	}
	if err := f.sample(); err != nil {
		return err
	}
	for i := range c.shots {
		if err := f.shot(ctx, &c.shots[i]); err != nil {
			return err
		}
	}
	return nil
}

// Preview is what Guide would choose for frame i, after Choose. It changes nothing, and
// takes as long as the way to the frame from those with hints.
func (c *Clip) Preview(ctx context.Context, i int, hints []Hint, network Chooser) (Choice, error) {
	if len(hints) == 0 {
		return c.Choice(i)
	}
	f := newFollower(c, hints, network)
	var last found
	f.found = func(_ int, found *found) error {
		last = *found
		return nil
	}
	if err := f.sample(); err != nil {
		return Choice{}, err
	}
	if err := f.reach(ctx, c.shotOf(i), i); err != nil {
		return Choice{}, err
	}
	if f.drops {
		return newChoice(&last, c.grid, c.drop(i), c.meter.w, c.meter.h), nil
	}
	return newChoice(&last, c.grid, 1, c.meter.w, c.meter.h), nil
}

// follower follows marked things through a clip.
type follower struct {
	clip    *Clip
	network Chooser
	marks   marker
	drops   bool // what it follows; its hints then keep the thing for the network
	found   func(frame int, f *found) error
	hints   map[int][]Hint // by frame
	liked   [2]samples     // the features at what hints keep, and at what they drop
}

func newFollower(c *Clip, hints []Hint, network Chooser) *follower {
	f := &follower{clip: c, network: network, marks: marker{c.grid, c.meter.w, c.meter.h}, hints: map[int][]Hint{}}
	f.drops = !slices.ContainsFunc(hints, func(h Hint) bool { return h.Keep })
	for _, h := range hints {
		h.Keep = h.Keep || f.drops
		f.hints[h.Frame] = append(f.hints[h.Frame], h)
	}
	return f
}

// state is what is carried from one frame to the next: the marks that keep and that drop, and
// what was chosen, as values of bytes. Its links are the frame's own.
type state struct {
	keep, drop, chosen []float32
	links              Links
}

// marks is the plane of the marks that keep, or of those that drop.
func (st *state) marks(keep bool) []float32 {
	if keep {
		return st.keep
	}
	return st.drop
}

// shot goes from the first hint that keeps something to both ends of a shot. From the other
// hints it goes back to half the way.
func (f *follower) shot(ctx context.Context, s *shot) error {
	marked, first := f.marked(s)
	root := marked[first]
	states := map[int]*state{}
	begin, err := f.frame(ctx, root, nil, 0)
	if err != nil {
		return err
	}
	for _, way := range []struct{ step, end int }{{1, s.last + 1}, {-1, s.first - 1}} {
		if err := f.follow(ctx, begin, root, way.end, way.step, states); err != nil {
			return err
		}
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

// halfway is the frame between two with hints to which the hints of both reach.
func halfway(a, b int) int { return (a + b) / 2 }

// marked are the frames of a shot with hints, or the first one if there are none, and which
// of them shot begins at.
func (f *follower) marked(s *shot) (frames []int, first int) {
	for i := range f.hints {
		if i >= s.first && i <= s.last {
			frames = append(frames, i)
		}
	}
	if len(frames) == 0 {
		return []int{s.first}, 0
	}
	slices.Sort(frames)
	return frames, max(slices.IndexFunc(frames, f.keeps), 0)
}

// reach goes as shot does, but only to frame i.
func (f *follower) reach(ctx context.Context, s *shot, i int) error {
	marked, first := f.marked(s)
	root, step := marked[first], 1
	if i < root {
		step = -1
	}
	last, turn := root, i // a frame with hints on the way to i, and where to turn back to it
	for n := first + step; n >= 0 && n < len(marked); n += step {
		next := marked[n]
		if next*step >= i*step {
			if (i-halfway(next, last))*step > 0 {
				turn = next
			}
			break
		}
		last = next
	}
	st, err := f.frame(ctx, root, nil, 0)
	if err != nil {
		return err
	}
	states := map[int]*state{root: st}
	if err := f.follow(ctx, st, root, turn+step, step, states); err != nil || turn == i {
		return err
	}
	return f.follow(ctx, states[turn], turn, i-step, -step, nil)
}

// keeps reports whether a hint for a frame keeps something.
func (f *follower) keeps(frame int) bool {
	return slices.ContainsFunc(f.hints[frame], func(h Hint) bool { return h.Keep })
}

// follow goes on from a frame up to another one, which it leaves out. It keeps the states of
// frames with hints in states, if that is not nil.
func (f *follower) follow(ctx context.Context, st *state, from, end, step int, states map[int]*state) (err error) {
	for i := from + step; i*step < end*step; i += step {
		if st, err = f.frame(ctx, i, st, step); err != nil {
			return err
		}
		if states != nil && len(f.hints[i]) > 0 {
			states[i] = st
		}
	}
	return nil
}

// frame chooses for a frame that comes, in steps of 1 or -1, after one with a state, or after
// none, and returns its own state.
func (f *follower) frame(ctx context.Context, i int, last *state, step int) (*state, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c := f.clip
	var r record
	if err := c.read(i, &r); err != nil {
		return nil, err
	}
	v, err := c.frame(i, &r)
	if err != nil {
		return nil, err
	}
	v.Mark()
	n := v.W * v.H
	st := &state{make([]float32, n), make([]float32, n), make([]float32, n), r.Links}
	if last != nil {
		trust := st.carry(last, step)
		for k, t := range trust {
			if t > 0 {
				v.Plane(view.MarkBefore)[k], v.Plane(view.MarkTrust)[k] = round(st.chosen[k]/255), round(t)
			}
		}
	}
	for _, h := range f.hints[i] {
		f.marks.mark(st.marks(h.Keep), &h)
	}
	for k := range n {
		v.Plane(view.MarkKeep)[k], v.Plane(view.MarkDrop)[k] = round(st.keep[k]/255), round(st.drop[k]/255)
	}
	f.liked[0].show(v.Plane(view.LikeKeep), &v)
	f.liked[1].show(v.Plane(view.LikeDrop), &v)
	chosen, err := f.network(ctx, &v)
	if err != nil {
		return nil, err
	}
	for _, h := range f.hints[i] {
		f.marks.hold(chosen, &h)
	}
	f.reached(st, chosen, v.W)
	for k, share := range chosen {
		st.chosen[k] = float32(share)
	}
	if !f.drops {
		return st, f.found(i, &found{v.Plane(view.CellCoverage), chosen, make([]uint8, n)})
	}
	was := found{v.Plane(view.CellCoverage), v.Plane(view.CellCoverage), nil}
	if c.isKept(i) {
		if was, err = c.kept(i); err != nil {
			return nil, err
		}
	}
	was.gone = chosen
	return st, f.found(i, &was)
}

// part is the least share of a cell that joins those beside it to one thing.
const part = 64

// reached clears what does not touch a mark that keeps, nor what was chosen in the frame
// before, as carried in st: other things, however alike. If nothing does, all stays.
func (f *follower) reached(st *state, chosen []uint8, w int) {
	in := make([]bool, len(chosen))
	var queue []int
	visit := func(k int) {
		if !in[k] && chosen[k] >= part {
			in[k] = true
			queue = append(queue, k)
		}
	}
	for k := range chosen {
		if st.keep[k] >= boxed || st.chosen[k] > 127 {
			visit(k)
		}
	}
	if len(queue) == 0 {
		return
	}
	for len(queue) > 0 {
		k := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		x, y := k%w, k/w
		for j := max(y-1, 0); j <= min(y+1, len(chosen)/w-1); j++ {
			for i := max(x-1, 0); i <= min(x+1, w-1); i++ {
				visit(j*w + i)
			}
		}
	}
	for k, share := range chosen {
		if !in[k] && share >= part {
			chosen[k] = 0
		}
	}
}

// carry brings a state to this frame from the one that it comes after, in steps of 1 or -1,
// and returns the trust in the way there. Marks fade where that is low.
func (st *state) carry(last *state, step int) (trust []float32) {
	var way *motion.Field
	if step > 0 {
		way, trust = &st.links.Back, st.links.Trust
	} else {
		way, trust = &last.links.Forward, last.links.Ahead
	}
	way.Carry(st.keep, last.keep, 0)
	way.Carry(st.drop, last.drop, 0)
	way.Carry(st.chosen, last.chosen, 0)
	for k, t := range trust {
		st.keep[k] *= t
		st.drop[k] *= t
	}
	return trust
}

// most is how many places' features are remembered of the hints for one frame.
const most = 32

// samples are features of places, each of length 1.
type samples [][view.FeatureCount]float32

// sample remembers the features at all hints.
func (f *follower) sample() error {
	for i, hints := range f.hints {
		v, err := f.clip.Frame(i)
		if err != nil {
			return err
		}
		for kind, keep := range []bool{true, false} {
			plane := make([]float32, v.W*v.H)
			for _, h := range hints {
				if h.Keep == keep {
					f.marks.mark(plane, &h)
				}
			}
			f.liked[kind].add(&v, plane)
		}
	}
	return nil
}

// add remembers the features of the surest marks in a plane.
func (s *samples) add(v *view.Cells, plane []float32) {
	surest := slices.Max(plane)
	if surest == 0 {
		return
	}
	var marked []int
	for k, m := range plane {
		if m == surest {
			marked = append(marked, k)
		}
	}
	n := min(len(marked), most)
	for i := range n {
		k := marked[i*len(marked)/n]
		var of [view.FeatureCount]float32
		length := v.Features.At(k%v.W/2, k/v.W/2, &of)
		for p := range of {
			of[p] /= length + 1
		}
		*s = append(*s, of)
	}
}

// show sets a plane to how like the features of each place are to the likest of the samples: the
// cosine of their angle.
func (s samples) show(plane []uint8, v *view.Cells) {
	if len(s) == 0 {
		return
	}
	var of [view.FeatureCount]float32
	for y := range v.Features.H {
		for x := range v.Features.W {
			length, cosine := v.Features.At(x, y, &of), float32(0)
			for i := range s {
				sum := float32(0)
				for p, b := range of {
					sum += b * s[i][p]
				}
				cosine = max(cosine, sum/(length+1))
			}
			for j := 2 * y; j < min(2*y+2, v.H); j++ {
				for i := 2 * x; i < min(2*x+2, v.W); i++ {
					plane[j*v.W+i] = round(cosine)
				}
			}
		}
	}
}
