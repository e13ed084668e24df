package picture

import (
	"context"
	"fmt"
	"image"
	"io"
	"os"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// Disposal is what becomes of a part's rectangle after it was shown.
type Disposal int

// The disposals.
const (
	Keep     Disposal = iota // it stays
	Clear                    // it becomes transparent
	Previous                 // it becomes what it was before
)

// Part is a stored picture of an animation, and how players show it.
type Part struct {
	Rect    image.Rectangle // of the canvas
	Over    bool            // it is blended with what is below, which it replaces otherwise
	Dispose Disposal
	Delay   time.Duration // as it is written
	// Offset and Size are where its data lie in the file.
	Offset, Size int64
}

// Animation is a clip painted of parts, one over the other, on a canvas that begins
// transparent. It implements media.Clip and is safe for concurrent use.
type Animation struct {
	path   string
	info   media.Info
	parts  []Part
	decode func(io.ReaderAt, Part) (*image.NRGBA, error)
}

// NewAnimation makes a clip of the parts of a file, of which there is one at least.
// Of info it fills in what follows from them. decode reads a part, of the size of its
// rectangle.
func NewAnimation(path string, info media.Info, parts []Part, decode func(io.ReaderAt, Part) (*image.NRGBA, error)) *Animation {
	info.Frames, info.TimeBase = len(parts), media.Rational{Num: 1, Den: 1000}
	info.HasAlpha = info.HasAlpha || parts[0].Rect.Dx() != info.Width || parts[0].Rect.Dy() != info.Height
	for i, p := range parts {
		info.LastFrame = media.Shown(p.Delay)
		info.Duration += info.LastFrame
		info.HasAlpha = info.HasAlpha || p.Dispose == Clear || p.Dispose == Previous && i == 0
	}
	return &Animation{path, info, parts, decode}
}

// CheckParts refuses the next part of a file: one outside the canvas, or one too many.
func CheckParts(parts []Part, next Part, canvas image.Rectangle, l media.Limits) error {
	n := len(parts) + 1
	if next.Rect.Empty() || !next.Rect.In(canvas) {
		return &media.UnreadableError{Reason: fmt.Sprintf("frame %d, at %v, is not within the picture of %d×%d pixels", n, next.Rect, canvas.Dx(), canvas.Dy())}
	}
	return l.CheckTotals(n, int64(n)*int64(canvas.Dx())*int64(canvas.Dy()))
}

// Info implements media.Clip.
func (a *Animation) Info() media.Info { return a.info }

// Open implements media.Clip.
func (a *Animation) Open(_ context.Context, o media.ReadOptions) (media.Source, error) {
	f, err := os.Open(a.path)
	if err != nil {
		return nil, err
	}
	canvas := image.NewNRGBA(image.Rect(0, 0, a.info.Width, a.info.Height))
	return &painter{clip: a, file: f, every: max(1, o.Every), pool: o.Pool, canvas: canvas}, nil
}

// painter is a pass over an animation.
type painter struct {
	clip   *Animation
	file   *os.File
	pool   *media.Pool
	every  int
	canvas *image.NRGBA
	saved  *image.NRGBA // what was below the last part, if that is to come back
	next   int          // of the parts
	pts    time.Duration
	closed bool
}

// Next implements media.Source. Parts that are left out are painted all the same.
func (p *painter) Next(ctx context.Context) (*media.Frame, error) {
	if p.closed || p.next == len(p.clip.parts) {
		return nil, io.EOF
	}
	f := &media.Frame{PTS: p.pts, Duration: media.Shown(p.clip.parts[p.next].Delay), Delay: p.clip.parts[p.next].Delay}
	for i := range p.every {
		if p.next == len(p.clip.parts) {
			break
		}
		err := context.Cause(ctx)
		if err == nil {
			err = p.paint()
		}
		if err != nil {
			p.pool.Put(f.Image)
			return nil, err
		}
		if i == 0 {
			f.Image = p.pool.Get(p.clip.info.Width, p.clip.info.Height)
			copy(f.Image.Pix, p.canvas.Pix)
		}
	}
	return f, nil
}

// paint paints the next part.
func (p *painter) paint() error {
	part := p.clip.parts[p.next]
	if p.next > 0 {
		p.dispose(p.clip.parts[p.next-1])
	}
	img, err := p.clip.decode(p.file, part)
	if err != nil {
		return &media.UnreadableError{Reason: fmt.Sprintf("frame %d cannot be read", p.next+1), Err: err}
	}
	if img.Rect.Size() != part.Rect.Size() {
		return &media.UnreadableError{Reason: fmt.Sprintf("frame %d has another size than it says", p.next+1)}
	}
	if p.saved = nil; part.Dispose == Previous {
		p.saved = image.NewNRGBA(img.Rect)
		draw(p.saved, image.Point{}, p.canvas, part.Rect, false)
	}
	draw(p.canvas, part.Rect.Min, img, img.Rect, part.Over)
	p.pts += media.Shown(part.Delay)
	p.next++
	return nil
}

func (p *painter) dispose(part Part) {
	switch part.Dispose {
	case Clear:
		draw(p.canvas, part.Rect.Min, image.NewNRGBA(image.Rectangle{Max: part.Rect.Size()}), image.Rectangle{Max: part.Rect.Size()}, false)
	case Previous:
		draw(p.canvas, part.Rect.Min, p.saved, p.saved.Rect, false)
	case Keep:
	}
}

// Close implements media.Source.
func (p *painter) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	return p.file.Close()
}

// draw puts a rectangle of src at a point of dst, over it or in its place.
func draw(dst *image.NRGBA, at image.Point, src *image.NRGBA, from image.Rectangle, over bool) {
	for y := range from.Dy() {
		to := dst.Pix[dst.PixOffset(at.X, at.Y+y):][:4*from.Dx()]
		row := src.Pix[src.PixOffset(from.Min.X, from.Min.Y+y):][:4*from.Dx()]
		if !over {
			copy(to, row)
			continue
		}
		for ; len(row) > 0; row, to = row[4:], to[4:] {
			blend(to, row)
		}
	}
}

// blend puts a pixel over another, both with straight alpha.
func blend(to, pixel []uint8) {
	a, below := uint32(pixel[3]), uint32(to[3])
	switch {
	case a == 0:
		return
	case a == 255 || below == 0:
		copy(to[:4], pixel[:4])
		return
	}
	a, below = 255*a, below*(255-a) // of 255²
	sum := a + below
	for i := range 3 {
		to[i] = uint8((uint32(pixel[i])*a + uint32(to[i])*below + sum/2) / sum)
	}
	to[3] = uint8((sum + 127) / 255)
}
