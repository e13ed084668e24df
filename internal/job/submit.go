package job

import (
	"context"
	"errors"
	"time"
)

// Input is a file that lies in the blob store.
type Input struct {
	Name   string // as uploaded, without folders and control characters
	Key    string // see InputKey
	Size   int64
	SHA256 string // in hex
	Media  Media
	// Unreadable marks a file of a batch that cannot be read.
	Unreadable bool
}

// InputKey is a new key for an upload.
func InputKey() string { return "" }

// Submission is what one request asks for.
type Submission struct {
	Owner     Owner
	RequestID string
	Options   Options
	Files     []Input
	// Batch makes a batch of the files; without it there is one file, which
	// is readable.
	Batch bool
	// Reservation, if set, is the request's Idempotency-Key.
	Reservation *Reservation
}

// Receipt is the answer to a submission.
type Receipt struct {
	BatchID          string        `json:"batchId,omitempty"`
	Jobs             []ReceiptItem `json:"jobs"` // in the order of the files
	CreditsRemaining int64         `json:"creditsRemaining"`
	// Replayed marks the answer to an earlier request with the same
	// Idempotency-Key: nothing was done, and the new files are not needed.
	Replayed bool `json:"-"`
}

// ReceiptItem is one job of a submission.
type ReceiptItem struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
}

// Price is what a job on a clip of the given duration costs: a credit for each
// second begun, at least three.
func Price(duration time.Duration) int64 { return 0 }

// Submit charges for all files and queues them, or does nothing: then the
// error is an *account.InsufficientError, ErrConflict or ErrRunning, or the
// database's. An unreadable file of a batch becomes a job that has failed,
// charged the least price and refunded. The objects of the files are the
// caller's to delete unless the receipt is a new one.
func (s *Service) Submit(ctx context.Context, sub Submission) (Receipt, error) {
	return Receipt{}, errors.ErrUnsupported
}
