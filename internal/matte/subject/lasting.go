package subject

import (
	"context"
	"image"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/buffer"
	"github.com/bgremove/bgremove/internal/matte/motion"
	"github.com/bgremove/bgremove/internal/records"
)

const (
	// leastSure is how much a frame that does not tell counts, of one that is sure.
	leastSure = 0.01
	// lastingWeight is the weight of each frame, for refine.Prior, and lastingMost how many count. They
	// count less the less they agree.
	lastingWeight, lastingMost = 0.05, 10
)

// sureness is how much a frame counts in which a share of 255 of a cell is subject.
var sureness = func() (t [256]float32) {
	for i := range t {
		v := 2*float32(i)/255 - 1
		t[i] = v*v*v*v + leastSure
	}
	return t
}()

// lasting is the coverage of cells along their tracks: the sum over frames, each weighted by how sure
// it is, and the sum of those weights.
type lasting struct{ covered, sure, spare []float32 }

// reset sets the sums of n cells to nothing.
func (l *lasting) reset(n int) {
	for _, p := range []*[]float32{&l.covered, &l.sure, &l.spare} {
		*p = buffer.Sized(*p, n)
		clear(*p)
	}
}

// begin begins a shot with a frame.
func (l *lasting) begin(now *lasting) {
	l.reset(len(now.sure))
	l.advance(nil, nil, now)
}

// advance goes on to the next frame, in either direction of time, as sums do.
func (l *lasting) advance(way *motion.Field, trust []float32, now *lasting) {
	l.covered, l.spare = gather(l.covered, l.spare, way, trust, now.covered)
	l.sure, l.spare = gather(l.sure, l.spare, way, trust, now.sure)
}

// encode gives sums as two planes of bytes: the mean, and frames.
func (l *lasting) encode() (mean, count []byte) {
	mean, count = make([]byte, len(l.sure)), make([]byte, len(l.sure))
	for k, sure := range l.sure {
		mean[k], count[k] = round(l.covered[k]/max(sure, 1e-6)), logarithm(sure)
	}
	return mean, count
}

// add adds what encode gave.
func (l *lasting) add(mean, count []byte) {
	for k, b := range count {
		l.sure[k] += frames[b]
		l.covered[k] += frames[b] * float32(mean[k]) / 255
	}
}

// without are the sums without those of a frame.
func (l *lasting) without(now *lasting) *lasting {
	less := new(lasting)
	less.reset(len(l.sure))
	for k, sure := range l.sure {
		less.sure[k], less.covered[k] = sure-now.sure[k], l.covered[k]-now.covered[k]
	}
	return less
}

// Endure finds what each cell is by the frames of the shot in which its track is surely subject or surely
// not, for Choice.Lasting. It comes after Choose. It does nothing where that kept all, or where there will be
// hints: they tell of each frame.
func (c *Clip) Endure(ctx context.Context) error {
	if c.chosen.Len() == 0 || c.pictures != nil {
		return nil
	}
	for _, f := range []**records.File{&c.before, &c.after} {
		var err error
		if *f, err = records.Create(c.tempDir); err != nil {
			return err
		}
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return c.endureUntil(ctx) })
	both.Go(func() error { return c.endureAfter(ctx) })
	return both.Wait()
}

// endureUntil keeps what is known of each frame by those of its shot before it, and by itself.
func (c *Clip) endureUntil(ctx context.Context) error {
	var l lasting
	for i := range c.chosen.Len() {
		now, links, err := c.surely(ctx, i)
		if err != nil {
			return err
		}
		if i == c.shotOf(i).first {
			l.begin(now)
		} else {
			l.advance(&links.Back, links.Trust, now)
		}
		if err := c.before.Append(l.encode()); err != nil {
			return err
		}
	}
	return nil
}

// endureAfter keeps what is known of each frame by those of its shot after it, the last frame first.
func (c *Clip) endureAfter(ctx context.Context) error {
	var l lasting
	var next *Links
	for i := c.chosen.Len() - 1; i >= 0; i-- {
		now, links, err := c.surely(ctx, i)
		if err != nil {
			return err
		}
		if i == c.shotOf(i).last {
			l.begin(now)
		} else {
			l.advance(&next.Forward, next.Ahead, now)
		}
		next = links
		if err := c.after.Append(l.without(now).encode()); err != nil {
			return err
		}
	}
	return nil
}

// surely is what frame i tells of itself, and its links.
func (c *Clip) surely(ctx context.Context, i int) (*lasting, *Links, error) {
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	choice, err := c.choice(i)
	if err != nil {
		return nil, nil, err
	}
	links, err := c.links(i)
	if err != nil {
		return nil, nil, err
	}
	now := new(lasting)
	now.reset(len(choice.keep))
	for k, share := range choice.keep {
		v := round(share * float32(shifted(choice.before[k], choice.odds[k])) / 255)
		now.sure[k] = sureness[v]
		now.covered[k] = sureness[v] * float32(v) / 255
	}
	return now, links, nil
}

// last adds to the choice of frame i what lasts.
func (c *Clip) last(choice *Choice, i int) error {
	n := c.grid.X * c.grid.Y
	var all lasting
	all.reset(n)
	mean, count := make([]byte, n), make([]byte, n)
	for _, p := range [...]struct {
		from *records.File
		at   int
	}{{c.before, i}, {c.after, c.after.Len() - 1 - i}} {
		if err := p.from.Read(p.at, mean, count); err != nil {
			return err
		}
		all.add(mean, count)
	}
	choice.lasting, choice.lastingSure = make([]float32, n), make([]float32, n)
	for k, sum := range all.sure {
		share := all.covered[k] / max(sum, 1e-6)
		sure := 2*share - 1
		choice.lasting[k], choice.lastingSure[k] = share, lastingWeight*min(sum, lastingMost)*sure*sure
	}
	return nil
}

// Lasting is a refine.Prior: the coverage of the frame's pixels by the frames of the shot in which
// it is sure.
func (c *Choice) Lasting(size image.Point) (coverage, weight []float32) {
	if c.lasting == nil {
		return nil, nil
	}
	coverage, weight = make([]float32, size.X*size.Y), make([]float32, size.X*size.Y)
	for _, p := range [...]struct{ from, to []float32 }{{c.lasting, coverage}, {c.lastingSure, weight}} {
		between(p.from, c.grid, size, image.Pt(c.w, c.h), func(y int, row []float32) { copy(p.to[y*size.X:], row) })
	}
	return coverage, weight
}
