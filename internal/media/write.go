package media

import (
	"io"
	"time"
)

// Milliseconds counts out the times of frames in whole milliseconds. Frames end at the
// nearest one, so rounding errors do not add up. The zero value begins a clip.
type Milliseconds struct{ written int }

// Next is how long the next frame is shown: 1 at least, and at most that much, or without
// a limit for 0.
func (m *Milliseconds) Next(f *Frame, atMost int) int {
	end := int((f.PTS + f.Duration).Round(time.Millisecond) / time.Millisecond)
	shown := max(end-m.written, 1)
	if atMost > 0 {
		shown = min(shown, atMost)
	}
	m.written += shown
	return shown
}

// Overwrite puts b at an offset of w, and goes back to where w was.
func Overwrite(w io.WriteSeeker, at int64, b []byte) error {
	end, err := w.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := w.Seek(at, io.SeekStart); err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	_, err = w.Seek(end, io.SeekStart)
	return err
}
