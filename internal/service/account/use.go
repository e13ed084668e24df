package account

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/service/store"
)

// flushEvery is how often the times of last use are written, and lastFlushTimeout how
// long the last writing may take.
const (
	flushEvery       = time.Minute
	lastFlushTimeout = 5 * time.Second
)

// uses are the times of keys' last use that are not written yet.
type uses struct {
	mu sync.Mutex
	at map[string]time.Time // by the key's id
}

func (u *uses) record(keyID string, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = make(map[string]time.Time)
	}
	if at.After(u.at[keyID]) {
		u.at[keyID] = at
	}
}

func (u *uses) latest(keyID string, written time.Time) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if at := u.at[keyID]; at.After(written) {
		return at.Truncate(time.Millisecond).UTC()
	}
	return written
}

func (u *uses) drain() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.at
	u.at = nil
	return taken
}

// Run writes the times of last use once a minute until ctx ends, and then once
// more. Its error is that of the last writing; earlier ones are tried again.
func (k *Keys) Run(ctx context.Context) error {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			_ = k.Flush(ctx) // the uses are kept for the next time
		case <-ctx.Done():
			return k.lastFlush(ctx)
		}
	}
}

func (k *Keys) lastFlush(ended context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), lastFlushTimeout)
	defer cancel()
	return k.Flush(ctx)
}

// Flush writes the times of last use, all in one transaction, in the order of the ids: two
// nodes that write at once do not block each other.
func (k *Keys) Flush(ctx context.Context) error {
	taken := k.uses.drain()
	if len(taken) == 0 {
		return nil
	}
	err := k.db.Tx(ctx, func(tx *store.Tx) error {
		for _, keyID := range slices.Sorted(maps.Keys(taken)) {
			_, err := tx.ExecContext(ctx, `UPDATE api_keys SET last_used_at = $1
				WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $1)`, taken[keyID].UnixMilli(), keyID)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		for keyID, at := range taken {
			k.uses.record(keyID, at)
		}
		return fmt.Errorf("note the use of keys: %w", err)
	}
	return nil
}
