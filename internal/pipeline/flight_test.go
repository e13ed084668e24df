package pipeline_test

import (
	"context"
	"image"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// However slow the output is, and however long the clip, no more frames are
// taken in than fit into Memory, if none are left out.
func TestFramesInFlight(t *testing.T) {
	t.Parallel()
	const seats = 3
	c := &clip{places: make([]image.Point, 60)}
	s := &slowShelf{source: new(atomic.Int32), frames: len(c.places), ahead: seats}
	job := pipeline.Job{Clip: &counted{c, s.source}, Estimator: &red{}, Workers: 2, Memory: seats * 2 * 4 * width * height,
		Canvas: canvas.Spec{Crop: true}, Open: func(context.Context, pipeline.Output) (media.Sink, error) {
			return s, nil
		}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := pipeline.Run(ctx, job); err != nil {
		t.Fatal(err)
	}
	if len(s.shelf.frames) != len(c.places) || s.most > seats {
		t.Errorf("%d frames, at most %d in flight", len(s.shelf.frames), s.most)
	}
}

// counted counts the frames that a pass reads of a clip.
type counted struct {
	*clip
	read *atomic.Int32
}

func (c *counted) Open(ctx context.Context, o media.ReadOptions) (media.Source, error) {
	c.read.Store(0) // another pass
	src, err := c.clip.Open(ctx, o)
	return &countedSource{src, c.read}, err
}

type countedSource struct {
	media.Source
	read *atomic.Int32
}

func (s *countedSource) Next(ctx context.Context) (*media.Frame, error) {
	f, err := s.Source.Next(ctx)
	if err == nil {
		s.read.Add(1)
	}
	return f, err
}

// slowShelf takes a frame when as many ahead are read as may be, and notes how
// many were.
type slowShelf struct {
	shelf
	source              *atomic.Int32
	frames, ahead, most int
}

func (s *slowShelf) Write(ctx context.Context, f *media.Frame) error {
	have := len(s.shelf.frames)
	for int(s.source.Load()) < min(have+s.ahead, s.frames) && ctx.Err() == nil {
		runtime.Gosched()
	}
	s.most = max(s.most, int(s.source.Load())-have)
	return s.shelf.Write(ctx, f)
}
