package account

import (
	"context"
	"crypto/rand"
	"fmt"
	"runtime"
	"sync"

	"github.com/alexedwards/argon2id"
	"golang.org/x/sync/semaphore"
)

// cost of a password's hash: OWASP's recommendation for argon2id (Password
// Storage Cheat Sheet), 19 MiB and two passes, about 30 ms.
var cost = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// decoy is compared with where there is no account, so that a sign-in takes as
// long with an unknown address as with a wrong password.
var decoy = sync.OnceValues(func() (string, error) { return argon2id.CreateHash("nobody's password", cost) })

// hasher bounds how many passwords are hashed at once, in memory and in cores.
type hasher struct{ places *semaphore.Weighted }

func newHasher() *hasher {
	return &hasher{semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))}
}

func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	if err := h.places.Acquire(ctx, 1); err != nil {
		return "", err
	}
	defer h.places.Release(1)
	encoded, err := argon2id.CreateHash(password, cost)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	return encoded, nil
}

// matches compares a password with its hash, or with a decoy if that is empty.
func (h *hasher) matches(ctx context.Context, password, encoded string) (bool, error) {
	if err := h.places.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer h.places.Release(1)
	known := encoded != ""
	if !known {
		var err error
		if encoded, err = decoy(); err != nil {
			return false, fmt.Errorf("hash the password: %w", err)
		}
	}
	same, err := argon2id.ComparePasswordAndHash(password, encoded)
	if err != nil {
		return false, fmt.Errorf("compare the password: %w", err)
	}
	return same && known, nil
}

// NewPassword is a password of at least 128 random bits.
func NewPassword() string { return rand.Text() }
