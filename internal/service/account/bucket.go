package account

import (
	"context"
	"sync"
	"time"
)

// ownBuckets are in the memory of this process. Their clock is the monotonic
// one, which does not jump.
type ownBuckets struct {
	began time.Time
	mu    sync.Mutex
	tats  map[string]int64
}

func newOwnBuckets() *ownBuckets {
	return &ownBuckets{began: time.Now(), tats: make(map[string]int64)}
}

func (b *ownBuckets) now() int64 { return time.Since(b.began).Microseconds() }

func (b *ownBuckets) take(_ context.Context, name string, r Rate) (allowed bool, tat, now int64, err error) {
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

func (b *ownBuckets) peek(_ context.Context, name string) (tat, now int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tats[name], b.now(), nil
}

func (b *ownBuckets) sweep(context.Context) (int64, error) {
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
