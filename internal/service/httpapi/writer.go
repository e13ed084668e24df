package httpapi

import (
	"net/http"
	"time"
)

// extensionsPerStall is how often deadlines are moved within a stall, since each move costs
// a system call.
const extensionsPerStall = 16

// writer counts the sent bytes and extends the deadline with them, so a long
// download continues while the client reads it.
type writer struct {
	http.ResponseWriter
	control  *http.ResponseController
	stall    time.Duration
	before   func() // called once, before the header is sent
	status   int    // 0: not answered yet
	sent     int64
	extended time.Time
}

func newWriter(w http.ResponseWriter, stall time.Duration) *writer {
	return &writer{ResponseWriter: w, control: http.NewResponseController(w), stall: stall}
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		w.before()
	}
	w.extendDeadline()
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.extendDeadline()
	n, err := w.ResponseWriter.Write(p)
	w.sent += int64(n)
	return n, err
}

// extendDeadline puts the deadline off. A ResponseWriter without deadlines, as tests
// have, needs none.
func (w *writer) extendDeadline() {
	if now := time.Now(); now.Sub(w.extended) >= w.stall/extensionsPerStall {
		w.extended = now
		_ = w.control.SetWriteDeadline(now.Add(w.stall))
	}
}
