package httpapi

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// fairSemaphore bounds the work done at once, in total and by account. No account can
// occupy all slots, and a new caller waits at most for those before it. It is
// safe for concurrent use.
type fairSemaphore struct {
	all        *semaphore.Weighted
	perAccount int64        // slots of an account
	waiting    atomic.Int64 // for a slot

	mu       sync.Mutex
	accounts map[string]*accountSlots
}

// accountSlots are the slots of one account.
type accountSlots struct {
	sem   *semaphore.Weighted
	users int // that hold or wait for one
}

// newFairSemaphore makes one with that many slots. An account may occupy half of
// them.
func newFairSemaphore(slots int) *fairSemaphore {
	return &fairSemaphore{all: semaphore.NewWeighted(int64(slots)), perAccount: int64(max(1, slots/2)), accounts: make(map[string]*accountSlots)}
}

// acquire waits for a slot. The error is that of ctx.
func (g *fairSemaphore) acquire(ctx context.Context, accountID string) (leave func(), err error) {
	g.waiting.Add(1)
	defer g.waiting.Add(-1)
	own := g.addUser(accountID)
	if err := own.sem.Acquire(ctx, 1); err != nil {
		g.removeUser(accountID)
		return nil, err
	}
	free := func() {
		own.sem.Release(1)
		g.removeUser(accountID)
	}
	if err := g.all.Acquire(ctx, 1); err != nil {
		free()
		return nil, err
	}
	return func() { g.all.Release(1); free() }, nil
}

func (g *fairSemaphore) addUser(accountID string) *accountSlots {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := g.accounts[accountID]
	if own == nil {
		own = &accountSlots{sem: semaphore.NewWeighted(g.perAccount)}
		g.accounts[accountID] = own
	}
	own.users++
	return own
}

func (g *fairSemaphore) removeUser(accountID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	own := g.accounts[accountID]
	if own.users--; own.users == 0 {
		delete(g.accounts, accountID)
	}
}
