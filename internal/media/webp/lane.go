package webp

import (
	"context"
	"errors"
	"image"
	"io"

	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// frame is one picture on its way to the file.
type frame struct {
	rect         image.Rectangle
	over         bool
	pix          []byte // until the encoder has it
	milliseconds int
	file         chan []byte // the encoder's, of one still
}

// lane is the encoders of rectangles of one size.
type lane struct {
	size     image.Point
	frames   chan *frame // to be encoded, by the next encoder that is free
	encoders int
	pixels   int // given to them
}

// encoder is a child of a lane.
type encoder struct {
	stills *ffmpeg.Stills
	given  chan *frame // to the child, which has not answered yet
}

// ahead bounds the frames whose files are not written yet. Their pictures are
// with the encoders.
const ahead = 64

// worth is how many pixels an encoder of a lane has to be given before it gets
// company. A child's start takes as long as start of them.
const (
	worth = 8 << 20
	start = worth / 10
)

// maxLanes bounds the children.
const maxLanes = 6

// spare is what a smaller lane would have saved.
type spare struct {
	pixels int
	need   image.Point // the size that frames needed meanwhile
}

// lane is the smallest lane for a change. It opens a new one where none is large enough,
// and where a smaller one would have saved more than its start costs.
func (w *Writer) lane(changed image.Rectangle) (*lane, error) {
	need := changed.Max.Sub(image.Pt(changed.Min.X&^1, changed.Min.Y&^1))
	var best *lane
	for _, l := range w.lanes {
		if need.X <= l.size.X && need.Y <= l.size.Y && (best == nil || area(l.size) < area(best.size)) {
			best = l
		}
	}
	if best != nil {
		w.spare.pixels += max(0, area(best.size)-area(w.roomy(need)))
		w.spare.need = image.Pt(max(w.spare.need.X, need.X), max(w.spare.need.Y, need.Y))
		if w.spare.pixels < start || len(w.lanes) == maxLanes {
			return best, nil
		}
		need = w.spare.need
	}
	size := w.roomy(need)
	w.spare = spare{}
	switch {
	case best != nil && area(size) >= area(best.size):
		return best, nil
	case len(w.lanes) >= maxLanes-1: // it is the last, and has room for all frames
		size = w.canvas.Max
	}
	l := &lane{size: size, frames: make(chan *frame)}
	w.lanes = append(w.lanes, l)
	return l, w.launch(l)
}

func (w *Writer) roomy(need image.Point) image.Point {
	return image.Pt(roomy(max(need.X, 1), w.canvas.Dx()), roomy(max(need.Y, 1), w.canvas.Dy()))
}

func area(size image.Point) int { return size.X * size.Y }

// give passes a frame on to the encoders of a lane.
func (w *Writer) give(ctx context.Context, l *lane, f *frame) error {
	l.pixels += area(l.size)
	select {
	case l.frames <- f:
		return nil
	default: // all are busy
	}
	if w.encoders-len(w.lanes) < w.opts.Workers-1 && l.pixels > l.encoders*worth {
		if err := w.launch(l); err != nil {
			return err
		}
	}
	select {
	case l.frames <- f:
		return nil
	case <-w.workCtx.Done():
		return context.Cause(w.workCtx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// launch adds an encoder to a lane.
func (w *Writer) launch(l *lane) error {
	stills, err := w.tools.NewStills(w.workCtx, l.size.X, l.size.Y, w.opts.Quality)
	if err != nil {
		return w.cause(err)
	}
	l.encoders, w.encoders = l.encoders+1, w.encoders+1
	e := &encoder{stills: stills, given: make(chan *frame, ahead)}
	w.work.Go(func() error { return e.feed(w.workCtx, l.frames, w.free) })
	w.work.Go(func() error { return e.collect(w.workCtx) })
	return nil
}

// feed gives the child pictures.
func (e *encoder) feed(ctx context.Context, frames <-chan *frame, free chan<- []byte) error {
	defer close(e.given)
	for {
		select {
		case f, more := <-frames:
			if !more {
				return e.stills.End()
			}
			e.given <- f // there is room for all frames
			if err := e.stills.Write(f.pix); err != nil {
				return err
			}
			free <- f.pix
			f.pix = nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// collect takes the child's files. It ends with the child.
func (e *encoder) collect(ctx context.Context) error {
	defer e.stills.Kill()
	for f := range e.given {
		file, err := e.stills.Read()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF):
			return errors.New("webp: the encoder has left out frames")
		case err != nil:
			return err
		}
		f.file <- file
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, err := e.stills.Read(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("webp: more pictures than frames")
		}
		return err
	}
	return nil
}
