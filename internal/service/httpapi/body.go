package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// Time limits for a client.
const (
	// minRate is what an upload must bring on average after the first stall,
	// in bytes a second, or it is cut off.
	minRate = 10_000
	// drainBytes and drainTime bound the rest read from a refused upload, so
	// that its client receives the reason.
	drainBytes = 256e6
	drainTime  = 10 * time.Second
)

// body is a request's body that is cut off when it stalls or crawls, and that
// can be refused before its end: with HTTP/1.1 a client that is still sending
// would see a broken connection and no answer.
type body struct {
	io.ReadCloser
	control         *http.ResponseController
	pace            pace
	expectsContinue bool // for 100 Continue before it is sent
	extended        time.Time
	received        int64
	allowed         int64 // bytes that may be read yet; below 0: any number
	ended           bool  // has been read to its end
	broken          error // the error in its place
	answered        bool
}

func newBody(r *http.Request, w *writer, longest time.Duration) *body {
	b := &body{ReadCloser: r.Body, control: w.control, pace: newPace(w.stall, longest), allowed: -1, ended: r.ContentLength == 0,
		expectsContinue: r.Header.Get("Expect") != ""}
	if b.ended {
		_ = b.control.SetReadDeadline(time.Time{})
	} else {
		_ = b.control.EnableFullDuplex() // to answer before the end, and go on reading
	}
	// The server's own deadline, and that of the answer before on this
	// connection, are for others.
	_ = b.control.SetWriteDeadline(time.Time{})
	return b
}

// errAllowance ends a read of more than is allowed. More can be allowed then.
var errAllowance = errors.New("more than is allowed")

// allow lets so many bytes be read, below 0 any number.
func (b *body) allow(n int64) { b.allowed = n }

func (b *body) Read(p []byte) (int, error) {
	if b.allowed == 0 {
		return 0, errAllowance
	}
	if b.allowed > 0 && int64(len(p)) > b.allowed {
		p = p[:b.allowed]
	}
	b.extendDeadline()
	n, err := b.ReadCloser.Read(p)
	b.received += int64(n)
	if b.allowed > 0 {
		b.allowed -= int64(n)
	}
	b.expectsContinue = false
	switch {
	case err == io.EOF:
		b.ended = true
		// Processing may take longer than any stall.
		_ = b.control.SetReadDeadline(time.Time{})
	case err != nil:
		b.broken = err
	}
	return n, err
}

// extendDeadline moves the deadline to that of the pace.
func (b *body) extendDeadline() {
	now := time.Now()
	if b.answered || now.Sub(b.extended) < b.pace.stall/extensionsPerStall {
		return
	}
	b.extended = now
	_ = b.control.SetReadDeadline(b.pace.deadline(now, b.received))
}

// pace is how fast a transfer must be: it may neither stall, nor bring less than minRate,
// nor go on after its end.
type pace struct {
	stall        time.Duration
	started, end time.Time
}

// newPace is of a transfer that starts now, and may take so long at any rate.
func newPace(stall, longest time.Duration) pace {
	now := time.Now()
	return pace{stall: stall, started: now, end: now.Add(longest)}
}

// deadline is when the next bytes must have come, after so many were received.
func (p pace) deadline(now time.Time, received int64) time.Time {
	deadline := now.Add(p.stall)
	if slowest := p.started.Add(p.stall + receiveTime(received)); slowest.Before(deadline) {
		deadline = slowest
	}
	if p.end.Before(deadline) {
		deadline = p.end
	}
	return deadline
}

// receiveTime is how long so many bytes take at the least rate.
func receiveTime(received int64) time.Duration {
	return time.Duration(received) * (time.Second / minRate)
}

// answer is called before the answer's header is sent. If the body has not been
// read by then, the connection ends with it.
func (b *body) answer(h http.Header) {
	b.answered = true
	if !b.ended {
		h.Set("Connection", "close")
	}
}

// drain reads the rest of a refused body, within bounds. A client that waits
// for 100 Continue learns from the answer not to send it.
func (b *body) drain() {
	if b.ended || b.broken != nil || b.expectsContinue {
		return
	}
	b.allow(-1)
	_ = b.control.Flush()
	_ = b.control.SetReadDeadline(time.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, b, drainBytes)
}
