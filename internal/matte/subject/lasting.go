package subject

import (
	"context"
	"errors"
	"image"

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

// lasting is the coverage of cells as their tracks have it: the sum over frames, each by how sure it is,
// and the sum of that.
type lasting struct{ covered, sure, spare []float32 }

// reset begins a shot of n cells.
func (l *lasting) reset(n int) {
	for _, p := range []*[]float32{&l.covered, &l.sure, &l.spare} {
		*p = sized(*p, n)
		clear(*p)
	}
}

// advance goes on to the next frame, in either direction of time, as sums do.
func (l *lasting) advance(way *motion.Field, trust []float32, now *lasting) {
	l.covered, l.spare = gather(l.covered, l.spare, way, trust, now.covered)
	l.sure, l.spare = gather(l.sure, l.spare, way, trust, now.sure)
}

// encode gives l as two planes of bytes: the mean, and frames.
func (l *lasting) encode() (mean, count []byte) {
	mean, count = make([]byte, len(l.sure)), make([]byte, len(l.sure))
	for k, sure := range l.sure {
		mean[k], count[k] = round(l.covered[k]/max(sure, 1e-6)), logarithm(sure)
	}
	return mean, count
}

// set makes l what encode gave.
func (l *lasting) set(mean, count []byte) {
	l.reset(len(mean))
	for k, b := range count {
		l.sure[k] = frames[b]
		l.covered[k] = frames[b] * float32(mean[k]) / 255
	}
}

// Endure finds what each cell is by the frames of the shot in which its track is surely subject or surely
// not, for Choice.Lasting. It comes after Choose. It does nothing where that kept all, or where there will be
// hints: they tell of each frame.
func (c *Clip) Endure(ctx context.Context) (err error) {
	if c.chosen.Len() == 0 || c.pictures != nil {
		return nil
	}
	before, err := records.Create(c.tempDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, before.Close()) }()
	if c.lasting, err = records.Create(c.tempDir); err != nil {
		return err
	}
	for i := range c.shots {
		if err := c.endureUntil(ctx, &c.shots[i], before); err != nil {
			return err
		}
	}
	for i := len(c.shots) - 1; i >= 0; i-- {
		if err := c.endureFrom(ctx, &c.shots[i], before); err != nil {
			return err
		}
	}
	return nil
}

// endureUntil writes what is known of each frame of a shot by those before it, and by itself.
func (c *Clip) endureUntil(ctx context.Context, s *shot, to *records.File) error {
	var l lasting
	l.reset(c.grid.X * c.grid.Y)
	for i := s.first; i <= s.last; i++ {
		now, links, err := c.surely(ctx, i)
		if err != nil {
			return err
		}
		if i == s.first {
			l.advance(nil, nil, now)
		} else {
			l.advance(&links.Back, links.Trust, now)
		}
		mean, count := l.encode()
		if err := to.Append(mean, count); err != nil {
			return err
		}
	}
	return nil
}

// endureFrom keeps what is known of each frame of a shot, the last one first.
func (c *Clip) endureFrom(ctx context.Context, s *shot, before *records.File) error {
	var l, all lasting
	n := c.grid.X * c.grid.Y
	l.reset(n)
	mean, count := make([]byte, n), make([]byte, n)
	var next *Links
	for i := s.last; i >= s.first; i-- {
		now, links, err := c.surely(ctx, i)
		if err != nil {
			return err
		}
		if next == nil {
			l.advance(nil, nil, now)
		} else {
			l.advance(&next.Forward, next.Ahead, now)
		}
		next = links
		if err := before.Read(i, mean, count); err != nil {
			return err
		}
		all.set(mean, count)
		for k := range all.sure {
			all.covered[k] += l.covered[k] - now.covered[k]
			all.sure[k] += l.sure[k] - now.sure[k]
		}
		if err := c.lasting.Append(all.encode()); err != nil {
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
	mean, count := make([]byte, n), make([]byte, n)
	if err := c.lasting.Read(c.lasting.Len()-1-i, mean, count); err != nil {
		return err
	}
	choice.lasting, choice.lastingSure = shares(mean), make([]float32, n)
	for k, b := range count {
		sure := 2*choice.lasting[k] - 1
		choice.lastingSure[k] = lastingWeight * min(frames[b], lastingMost) * sure * sure
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
