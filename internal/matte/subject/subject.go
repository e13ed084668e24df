// Package subject finds which parts of a clip's mattes belong to its subject, by
// their motion. A network that sees one frame at a time also marks things that
// look like a subject and are part of the backdrop. Over the clip they move as the
// backdrop does, and the subject does not.
//
// The motion of each place against the camera is gathered along its track through
// the clip, so a subject that pauses keeps what it showed before and after. Fast
// object segmentation from motion and appearance is that of A. Papazoglou and V.
// Ferrari, "Fast Object Segmentation in Unconstrained Video", ICCV 2013.
package subject

import (
	"context"
	"image"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/records"
)

// Wanted is which of the things that a network marks is wanted.
type Wanted int

// The choices.
const (
	// Auto drops parts that never move against the backdrop, in shots in which the
	// rest of the subject clearly does.
	Auto Wanted = iota
	// Moving drops all that moves little.
	Moving
	// Salient drops nothing.
	Salient
)

const (
	// cell is the side in pixels of the squares over which motion is averaged.
	cell = 4
	// shortest is the number of frames that a shot must have to be judged.
	shortest = 6
	// open and subjectLike are the shares of a cell that the matte covers up to
	// which it is backdrop, and from which on it is subject, for the statistics.
	open, subjectLike = 0.05, 0.5
	// bulk is the quantile of motion within the mattes that stands for the subject's.
	// lively is the least of it from frame to frame in a shot in which parts are dropped,
	// which is some 0.3 pixels where the camera stands still, and lasting the least of it
	// along tracks. apart is how much less the backdrop's median along tracks must be, as a
	// share of the subject's.
	bulk, lively, lasting, apart = 0.8, 0.8, 0.4, 0.4
	// steady is the share of a shot's frames in which the subject must be lively. One who
	// walks in and stands still has tracks that begin anew, and would be dropped.
	steady = 0.9
	// slack is how much more than the backdrop's busiest tenth a part may move and
	// still be dropped. still and stillShare bound the motion of such a part, by itself
	// and as a share of the subject's.
	busiest, slack, still, stillShare = 0.9, 0.05, 0.3, 0.4
	// movingShare is stillShare of Moving, which has no other conditions.
	movingShare = 0.5
	// seenLeast is in how many frames a place must have been followed to be judged, and
	// seenNow how surely to count from one frame to the next.
	seenLeast, seenNow = 1.5, 0.3
)

// Clip gathers the motion of a clip. Call Add for all frames in order, then Decide
// once, then Frame. It is for one goroutine.
type Clip struct {
	options Options
	meter   meter
	cuts    refine.CutDetector
	grid    image.Point // cells
	frames  *records.File
	shots   []shot
	tracks  sums
	result  *records.File // motion along tracks by frame, the last frame first
	motion  []uint8       // along tracks, of the frame in work
	seen    []uint8       // and in how many frames
}

// Options are how a clip is judged. The zero value is useful.
type Options struct {
	Wanted Wanted
	// Views says that the evidence is to be shown in views, by Evidence.Show.
	Views bool
	// TempDir is where the record of the frames is kept, in temporary files; empty is the
	// system's folder for such files.
	TempDir string
}

// shot is a run of frames without a cut.
type shot struct {
	first, last int
	// subject is the motion of the matte's liveliest part, and backdrop that of the
	// backdrop's, 0 to 1.
	subject, backdrop float64
	limit             float64 // motion below which parts are dropped
}

// New begins a clip. The caller closes it.
func New(o Options) (*Clip, error) {
	frames, err := records.Create(o.TempDir)
	if err != nil {
		return nil, err
	}
	result, err := records.Create(o.TempDir)
	if err != nil {
		_ = frames.Close()
		return nil, err
	}
	return &Clip{options: o, frames: frames, result: result}, nil
}

// Add adds the next frame: a small picture, some hundred pixels wide, and its matte
// of the same size. Neither is kept.
func (c *Clip) Add(img *image.NRGBA, m *image.Alpha) error {
	n := c.frames.Len()
	cut := c.cuts.Next(img) || n == 0
	c.meter.measure(img, m, cut)
	if cut {
		c.grid = c.meter.grid
		c.tracks.reset(c.grid.X * c.grid.Y)
		c.shots = append(c.shots, shot{first: n})
	}
	c.shots[len(c.shots)-1].last = n
	s := &c.meter.sample
	c.tracks.advance(&s.back, s.trust, s.moving, s.seen)
	return c.write(s)
}

// Decide judges the clip when all frames have been added.
func (c *Clip) Decide(ctx context.Context) error {
	for i := len(c.shots) - 1; i >= 0; i-- {
		if err := c.judge(ctx, &c.shots[i]); err != nil {
			return err
		}
	}
	return nil
}

// judge combines what is known from before and from after each frame of a shot, and
// sets the shot's limit.
func (c *Clip) judge(ctx context.Context, s *shot) error {
	var inside, outside histogram
	frames, busy := 0, 0 // with a subject, and those in which it moves
	var later sums
	r := new(record)
	for i := s.last; i >= s.first; i-- {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		next := *r
		r = new(record)
		if err := c.read(i, r); err != nil {
			return err
		}
		n := len(r.matte)
		if i == s.last {
			later.reset(n)
			later.advance(nil, nil, r.moving, r.seen)
		} else {
			later.advance(&next.forward, next.trust, r.moving, r.seen)
		}
		c.motion, c.seen = sized(c.motion, n), sized(c.seen, n)
		var now histogram
		for k := range n {
			seen := r.seenBefore[k] + later.seen[k] - r.seen[k]
			c.seen[k] = logarithm(seen)
			if r.matte[k] > subjectLike && r.seen[k] > seenNow {
				now.add(portion(r.moving[k] / r.seen[k]))
			}
			if seen < seenLeast {
				c.motion[k] = unknown
				continue
			}
			c.motion[k] = portion((r.movedBefore[k] + later.moved[k] - r.moving[k]) / seen)
			switch {
			case r.matte[k] > subjectLike:
				inside.add(c.motion[k])
			case r.matte[k] < open:
				outside.add(c.motion[k])
			}
		}
		if now.all > 0 {
			frames++
			if now.quantile(bulk) > lively {
				busy++
			}
		}
		if err := c.result.Append(c.motion, c.seen); err != nil {
			return err
		}
	}
	s.subject, s.backdrop = inside.quantile(bulk), outside.quantile(busiest)
	if s.last-s.first+1 >= shortest {
		s.limit = c.options.Wanted.limit(float64(busy)/float64(max(frames, 1)), s.subject, outside.quantile(0.5), s.backdrop)
	}
	return nil
}

// limit is the motion below which parts are dropped, 0 for none, where the subject is
// lively in a share of the frames and moves by so much along tracks, and the backdrop by
// its median and its busiest tenth.
func (w Wanted) limit(share, subject, backdrop, busy float64) float64 {
	switch {
	case w == Auto && share >= steady && subject > lasting && backdrop < apart*subject:
		return min(still, stillShare*subject, busy+slack)
	case w == Moving:
		return movingShare * subject
	}
	return 0
}

// Frame is what is known of frame i. Nothing is read of frames of which nothing is wanted.
func (c *Clip) Frame(i int) (Evidence, error) {
	s := c.shotOf(i)
	if s.limit == 0 && !c.options.Views {
		return Evidence{}, nil
	}
	var r record
	if err := c.read(i, &r); err != nil {
		return Evidence{}, err
	}
	n := len(r.matte)
	track, frames := make([]uint8, n), make([]uint8, n)
	if err := c.result.Read(c.result.Len()-1-i, track, frames); err != nil {
		return Evidence{}, err
	}
	e := Evidence{grid: c.grid, w: c.meter.w, h: c.meter.h, shot: s}
	if s.limit > 0 {
		e.keep = keep(track, r.matte, c.grid, float32(s.limit*most))
	}
	if c.options.Views {
		e.show(&r, track, frames)
	}
	return e, nil
}

// shotOf is the shot that frame i is in.
func (c *Clip) shotOf(i int) shot {
	k, _ := slices.BinarySearchFunc(c.shots, i, func(s shot, i int) int { return s.last - i })
	return c.shots[k]
}

// keep is 0 for cells that move less than limit, together with their neighbours and by
// the share that the matte has of each, and 1 for all others. It is nil if there are
// only those.
func keep(motion []uint8, matte []float32, g image.Point, limit float32) []float32 {
	dst, all := make([]float32, len(motion)), true
	for y := range g.Y {
		for x := range g.X {
			var sum, weight float32
			for v := max(y-1, 0); v <= min(y+1, g.Y-1); v++ {
				for u := max(x-1, 0); u <= min(x+1, g.X-1); u++ {
					if k := v*g.X + u; motion[k] != unknown {
						w := max(matte[k], 0.02)
						sum, weight = sum+w*float32(motion[k]), weight+w
					}
				}
			}
			if weight > 0 && sum < limit*weight {
				all = false
			} else {
				dst[y*g.X+x] = 1
			}
		}
	}
	if all {
		return nil
	}
	return dst
}

// Close removes the record.
func (c *Clip) Close() error {
	err := c.frames.Close()
	if e := c.result.Close(); err == nil {
		err = e
	}
	return err
}
