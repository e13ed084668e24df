package session

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"

	"github.com/bgremove/bgremove/internal/account"
)

// Throttle bounds how often signing in, registering and the like is tried:
// hashing passwords is dear, and guessing them is not for programs. It is safe
// for concurrent use.
type Throttle struct {
	Limiter *account.Limiter
	// Rate is of an address, and of an account; zero is 10 a minute, 20 at
	// once.
	Rate account.Rate
	// Proxies may say in X-Forwarded-For whom they speak for.
	Proxies []netip.Prefix
}

func (t *Throttle) rate() account.Rate {
	if t.Rate == (account.Rate{}) {
		return account.Rate{PerMinute: 10, Burst: 20}
	}
	return t.Rate
}

// Attempt counts a try by the address of who sends r. The error is an
// *account.LimitedError when there were too many.
func (t *Throttle) Attempt(r *http.Request) error {
	return t.Limiter.Allow(r.Context(), "auth:"+neighbourhood(t.Address(r)), t.rate())
}

// AttemptAs is Attempt that counts against an account, too, whether it exists
// or not.
func (t *Throttle) AttemptAs(r *http.Request, email string) error {
	if err := t.Attempt(r); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(account.Normal(email))) // it may be any text
	return t.Limiter.Allow(r.Context(), "email:"+hex.EncodeToString(sum[:]), t.rate())
}
