package media_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
)

// A writer is finished at most once, and only if nothing has failed; it is released
// once, with the reason.
func TestEnding(t *testing.T) {
	t.Parallel()
	broken, unfinished := errors.New("broken"), errors.New("unfinished")
	for name, tt := range map[string]struct {
		finish   error
		steps    []string
		want     []error // of the steps
		finished int
		cause    error
	}{
		"whole":              {nil, []string{"write", "close", "close", "abort", "write"}, []error{nil, nil, nil, nil, media.ErrClosed}, 1, nil},
		"a write fails":      {nil, []string{"fail", "write", "close", "abort", "close"}, []error{broken, broken, broken, nil, broken}, 0, broken},
		"the end fails":      {unfinished, []string{"close", "close", "write"}, []error{unfinished, unfinished, unfinished}, 1, unfinished},
		"aborted":            {nil, []string{"write", "abort", "abort", "close", "write"}, []error{nil, nil, nil, media.ErrClosed, media.ErrClosed}, 0, media.ErrClosed},
		"aborted on failure": {nil, []string{"fail", "abort", "close"}, []error{broken, nil, broken}, 0, broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finished := 0
			var released []error
			e := media.NewEnding(func() error { finished++; return tt.finish }, func(cause error) { released = append(released, cause) })
			for i, step := range tt.steps {
				var err error
				switch step {
				case "write":
					err = e.Attempt(func() error { return nil })
				case "fail":
					err = e.Attempt(func() error { return broken })
				case "close":
					err = e.Close()
				case "abort":
					e.Abort()
				}
				if !errors.Is(err, tt.want[i]) {
					t.Errorf("%s: error = %v, want %v", step, err, tt.want[i])
				}
			}
			if finished != tt.finished || !slices.Equal(released, []error{tt.cause}) {
				t.Errorf("finished %d times, released with %v", finished, released)
			}
		})
	}
}
