package pipeline

import (
	"context"
	"image"
)

// flight bounds the frames in all stages of a pass together. A frame has a seat
// from before it is read until it is written. If Timing drops frames, one more
// waits until its duration is known.
type flight chan struct{}

const (
	// aheadBytes is how many bytes of pictures a worker may have in flight without
	// need: frames that repeat are passed on at once, and more of them ahead
	// keep workers busy with those that do not.
	aheadBytes = 16 << 20
	// secondFrameBytes is how many bytes of pictures may be in flight before workers have
	// no second frame waiting.
	secondFrameBytes = 256 << 20
	// picturesPerFrame is how many pictures a frame holds at worst: its own and
	// the one laid out.
	picturesPerFrame = 2
)

// newFlight has a seat for each worker, one for the frame being read and one
// for the frame being written, or two for each worker if that is more; with
// small pictures still more. With large pictures and many workers there are no
// extra seats. There are fewer seats than workers only to stay within memory
// bytes, if that is not 0.
func newFlight(size image.Point, workers int, memory int64) flight {
	frame := max(1, int64(4*size.X*size.Y)*picturesPerFrame)
	seats := max(workers+2, 2*workers, min(8*workers, int(aheadBytes*int64(workers)/frame)))
	seats = min(seats, max(workers+2, int(secondFrameBytes/frame)))
	if memory > 0 {
		seats = min(seats, int(max(1, memory/frame)))
	}
	return make(flight, seats)
}

func (f flight) enter(ctx context.Context) error {
	select {
	case f <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f flight) leave() { <-f }
