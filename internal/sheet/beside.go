package sheet

import (
	"context"

	"github.com/bgremove/bgremove/internal/media"
)

// Beside is a sink that writes frames both to a sheet and to another output.
func Beside(w *Writer, other media.Sink) media.Sink { return &both{w, other} }

type both struct {
	sheet *Writer
	other media.Sink
}

// Write gives the sheet a copy, since the other owns the frame.
func (b *both) Write(ctx context.Context, f *media.Frame) error {
	if err := b.sheet.add(ctx, f); err != nil {
		b.sheet.opts.Pool.Put(f.Image)
		return err
	}
	return b.other.Write(ctx, f)
}

// Close completes the sheet first: an Abort still ends the other when that fails.
func (b *both) Close() error {
	if err := b.sheet.Close(); err != nil {
		return err
	}
	return b.other.Close()
}

// Abort ends both.
func (b *both) Abort() {
	b.sheet.Abort()
	b.other.Abort()
}
