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

// ErrNoTempSpace is an object that is larger than the space for temporary copies, or one that
// could not wait for space.
var ErrNoTempSpace = errors.New("no space for a temporary copy")

// acquire takes n bytes at once or fails.
func (q *tempQuota) acquire(n int64) error {
	if !q.free.TryAcquire(n) {
		return fmt.Errorf("%w: others have taken most of %d bytes", ErrNoTempSpace, q.space)
	}
	return nil
}

// wait waits for n bytes.
func (q *tempQuota) wait(ctx context.Context, n int64) error {
	if n > q.space {
		return fmt.Errorf("%w: %d bytes are more than %d", ErrNoTempSpace, n, q.space)
	}
	return q.free.Acquire(ctx, n)
}

func (q *tempQuota) release(n int64) { q.free.Release(n) }
