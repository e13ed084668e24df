package store

import (
	"context"
	"sync"
)

// listeners wake the listeners of this process.
type listeners struct {
	mu    sync.Mutex
	wakes map[string]map[*func()]struct{}
}

func (b *listeners) wake(topic string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for wake := range b.wakes[topic] {
		(*wake)()
	}
}

func (b *listeners) add(topic string, wake func()) (remove func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wakes == nil {
		b.wakes = make(map[string]map[*func()]struct{})
	}
	if b.wakes[topic] == nil {
		b.wakes[topic] = make(map[*func()]struct{})
	}
	key := &wake
	b.wakes[topic][key] = struct{}{}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.wakes[topic], key)
	}
}

// Listen calls wake after each transaction that notified topic, until ctx ends;
// its error is the context's. wake must not block. It may be called without
// need: after a lost connection to PostgreSQL is back, because notifications
// may have been missed. Processes on one SQLite file notice each other within
// about 100 ms, if the system reports writes. They notice every write, whatever
// its topic.
func (db *DB) Listen(ctx context.Context, topic string, wake func()) error {
	defer db.listeners.add(topic, wake)()
	return db.dialect.listen(ctx, topic, wake)
}
