package ortlib

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/network/fetch"
)

// NPMError means that npm ran but did not bring the package.
type NPMError struct {
	Stderr string // its last lines
	Err    error
}

func (e *NPMError) Error() string {
	if e.Stderr != "" {
		return fmt.Sprintf("npm pack: %v: %s", e.Err, e.Stderr)
	}
	return fmt.Sprintf("npm pack: %v", e.Err)
}

func (e *NPMError) Unwrap() error { return e.Err }

func (i *installer) findNPM() (string, error) {
	if i.NPM != "" {
		return i.NPM, nil
	}
	return exec.LookPath("npm")
}

// packNPM gets the package's archive from the npm client, which knows the
// registry that its user configured. It checks the archive. No script of the
// package runs.
func (i *installer) packNPM(ctx context.Context, npm string) (string, error) {
	cmd := exec.CommandContext(ctx, npm, "pack", npmPackage+"@"+Version, "--ignore-scripts", "--loglevel=error", "--pack-destination", ".")
	cmd.Dir = i.work
	cmd.WaitDelay = 5 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &NPMError{tail(stderr.String()), err}
	}
	archive := filepath.Join(i.work, npmArchive)
	sum, _, err := fetch.Digest(ctx, archive)
	if err != nil {
		return "", &NPMError{tail(stderr.String()), errors.New("it made no " + npmArchive)}
	}
	if sum != npmDigest {
		return "", &fetch.DigestError{Name: npmArchive, Got: sum, Want: npmDigest}
	}
	return archive, nil
}

// tail is the end of a program's output, on one line.
func tail(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = "…" + s[len(s)-300:]
	}
	return s
}
