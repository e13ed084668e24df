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

// lane is an encoder of rectangles of one size.
type lane struct {
	stills *ffmpeg.Stills
	frames chan *frame // to be encoded
	given  chan *frame // to the encoder, which has not answered yet
}

// ahead bounds the frames whose files are not written yet. Their pictures are
// with the encoders.
const ahead = 64

// open starts the encoder of a lane.
func (w *Writer) open(size image.Point) (*lane, error) {
	stills, err := w.tools.NewStills(w.workCtx, size.X, size.Y, w.opts.Quality)
	if err != nil {
		return nil, err
	}
	l := &lane{stills: stills, frames: make(chan *frame), given: make(chan *frame, ahead)}
	w.work.Go(func() error { return l.feed(w.workCtx, w.free) })
	w.work.Go(func() error { return l.collect(w.workCtx) })
	return l, nil
}

// feed gives the encoder its pictures.
func (l *lane) feed(ctx context.Context, free chan<- []byte) error {
	defer close(l.given)
	for {
		select {
		case f, more := <-l.frames:
			if !more {
				return l.stills.End()
			}
			l.given <- f // there is room for all frames
			if err := l.stills.Write(f.pix); err != nil {
				return err
			}
			free <- f.pix
			f.pix = nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// collect takes the encoder's files. It ends with the encoder.
func (l *lane) collect(ctx context.Context) error {
	defer l.stills.Kill()
	for f := range l.given {
		file, err := l.stills.Read()
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
	if _, err := l.stills.Read(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("webp: more pictures than frames")
		}
		return err
	}
	return nil
}
