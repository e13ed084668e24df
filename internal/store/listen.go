package store

import (
	"context"
	"sync"
)

// bells wake the listeners of this process.
type bells struct {
	mu    sync.Mutex
	rungs map[string]map[*func()]struct{}
}

func (b *bells) ring(topic string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for wake := range b.rungs[topic] {
		(*wake)()
	}
}

func (b *bells) add(topic string, wake func()) (remove func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rungs == nil {
		b.rungs = make(map[string]map[*func()]struct{})
	}
	if b.rungs[topic] == nil {
		b.rungs[topic] = make(map[*func()]struct{})
	}
	key := &wake
	b.rungs[topic][key] = struct{}{}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.rungs[topic], key)
	}
}

// Listen calls wake after each transaction that notified topic, until ctx ends;
// its error is the context's. wake must not block. It may be called without
// need: after a lost connection to PostgreSQL is back, because notifications
// may have been missed. Processes on one SQLite file notice each other within
// about 100 ms, if the system reports writes. They notice every write, whatever
// its topic.
func (db *DB) Listen(ctx context.Context, topic string, wake func()) error {
	defer db.bells.add(topic, wake)()
	return db.dialect.listen(ctx, topic, wake)
}
