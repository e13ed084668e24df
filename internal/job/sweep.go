package job

import (
	"context"
	"errors"
	"time"
)

// Swept is what a sweep removed.
type Swept struct {
	Inputs, Outputs int // expired files
	Orphans         int // objects that no job names
	Leftovers       int // of writes that broke off
	Answers         int64
}

// Sweep removes the files that have expired, the objects that no job names and
// the answers kept for Idempotency-Keys. It never removes a file of a job that
// is queued or processing. Any number of nodes may sweep at once.
func (s *Service) Sweep(ctx context.Context) (Swept, error) { return Swept{}, errors.ErrUnsupported }

// RunSweeper sweeps at once and then every interval until ctx ends.
func (s *Service) RunSweeper(ctx context.Context, interval time.Duration) error {
	return errors.ErrUnsupported
}
