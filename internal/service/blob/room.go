package blob

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// room is a number of bytes that many share.
type room struct {
	space int64
	free  *semaphore.Weighted
}

func newRoom(space int64) *room { return &room{space, semaphore.NewWeighted(space)} }

// acquire takes n bytes at once or fails.
func (r *room) acquire(n int64) error {
	if !r.free.TryAcquire(n) {
		return fmt.Errorf("no space for temporary copies in %d bytes", r.space)
	}
	return nil
}

// ErrRoom is an object that is larger than the room for temporary copies.
var ErrRoom = errors.New("no space for a temporary copy")

// wait waits for n bytes.
func (r *room) wait(ctx context.Context, n int64) error {
	if n > r.space {
		return fmt.Errorf("%w: %d bytes are more than %d", ErrRoom, n, r.space)
	}
	return r.free.Acquire(ctx, n)
}

func (r *room) release(n int64) { r.free.Release(n) }
