package pipeline

import (
	"sync"
	"time"
)

// clock adds up the time each stage is busy. It is safe for concurrent use.
type clock struct {
	mu   sync.Mutex
	busy map[string]time.Duration
}

// start begins a span of the stage; the function it returns ends it.
func (c *clock) start(stage string) (stop func()) {
	began := time.Now()
	return func() {
		d := time.Since(began)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.busy == nil {
			c.busy = make(map[string]time.Duration)
		}
		c.busy[stage] += d
	}
}

func (c *clock) total() map[string]time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy
}
