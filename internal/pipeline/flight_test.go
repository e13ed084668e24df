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

// TestSeats checks how many frames are in flight without need to keep workers busy, and where
// they are large.
func TestSeats(t *testing.T) {
	t.Parallel()
	hd, uhd := image.Pt(1920, 1080), image.Pt(3840, 2160)
	for _, test := range []struct {
		size    image.Point
		workers int
		memory  int64
		want    int
	}{
		{image.Pt(64, 64), 2, 0, 16},
		{image.Pt(720, 640), 2, 0, 9},
		{hd, 1, 0, 3},
		{hd, 2, 0, 4}, // as docs/architecture.md says
		{hd, 8, 0, 16},
		{uhd, 8, 0, 10},
		{hd, 8, 5 * 2 * 4 * 1920 * 1080, 5},
		{hd, 2, 1, 1},
	} {
		if got := pipeline.Seats(test.size, test.workers, test.memory); got != test.want {
			t.Errorf("%v, %d workers, %d bytes: %d seats, want %d", test.size, test.workers, test.memory, got, test.want)
		}
	}
}

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
