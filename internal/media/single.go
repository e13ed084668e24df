package media

import (
	"context"
	"image"
	"io"
)

// Single is a Source of one picture, which read gives at the first Next. The picture has no time.
func Single(read func(context.Context) (*image.NRGBA, error)) Source { return &single{read: read} }

type single struct {
	read func(context.Context) (*image.NRGBA, error)
	done bool
}

func (s *single) Next(ctx context.Context) (*Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if s.done {
		return nil, io.EOF
	}
	s.done = true
	img, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	return &Frame{Image: img}, nil
}

func (s *single) Close() error {
	s.done = true
	return nil
}
