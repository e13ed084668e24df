//go:build unix

package bgremove_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// A named pipe is refused at once: to open it would wait for a writer.
func TestNamedPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.gif")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	clip := photo(t)
	r := bgremove.New(bgremove.Config{})
	for name, work := range map[string]func() error{
		"probe": func() error { _, err := r.Probe(t.Context(), pipe); return err },
		"format": func() error {
			bgremove.WrittenFormat(pipe, bgremove.Options{})
			return bgremove.InputNotFile
		},
		"background": func() error {
			_, err := r.Remove(t.Context(), clip, filepath.Join(dir, "out.png"), bgremove.Options{Background: pipe}, bgremove.Extras{})
			return err
		},
	} {
		ended := make(chan error, 1)
		go func() { ended <- work() }()
		select {
		case err := <-ended:
			if !errors.Is(err, bgremove.InputNotFile) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s waits", name)
			f, err := os.OpenFile(pipe, os.O_RDWR, 0) // ends the wait
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
		}
	}
}
