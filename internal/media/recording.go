package media

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/bgremove/bgremove/internal/system/disk"
	"github.com/bgremove/bgremove/internal/system/scratch"
)

const (
	// recordedMost is how many bytes a Recording has at most: some 26 seconds of 640 × 360 at 30
	// frames a second, or 2.9 of 1080p.
	recordedMost = 256 << 20
	// recordedShare is the part of the disk's free room that it takes at most: a quarter.
	recordedShare = 4
)

// Recording is what a decoder gave of a clip in one pass, in a temporary file. Later passes over the same
// frames read it, and decode nothing. There is none of clips with too many bytes, or where the disk has
// little room. Of nil nothing is recorded. It is for one pass at a time.
type Recording struct {
	dir   string
	tried bool     // only the first pass is recorded
	left  int64    // bytes that may still be recorded
	file  *os.File // nil if nothing is recorded
	whole bool
}

// NewRecording readies a recording in dir; empty is the system's folder for temporary files. The
// caller closes it.
func NewRecording(dir string) *Recording { return &Recording{dir: dir} }

// Tap is a reader of the bytes of a pass, which are recorded as they are read. Where that fails, or some
// expected bytes are too many, they are only read. The caller calls end when the pass has come to its end.
func (r *Recording) Tap(pass io.Reader, expected int64) (tapped io.Reader, end func()) {
	if r == nil || r.tried || !r.begin(expected) {
		return pass, func() {}
	}
	return io.TeeReader(pass, recorder{r}), func() { r.whole = r.file != nil }
}

// begin makes a file for some bytes. It reports whether there is one.
func (r *Recording) begin(expected int64) bool {
	r.tried = true
	free, err := disk.Free(cmp.Or(r.dir, os.TempDir()))
	r.left = min(recordedMost, free/recordedShare)
	if err != nil || expected > r.left {
		return false
	}
	r.file, err = scratch.File(r.dir, "bgremove-decoded-*")
	return err == nil
}

// recorder writes to a recording, and never fails.
type recorder struct{ r *Recording }

// Write records bytes, or nothing any more if there are too many or they cannot be written.
func (w recorder) Write(p []byte) (int, error) {
	r := w.r
	if r.file == nil {
		return len(p), nil
	}
	if r.left -= int64(len(p)); r.left >= 0 {
		if _, err := r.file.Write(p); err == nil {
			return len(p), nil
		}
	}
	_ = r.Close() // later passes decode, as they would without it
	return len(p), nil
}

// Replay is a reader of the bytes of the whole pass, or nil if there is no recording of it.
func (r *Recording) Replay() io.Reader {
	if r == nil || !r.whole {
		return nil
	}
	return io.NewSectionReader(r.file, 0, math.MaxInt64)
}

// Close removes the recording.
func (r *Recording) Close() error {
	if r == nil || r.file == nil {
		return nil
	}
	f := r.file
	r.file, r.whole = nil, false
	if err := scratch.Discard(f); err != nil {
		return fmt.Errorf("remove decoded frames: %w", err)
	}
	return nil
}
