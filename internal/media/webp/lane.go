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
// company: a child's start takes as long as a tenth of them.
const worth = 8 << 20

// give passes a frame on to the encoders of its size.
func (w *Writer) give(ctx context.Context, f *frame) error {
	size := f.rect.Size()
	l := w.lanes[size]
	if l == nil {
		l = &lane{size: size, frames: make(chan *frame)}
		w.lanes[size] = l
		if err := w.launch(l); err != nil {
			return err
		}
	}
	l.pixels += size.X * size.Y
	select {
	case l.frames <- f:
		return nil
	default: // all are busy
	}
	if f.rect == w.canvas && l.encoders < w.opts.Workers && l.pixels > l.encoders*worth {
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
	l.encoders++
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
