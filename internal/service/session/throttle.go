package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/netip"

	"github.com/bgremove/bgremove/internal/service/account"
)

// Throttle bounds how often signing in, registering and the like is tried, since
// hashing passwords is expensive and guessing them is not for programs, and how
// often an account asks for anything at all. Its rates may be zero for those of
// DefaultThrottle. It is safe for concurrent use.
type Throttle struct {
	Limiter *account.Limiter
	// Rate is of attempts, from an address and for an account.
	Rate account.Rate
	// Requests is of an account, by all its keys and browsers together.
	Requests account.Rate
	// Devices are counted apart, where the account has signed in before.
	Devices *Devices
	// Proxies may say in X-Forwarded-For whom they speak for.
	Proxies []netip.Prefix
}

// DefaultThrottle has the default rates, and nothing else.
func DefaultThrottle() Throttle {
	return Throttle{Rate: account.Rate{PerMinute: 10, Burst: 20}, Requests: account.Rate{PerMinute: 600, Burst: 300}}
}

// Request counts a request of an account. The error is an *account.LimitedError
// when there were too many.
func (t *Throttle) Request(ctx context.Context, accountID string) error {
	return t.Limiter.Allow(ctx, "account:"+accountID, cmp.Or(t.Requests, DefaultThrottle().Requests))
}

// Attempt counts an attempt by the sender's address. The error is an
// *account.LimitedError if there were too many.
func (t *Throttle) Attempt(r *http.Request) error {
	return t.allow(r, "auth:"+subnet(t.Address(r)))
}

// AttemptAs is Attempt that counts against an account, too, whether it exists
// or not. A browser in which the account has signed in before is counted apart,
// so that strangers cannot use up what its owner has.
func (t *Throttle) AttemptAs(r *http.Request, email string) error {
	if device, known := t.Devices.known(r, email); known {
		return t.allow(r, "device:"+device)
	}
	if err := t.Attempt(r); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(account.NormalEmail(email))) // it may be any text
	return t.allow(r, "email:"+hex.EncodeToString(sum[:]))
}

// AttemptSignedIn counts an attempt of a signed-in account, whatever its address.
func (t *Throttle) AttemptSignedIn(r *http.Request, accountID string) error {
	return t.allow(r, "signed-in:"+accountID)
}

func (t *Throttle) allow(r *http.Request, bucket string) error {
	return t.Limiter.Allow(r.Context(), bucket, cmp.Or(t.Rate, DefaultThrottle().Rate))
}
