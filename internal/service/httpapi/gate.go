package httpapi

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// gate bounds the work done at once, in total and by account. No account can
// occupy all slots, and a new caller waits at most for those before it. It is
// safe for concurrent use.
type gate struct {
	all     *semaphore.Weighted
	each    int64        // places of an account
	waiting atomic.Int64 // for a place

	mu       sync.Mutex
	accounts map[string]*share
}

// share is the places of one account.
type share struct {
	places *semaphore.Weighted
	users  int // that hold or wait for one
}

// newGate makes a gate with that many slots. An account may occupy half of
// them.
func newGate(places int) *gate {
	return &gate{all: semaphore.NewWeighted(int64(places)), each: int64(max(1, places/2)), accounts: make(map[string]*share)}
}

// enter waits for a place. The error is that of ctx.
func (g *gate) enter(ctx context.Context, accountID string) (leave func(), err error) {
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	own := g.join(accountID)
	if err := own.places.Acquire(ctx, 1); err != nil {
		g.part(accountID)
		return nil, err
	}
	free := func() {
		own.places.Release(1)
		g.part(accountID)
	}
	if err := g.all.Acquire(ctx, 1); err != nil {
		free()
		return nil, err
	}
	return func() { g.all.Release(1); free() }, nil
}

func (g *gate) join(accountID string) *share {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := g.accounts[accountID]
	if own == nil {
		own = &share{places: semaphore.NewWeighted(g.each)}
		g.accounts[accountID] = own
	}
	own.users++
	return own
}

func (g *gate) part(accountID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := g.accounts[accountID]
	if own.users--; own.users == 0 {
		delete(g.accounts, accountID)
	}
}
