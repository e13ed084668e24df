package bgremove

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Spool copies a stream into a temporary file, since clips are read more than
// once and some keep their index at the end. The caller removes it. When ctx
// ends nothing is left, even if r never delivers another byte.
func Spool(ctx context.Context, r io.Reader) (path string, err error) {
	f, err := os.CreateTemp("", "bgremove-input-*")
	if err != nil {
		return "", fmt.Errorf("keep the input: %w", err)
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(f, r)
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("keep the input: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}
