package account

import (
	"context"
	"sync"
	"time"
)

// memoryBuckets are in the memory of this process. Their clock is the monotonic
// one, which does not jump.
type memoryBuckets struct {
	started time.Time
	mu      sync.Mutex
	tats    map[string]int64
}

func newMemoryBuckets() *memoryBuckets {
	return &memoryBuckets{started: time.Now(), tats: make(map[string]int64)}
}

func (b *memoryBuckets) now() int64 { return time.Since(b.started).Microseconds() }

func (b *memoryBuckets) take(_ context.Context, name string, r Rate) (allowed bool, tat, now int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now = b.now()
	tat = max(b.tats[name], now)
	if tat > now+r.tolerance() {
		return false, tat, now, nil
	}
	tat += r.interval()
	b.tats[name] = tat
	return true, tat, now, nil
}

func (b *memoryBuckets) peek(_ context.Context, name string) (tat, now int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tats[name], b.now(), nil
}

func (b *memoryBuckets) sweep(context.Context) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, n := b.now(), int64(0)
	for name, tat := range b.tats {
		if tat <= now {
			delete(b.tats, name)
			n++
		}
	}
	return n, nil
}
