package job

import (
	"context"
	"errors"
)

// What an Idempotency-Key may meet.
var (
	// ErrRunning is a first request with the key that has not ended: try again
	// in a while.
	ErrRunning = errors.New("the first request with this key is still running")
	// ErrConflict is a key that was used for another request.
	ErrConflict = errors.New("the key was used for another request")
)

// Reservation holds an Idempotency-Key for one request, on all nodes.
type Reservation struct{}

// Reserve begins a request with an Idempotency-Key, before its body is read.
// Keys of different owners are different. The error is ErrRunning while
// another request holds it. Close the reservation when the request has ended.
func (s *Service) Reserve(ctx context.Context, owner Owner, key string) (*Reservation, error) {
	return nil, errors.ErrUnsupported
}

// Answer is what an earlier, successful request with the key was answered, nil
// if this is the first, or ErrConflict if that one was different: of its
// files, Name and SHA256 count. Submit asks it too; asking before the files
// are probed puts refusals in order.
func (r *Reservation) Answer(sub Submission) (*Receipt, error) { return nil, errors.ErrUnsupported }

// Close gives the key back unless it was used up by Submit. It may be called
// again.
func (r *Reservation) Close() {}
