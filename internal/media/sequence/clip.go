package sequence

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/picture"
)

// DefaultRate is how many pictures are shown a second, as ffmpeg has it.
const DefaultRate = 25

// Clip is the pictures, shown at a rate. It implements media.Clip and is safe for
// concurrent use.
type Clip struct {
	pictures []*picture.Clip
	rate     float64
	info     media.Info
	// Size is that of all files, in bytes.
	Size int64
}

// Probe reads the heads of pictures, which must have one size. A rate of 0 means
// DefaultRate. The errors are those of picture.Probe, with the name of the file.
func Probe(paths []string, rate float64, l media.Limits) (*Clip, error) {
	if rate == 0 {
		rate = DefaultRate
	}
	c := &Clip{rate: rate}
	for i, path := range paths {
		p, stat, err := probe(path, l)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		info := p.Info()
		if i == 0 {
			c.info = info
		}
		if info.Width != c.info.Width || info.Height != c.info.Height {
			return nil, &media.UnreadableError{Reason: fmt.Sprintf("%s has %d×%d pixels, but the first picture has %d×%d",
				filepath.Base(path), info.Width, info.Height, c.info.Width, c.info.Height)}
		}
		if err := l.CheckTotals(i+1, int64(i+1)*int64(info.Width)*int64(info.Height)); err != nil {
			return nil, err
		}
		c.pictures, c.Size = append(c.pictures, p), c.Size+stat.Size()
		c.info.HasAlpha = c.info.HasAlpha || info.HasAlpha
	}
	c.info.Container, c.info.Still, c.info.Frames = media.Pictures, false, len(paths)
	c.info.Duration = c.at(len(paths))
	c.info.LastFrame = c.info.Duration - c.at(len(paths)-1)
	c.info.TimeBase = media.Rational{Num: 1000, Den: int64(math.Round(1000 * rate))}
	if rate == math.Trunc(rate) {
		c.info.TimeBase = media.Rational{Num: 1, Den: int64(rate)}
	}
	return c, nil
}

// probe opens one picture.
func probe(path string, l media.Limits) (*picture.Clip, os.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	head := make([]byte, media.SniffLen)
	n, _ := io.ReadFull(f, head)
	switch kind := media.Sniff(head[:n]); {
	case kind != media.PNG && kind != media.JPEG && kind != media.WebP, media.Animated(f):
		return nil, nil, &media.UnreadableError{Reason: "not a still picture (PNG, JPEG, WebP)"}
	}
	stat, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	p, err := picture.Probe(path, l)
	return p, stat, err
}

// at is when a picture is shown, from 0 on.
func (c *Clip) at(i int) time.Duration {
	return time.Duration(math.Round(float64(i) / c.rate * float64(time.Second)))
}

// Info implements media.Clip.
func (c *Clip) Info() media.Info { return c.info }

// Open implements media.Clip.
func (c *Clip) Open(_ context.Context, o media.ReadOptions) (media.Source, error) {
	return &source{clip: c, pool: o.Pool, every: max(1, o.Every), from: o.From}, nil
}

// source is a pass over the pictures.
type source struct {
	clip  *Clip
	pool  *media.Pool
	every int
	from  time.Duration
	next  int
}

// Next implements media.Source.
func (s *source) Next(ctx context.Context) (*media.Frame, error) {
	for s.next < len(s.clip.pictures) && s.clip.at(s.next) < s.from {
		s.next += s.every
	}
	if s.next >= len(s.clip.pictures) {
		return nil, io.EOF
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	i := s.next
	s.next += s.every
	img, err := s.clip.pictures[i].Decode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.clip.pictures[i].Name(), err)
	}
	if size := img.Rect.Size(); size.X != s.clip.info.Width || size.Y != s.clip.info.Height {
		return nil, &media.UnreadableError{Reason: s.clip.pictures[i].Name() + " has changed its size"}
	}
	lent := s.pool.Get(s.clip.info.Width, s.clip.info.Height)
	copy(lent.Pix, img.Pix)
	d := s.clip.at(i+1) - s.clip.at(i)
	return &media.Frame{Image: lent, PTS: s.clip.at(i), Duration: d, Delay: d}, nil
}

// Close implements media.Source.
func (s *source) Close() error {
	s.next = len(s.clip.pictures)
	return nil
}
