package blob

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// tempQuota is a number of bytes that many share.
type tempQuota struct {
	space int64
	free  *semaphore.Weighted
}

func newTempQuota(space int64) *tempQuota { return &tempQuota{space, semaphore.NewWeighted(space)} }

// acquire takes n bytes at once or fails.
func (r *tempQuota) acquire(n int64) error {
	if !r.free.TryAcquire(n) {
		return fmt.Errorf("no space for temporary copies in %d bytes", r.space)
	}
	return nil
}

// ErrNoTempSpace is an object that is larger than the room for temporary copies.
var ErrNoTempSpace = errors.New("no space for a temporary copy")

// wait waits for n bytes.
func (r *tempQuota) wait(ctx context.Context, n int64) error {
	if n > r.space {
		return fmt.Errorf("%w: %d bytes are more than %d", ErrNoTempSpace, n, r.space)
	}
	return r.free.Acquire(ctx, n)
}

func (r *tempQuota) release(n int64) { r.free.Release(n) }
