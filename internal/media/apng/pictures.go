package apng

import (
	"bytes"
	"context"
	"fmt"
	"image"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/system/cores"
)

// Pictures is a media.Sink that writes each frame as a PNG of its own, lossless, as
// RGBA. Frames are compressed in parallel, each in memory. It is used by one
// goroutine.
type Pictures struct {
	media.Ending
	size    image.Point
	opts    Options
	each    func(png []byte) error
	pending []chan encoded // in order
	any     bool           // frame has come
}

// encoded is a picture's file, or why there is none.
type encoded struct {
	png []byte
	err error
}

var _ media.Sink = (*Pictures)(nil)

// NewPictures makes a sink of frames of one size. It calls each with their files in
// order, from Write and Close. Of the options, Plays does not apply.
func NewPictures(width, height int, o Options, each func(png []byte) error) *Pictures {
	if o.Workers <= 0 {
		o.Workers = cores.Count()
	}
	p := &Pictures{size: image.Pt(width, height), opts: o, each: each}
	p.Ending = media.NewEnding(p.finish, p.release)
	return p
}

// Write takes the next frame. It blocks while all workers are busy. Pixels with alpha 0
// are written as 0,0,0,0. After an error all later calls return it.
func (p *Pictures) Write(ctx context.Context, f *media.Frame) error {
	err := p.Attempt(func() error { return p.write(ctx, f.Image) })
	if err != nil {
		p.opts.Pool.Put(f.Image)
	}
	return err
}

func (p *Pictures) write(ctx context.Context, img *image.NRGBA) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if img.Rect != (image.Rectangle{Max: p.size}) || img.Stride != 4*p.size.X {
		return fmt.Errorf("png: a picture is %v with stride %d, want %v", img.Rect, img.Stride, p.size)
	}
	if len(p.pending) == p.opts.Workers {
		if err := p.next(); err != nil {
			return err
		}
	}
	done := make(chan encoded, 1)
	p.any = true
	p.pending = append(p.pending, done)
	go func() {
		file, err := encodeStill(img, p.opts.Opaque)
		p.opts.Pool.Put(img)
		done <- encoded{file, err}
	}()
	return nil
}

// next passes on the first of the pending files.
func (p *Pictures) next() error {
	e := <-p.pending[0]
	p.pending = p.pending[1:]
	if e.err != nil {
		return e.err
	}
	return p.each(e.png)
}

// encodeStill is the file of a picture, whose hidden colours it clears.
func encodeStill(img *image.NRGBA, opaque bool) ([]byte, error) {
	if opaque {
		media.MakeOpaque(img.Pix)
	} else {
		media.ClearHidden(img.Pix)
	}
	var file bytes.Buffer
	s, err := NewStill(&file, img.Rect.Dx(), img.Rect.Dy(), !Flat(img.Pix))
	if err != nil {
		return nil, err
	}
	const rows = 64 // at once: filtered rows take as much memory again
	for pix := img.Pix; len(pix) > 0; {
		n := min(len(pix), rows*img.Stride)
		if err := s.WriteRows(pix[:n]); err != nil {
			return nil, err
		}
		pix = pix[n:]
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// finish passes on the pending files.
func (p *Pictures) finish() error {
	if !p.any {
		return media.ErrNoFrames
	}
	for len(p.pending) > 0 {
		if err := p.next(); err != nil {
			return err
		}
	}
	return nil
}

// release waits for the workers and drops what they have.
func (p *Pictures) release(error) {
	for _, done := range p.pending {
		<-done
	}
	p.pending = nil
}
