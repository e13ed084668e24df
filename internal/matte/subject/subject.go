// Package subject finds which parts of a clip's mattes belong to its subject. A network
// that sees one frame at a time misses parts of the subject. It also marks parts of the
// backdrop that look like one. Over the clip, things of the backdrop move as the camera
// makes them, and parts that were missed in one frame are seen in others.
//
// The motion of each place against the camera, and the mattes, are gathered along its
// track through the shot. So a subject that pauses is known by what it did before and after.
// A small network decides from that (view.Cells). The sums along tracks are those of A.
// Papazoglou and V. Ferrari, "Fast Object Segmentation in Unconstrained Video", ICCV
// 2013; a network that joins motion and appearance is T. Zhou et al., "Motion-Attentive
// Transition for Zero-Shot Video Object Segmentation", AAAI 2020.
package subject

import (
	"context"
	"errors"
	"image"
	"sort"
	"sync"

	"github.com/bgremove/bgremove/internal/matte/reduce"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/matte/view"
	"github.com/bgremove/bgremove/internal/records"
)

// Wanted is which of the things that a network marks is wanted.
type Wanted int

// The choices.
const (
	// Auto lets a network decide from appearance and motion. Little is dropped in shots in which
	// little moves.
	Auto Wanted = iota
	// Moving also drops what moves little against the backdrop.
	Moving
	// Salient drops and adds nothing.
	Salient
)

const (
	// cell is the side in pixels of the squares over which motion is averaged.
	cell = 4
	// For the statistics, a cell is backdrop where the matte covers less than open of it, and
	// subject where it covers more than subjectLike.
	open, subjectLike = 0.05, 0.5
	// liveliest is the quantile of motion within the mattes that stands for the subject's,
	// and busiest that outside for the backdrop's.
	liveliest, busiest = 0.8, 0.9
	// lively is the least motion from frame to frame of a subject that moves much, some 0.3
	// pixels where the camera stands still.
	lively = 0.8
	// movingShare is what Moving drops: parts that move by less than this share of the
	// subject's motion.
	movingShare = 0.5
	// fading is what is left of a track's sums from one frame to the next: some 30 frames
	// count on either side. The chooser has learnt from short clips. Without fading, sums over
	// a minute made it choose places where nothing was.
	fading = 0.97
	// A place is judged if it was followed in seenLeast frames. To count from one frame to the
	// next, it must be followed more surely than seenNow.
	seenLeast, seenNow = 1.5, 0.3
)

// Clip gathers the motion of a clip. Call Step and Add for all frames in order, then Decide and
// Choose. Then call Guide if there are hints, and Endure if not. After that, Choice tells of each
// frame. Step may run in another goroutine; the other methods are for one.
type Clip struct {
	stepper stepper
	said    said
	meter   meter
	grid    image.Point // cells
	frames  *records.File
	seen    *records.File // features by frame
	due     []bool        // whether the network was to look, by frame
	shots   []shot
	tracks  sums
	result  *records.File // what was gathered along tracks by frame, the last frame first
	chosen  *records.File // what Choose found, by frame
	before  *records.File // what Endure found by the frames up to each, and
	after   *records.File // by those after it, the last frame first; nil before
	wanted  Wanted
	network bool     // whether a network chose
	watched *shot    // the one that comings is of
	comings *comings // nil where nothing is known

	mu   sync.Mutex           // guards kept, hints and hinted, which Guide uses from two goroutines
	kept [linksKept]keptLinks // those that were read lately

	pictures *records.File  // for Guide, by frame; nil if there will be no hints
	mattes   *records.File  // the network's, in their size
	scaler   *reduce.Scaler // to their size
	hints    *records.File  // the mattes that Guide found
	hinted   []int          // which of those is of each frame; nil before Guide
	followed *follower      // that found them

	tempDir string
	states  *records.File      // of frames that Preview has followed marks through; nil before
	trails  map[*shot][]*trail // what they are of, the last that was asked for at the end
}

// shot is a run of frames without a cut.
type shot struct {
	first, last int
	// subject, backdrop, busiest and lively are view.ShotSubject and so on, 0 to 1.
	subject, backdrop, busiest, lively float64
	drift                              drift
	found                              found // after Choose
	arrivals                           arrivals
}

// has reports whether a frame is in the shot.
func (s *shot) has(i int) bool { return i >= s.first && i <= s.last }

// New begins a clip. Its record is kept in temporary files of a folder; empty is the
// system's folder for such files. Guide and Preview need a clip that is to be hinted. The
// caller closes it.
func New(tempDir string, hinted bool) (*Clip, error) {
	c := &Clip{tempDir: tempDir, stepper: stepper{schedule: newSchedule()}}
	files := []**records.File{&c.frames, &c.seen, &c.result, &c.chosen}
	if hinted {
		files = append(files, &c.pictures, &c.mattes, &c.hints)
	}
	for _, f := range files {
		var err error
		if *f, err = records.Create(tempDir); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Add adds the frame of the next step: its matte, of the picture's size, and what the network sees in
// it. Neither may change until the next Add. The step is of no use then.
func (c *Clip) Add(step *Step, m *image.Alpha, seen view.Features) error {
	n := c.frames.Len()
	c.meter.measure(step, m)
	if step.pixels != nil {
		c.stepper.free.Put(step.pixels)
	}
	if step.cut {
		c.grid = c.meter.grid
		c.tracks.reset(c.grid.X * c.grid.Y)
		c.shots = append(c.shots, shot{first: n})
	}
	seen = seen.Fit(view.Places(c.grid.X, c.grid.Y))
	c.due = append(c.due, step.Due)
	c.said = said{m, seen}
	c.shots[len(c.shots)-1].last = n
	s := &c.meter.sample
	c.stepper.schedule.mattes <- coverage{n, rounded(s.matte)}
	c.tracks.advance(&s.Back, s.Trust, s.quantities())
	if c.pictures != nil {
		if err := c.pictures.Append(pixels(c.scaled(step.picture))...); err != nil {
			return err
		}
		small := image.NewAlpha(c.marker().bounds())
		refine.Resize(small, m)
		if err := c.mattes.Append(small.Pix); err != nil {
			return err
		}
	}
	if err := c.seen.Append(seen.Pix); err != nil {
		return err
	}
	return c.write(s)
}

// guided is the shorter side, in pixels, of the largest pictures that Guide looks at.
const guided = 192

// scaled is a picture for Guide.
func (c *Clip) scaled(img *image.NRGBA) *image.NRGBA {
	from := img.Rect.Size()
	if c.scaler == nil {
		to, short := from, min(from.X, from.Y)
		if short > guided {
			to = image.Pt((from.X*guided+short/2)/short, (from.Y*guided+short/2)/short)
		}
		c.scaler = reduce.New(from, to)
	}
	_, to := c.scaler.Sizes()
	small := image.NewNRGBA(image.Rectangle{Max: to})
	c.scaler.Draw(small, img)
	return small
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
// sets the shot's statistics.
func (c *Clip) judge(ctx context.Context, s *shot) error {
	var inside, outside histogram
	frames, busy := 0, 0 // with a subject, and those in which it is lively
	var later, whole sums
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
		if i == s.last {
			later.reset(len(r.Ahead))
			later.advance(nil, nil, &r.sample)
		} else {
			later.advance(&next.Forward, next.Ahead, &r.sample)
		}
		whole.join(&r.before, &later.of, &r.sample)
		s.drift.add(&r.Back, r.sample[covered])
		var now histogram
		for k, m := range r.sample[covered] {
			if m > subjectLike && r.sample[seen][k] > seenNow {
				now.add(r.sample[moved][k] / r.sample[seen][k])
			}
			if whole.of[seen][k] < seenLeast {
				continue
			}
			switch v := whole.of[moved][k] / whole.of[seen][k]; {
			case m > subjectLike:
				inside.add(v)
			case m < open:
				outside.add(v)
			}
		}
		if now.all > 0 {
			frames++
			if now.quantile(liveliest) > lively {
				busy++
			}
		}
		if err := c.result.Append(whole.means()...); err != nil {
			return err
		}
	}
	s.subject, s.backdrop, s.busiest = inside.quantile(liveliest), outside.quantile(0.5), outside.quantile(busiest)
	s.lively = float64(busy) / float64(max(frames, 1))
	return nil
}

// Frame is what is known of frame i after Decide.
func (c *Clip) Frame(i int) (view.Cells, error) {
	v, _, err := c.frame(i)
	return v, err
}

// linksKept is of how many frames links are kept: those that the ways of two frames need, and some more.
const linksKept = 32

// keptLinks are the links of a frame, nil if there are none.
type keptLinks struct {
	frame int
	links *Links
}

// links is how frame i belongs to the one before. The caller does not change it.
func (c *Clip) links(i int) (*Links, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := &c.kept[i%linksKept]
	if kept.links != nil && kept.frame == i {
		return kept.links, nil
	}
	links, err := c.readLinks(i)
	if err != nil {
		return nil, err
	}
	*kept = keptLinks{i, links}
	return links, nil
}

// frame is Frame, and how the frame belongs to the one before.
func (c *Clip) frame(i int) (view.Cells, Links, error) {
	v := view.NewCells(c.grid.X, c.grid.Y)
	var r record
	if err := c.read(i, &r); err != nil {
		return v, Links{}, err
	}
	var means [][]uint8
	for _, p := range []view.CellPlane{view.TrackMotion, view.TrackAlong, view.TrackTrust, view.TrackCoverage, view.TrackFrames} {
		means = append(means, v.Plane(p))
	}
	if err := c.result.Read(c.result.Len()-1-i, means...); err != nil {
		return v, Links{}, err
	}
	if err := c.seen.Read(i, v.Features.Pix); err != nil {
		return v, Links{}, err
	}
	r.show(&v)
	s := c.shotOf(i)
	for p, share := range map[view.CellPlane]float64{view.ShotSubject: s.subject, view.ShotBackdrop: s.backdrop, view.ShotBusiest: s.busiest, view.ShotLively: s.lively} {
		for j, plane := 0, v.Plane(p); j < len(plane); j++ {
			plane[j] = round(float32(share))
		}
	}
	return v, r.Links, nil
}

// shotOf is the shot of frame i.
func (c *Clip) shotOf(i int) *shot {
	return &c.shots[sort.Search(len(c.shots), func(k int) bool { return c.shots[k].last >= i })]
}

// Close removes the record.
func (c *Clip) Close() (err error) {
	for _, f := range []*records.File{c.frames, c.seen, c.result, c.chosen, c.before, c.after, c.pictures, c.mattes, c.hints, c.states} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
