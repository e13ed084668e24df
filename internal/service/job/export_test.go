package job

import "context"

// Reap is what reap does regularly, without its patience.
func (s *Service) Reap(ctx context.Context) (n int, err error) {
	jobs, err := s.lapsed(ctx)
	if err != nil {
		return 0, err
	}
	return s.reapAll(ctx, jobs)
}

// LockInput is a part of Submit.
var LockInput = lockInput
