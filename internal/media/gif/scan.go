package gif

import (
	"errors"
	"image"
	"io"

	"github.com/bgremove/bgremove/internal/media"
)

// Scan describes a GIF by walking its blocks. It decodes no picture and makes
// no canvas. It counts exactly the frames that a Reader yields, and returns the
// same errors: ErrMalformed, ErrNoFrames, and media.LimitError as soon as a
// limit is passed.
//
// Info.HasAlpha reports whether a composed frame can have transparent pixels.
// That is so if the first picture, or one after a disposal to background, is
// smaller than the hole it has to fill, is truncated, or has a transparent
// colour. Transparency that only shows an earlier picture does not count.
// Pixels that are missing or have no colour inside a damaged picture are not
// searched for.
func Scan(r io.Reader, lim media.Limits) (media.Info, error) {
	p, err := newParser(r, lim)
	if err != nil {
		return media.Info{}, err
	}
	info := media.Info{Container: media.GIF, Codec: "gif", TimeBase: media.Rational{Num: 1, Den: 100}}
	var cover coverage
	for {
		pic, err := p.next()
		if err == nil {
			err = p.skipData(pic)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return media.Info{}, err
		}
		cover.add(pic, image.Rect(0, 0, p.width, p.height))
		info.LastFrame = media.Shown(pic.control.delay)
		info.Duration += info.LastFrame
	}
	info.Width, info.Height, info.Frames, info.Plays = p.width, p.height, p.frames, p.plays
	info.HasAlpha = cover.alpha || p.firstTruncated
	info.Truncated = p.truncated
	return info, nil
}

func (p *parser) skipData(pic *imageBlock) error {
	for {
		if b, err := p.data(pic); err != nil || len(b) == 0 {
			return err
		}
	}
}

// coverage follows which part of the canvas is transparent, as one rectangle.
type coverage struct {
	begun bool
	hole  image.Rectangle // where nothing has been painted
	alpha bool            // a hole was left in some frame
}

func (c *coverage) add(pic *imageBlock, canvas image.Rectangle) {
	if !c.begun {
		c.begun, c.hole = true, canvas
	}
	rect := pic.rect.Intersect(canvas)
	before := c.hole
	if pic.opaque() && before.In(rect) {
		c.hole = image.Rectangle{}
	}
	c.alpha = c.alpha || !c.hole.Empty()
	switch pic.control.disposal {
	case disposeBackground:
		c.hole = c.hole.Union(rect)
	case disposePrevious:
		c.hole = before
	}
}
