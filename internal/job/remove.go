package job

import (
	"context"
	"errors"
	"time"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Limits bound the clips that are taken. Zero fields bound nothing.
type Limits struct {
	MaxDuration  time.Duration
	MaxDimension int   // pixels of a side
	MaxPixels    int64 // width × height × frames
}

// LimitError is a clip beyond a limit; its message is for users.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

// Remover probes and processes clips by pkg/bgremove.
type Remover struct {
	remover *bgremove.Remover
	// FastOnly lets method auto mean fast, where no network is installed.
	FastOnly bool
}

// NewRemover makes a Processor of r.
func NewRemover(r *bgremove.Remover) *Remover { return &Remover{remover: r} }

// Probe describes the clip at path. The error is ErrUnreadable, wrapped, a
// *LimitError, or that of a machine that lacks ffmpeg.
func (r *Remover) Probe(ctx context.Context, path string, l Limits) (Media, error) {
	return Media{}, errors.ErrUnsupported
}

// Process implements Processor.
func (r *Remover) Process(ctx context.Context, t Task) (Product, error) {
	return Product{}, errors.ErrUnsupported
}
