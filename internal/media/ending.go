package media

import "errors"

// ErrNoFrames is what a writer's Close returns for a clip without a frame, where the
// format needs one.
var ErrNoFrames = errors.New("no frames were written")

// ErrClosed is returned by Write after Close or Abort, and by Close after Abort.
var ErrClosed = errors.New("the writer is closed")

// Ending is the part of a Sink's writer that ends it: the first failure ends all, and
// memory is released once. A writer embeds one, and so has its Close and Abort.
type Ending struct {
	finish  func() error
	release func(cause error)
	ended   bool
	err     error // first failure; sticky
}

// NewEnding has functions of a writer. finish completes the file; it is not called after
// a failure. release stops the writer's work and releases its memory. Its cause is the
// failure, or nil.
func NewEnding(finish func() error, release func(cause error)) Ending {
	return Ending{finish: finish, release: release}
}

// Attempt does a part of the work, unless the writer has failed or ended.
func (e *Ending) Attempt(work func() error) error {
	switch {
	case e.err != nil:
		return e.err
	case e.ended:
		return ErrClosed
	}
	e.err = work()
	return e.err
}

// Close completes the file. Further calls return the same error.
func (e *Ending) Close() error {
	if e.ended {
		return e.err
	}
	if e.err == nil {
		e.err = e.finish()
	}
	e.end()
	return e.err
}

// Abort ends the writer without completing the file.
func (e *Ending) Abort() {
	if e.ended {
		return
	}
	if e.err == nil {
		e.err = ErrClosed
	}
	e.end()
}

func (e *Ending) end() {
	e.ended = true
	e.release(e.err)
}
