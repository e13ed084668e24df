package media_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
)

// record reads a pass through a recording's tap.
func record(t *testing.T, r *media.Recording, pass io.Reader) (end func()) {
	t.Helper()
	tapped, end := r.Tap(pass, 0)
	if _, err := io.Copy(io.Discard, tapped); err != nil {
		t.Fatal(err)
	}
	return end
}

// recording is one that is closed when the test ends, and its folder.
func recording(t *testing.T) (r *media.Recording, dir string) {
	t.Helper()
	dir = t.TempDir()
	r = media.NewRecording(dir)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s is left", left[0].Name())
		}
	})
	return r, dir
}

// What was read once is read again, as often as asked for, but only once the pass came to its end.
func TestRecording(t *testing.T) {
	t.Parallel()
	r, _ := recording(t)
	pass := bytes.Repeat([]byte("frame "), 10000)
	end := record(t, r, bytes.NewReader(pass))
	if r.Replay() != nil {
		t.Error("a pass is replayed that has not ended")
	}
	end()
	for range 2 {
		again := r.Replay()
		if again == nil {
			t.Fatal("there is no recording")
		}
		if got, err := io.ReadAll(again); err != nil || !bytes.Equal(got, pass) {
			t.Errorf("%d bytes, %v; %d were recorded", len(got), err, len(pass))
		}
	}
}

// A pass that was left in its middle is not replayed, even if a later one comes to its end.
func TestRecordingOfPart(t *testing.T) {
	t.Parallel()
	r, _ := recording(t)
	record(t, r, bytes.NewReader([]byte("begin")))
	record(t, r, bytes.NewReader([]byte("begin and end")))()
	if r.Replay() != nil {
		t.Error("a pass is replayed that did not end")
	}
}

// Too many bytes, or a folder that cannot be written, leave the pass as it is, and nothing is replayed.
func TestNoRecording(t *testing.T) {
	t.Parallel()
	long, _ := recording(t)
	expected, _ := recording(t)
	for name, c := range map[string]struct {
		*media.Recording
		expected int64
	}{
		"longer than expected": {long, media.RecordedMost / 2}, "too long": {expected, media.RecordedMost + 1},
		"no folder": {media.NewRecording(filepath.Join(t.TempDir(), "none")), 0}, "nil": {},
	} {
		r := c.Recording
		tapped, end := r.Tap(io.LimitReader(zeros{}, media.RecordedMost+1), c.expected)
		if n, err := io.Copy(io.Discard, tapped); n != media.RecordedMost+1 || err != nil {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
		end()
		if r.Replay() != nil {
			t.Errorf("%s: the pass is replayed", name)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
