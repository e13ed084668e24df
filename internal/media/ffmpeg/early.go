package ffmpeg

import (
	"context"
	"sync"

	"github.com/bgremove/bgremove/internal/media"
)

// early is a pass that was started before it is opened.
type early struct {
	mu      sync.Mutex
	source  *source // nil where there is none
	options media.ReadOptions
}

// Expect starts a pass that Open is going to be asked for with the same From, To and Every: a
// child takes longer to start than a frame to decode. The child waits when its pipe is full.
// Whoever calls Expect calls stop in the end, which ends the pass if it has not been opened.
// The pass ends when ctx does. One pass is expected at a time.
func (c *Clip) Expect(ctx context.Context, o media.ReadOptions) (stop func()) {
	o.Pool, o.Recording = nil, nil
	e := &c.early
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.source != nil || c.still != nil {
		return func() {}
	}
	s, err := c.start(ctx, o)
	if err != nil {
		return func() {} // Open is going to say why
	}
	e.source, e.options = s, o
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.source == s {
			e.source = nil
			_ = s.Close() // nothing was read
		}
	}
}

// take returns the pass, if it was started with these options. It ends when ctx does,
// too.
func (e *early) take(ctx context.Context, o media.ReadOptions) *source {
	pool, recording := o.Pool, o.Recording
	o.Pool, o.Recording = nil, nil
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.source
	if s == nil || e.options != o {
		return nil
	}
	e.source, s.pool, s.recording = nil, pool, recording
	s.release = context.AfterFunc(ctx, s.child.kill)
	return s
}
