// Package failure has the errors that several commands share, and the words for
// what a reader at a shell can do about them. Package cli prints both.
package failure

import (
	"errors"
	"fmt"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Interruption is an error with a message and a hint of its own, for the case that
// a signal ended the command. The hint may be empty.
type Interruption interface {
	error
	Interruption() (message, hint string)
}

// Stopped is a run that a signal ended, with its message.
type Stopped struct{ Message string }

func (e *Stopped) Error() string { return e.Message }

// Interruption implements Interruption.
func (e *Stopped) Interruption() (message, hint string) { return e.Message, "" }

// PartialError is the end of a run over many inputs with failures. Missing means
// that every attempted input failed because something is not installed. Lacks is
// the first failure for such a reason, or nil.
type PartialError struct {
	Failed, Total int
	Missing       bool
	Lacks         error
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("%d of %d inputs failed", e.Failed, e.Total)
}

// InFlags replaces option names in errors with the names of flags.
func InFlags(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, InFlags(e))
		}
		return errors.Join(all...)
	}
	var e *bgremove.Error
	if !errors.As(err, &e) || flags.Name(e.Field) == e.Field {
		return err
	}
	renamed := *e
	renamed.Field = flags.Name(e.Field)
	return &renamed
}
