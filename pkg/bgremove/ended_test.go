package bgremove_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Whatever ends with its context returns the context's cause, and no error about the file.
func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	in, out := generate(t, "in.mp4", "-f", "lavfi", "-i", onGreen), filepath.Join(t.TempDir(), "out.webm")
	cause := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	r := bgremove.New(bgremove.Config{})
	for name, do := range map[string]func() error{
		"Probe": func() error { _, err := r.Probe(ctx, in); return err },
		"Split": func() error {
			_, err := r.Split(ctx, in, bgremove.Options{Format: bgremove.WebM}, time.Second/3)
			return err
		},
		"CheckBackground": func() error { return r.CheckBackground(ctx, bgremove.Options{Background: in}) },
		"Remove": func() error {
			_, err := r.Remove(ctx, in, out, bgremove.Options{}, bgremove.Extras{})
			return err
		},
	} {
		if err := do(); err != cause { //nolint:errorlint // wrapped it would be about the file
			t.Errorf("%s: %v", name, err)
		}
	}
}
