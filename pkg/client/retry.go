package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// retry calls send until it succeeds, fails for good, or Tries are made.
func (c *Client) retry(ctx context.Context, send func(context.Context) error) error {
	for try := 1; ; try++ {
		err := send(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ended(ctx, err)
		}
		if moved := (*movedError)(nil); errors.As(err, &moved) {
			try, err = 1, moved.error
		}
		if last := (*lastError)(nil); errors.As(err, &last) {
			return last.error
		}
		after, again := c.temporary(err)
		if !again || try >= c.options.Tries || after > c.options.MaxWait {
			return err
		}
		wait := c.pause(try, after)
		c.options.OnRetry(Retry{Try: try, Wait: wait, Err: err})
		if sleep(ctx, wait) != nil {
			return ended(ctx, err)
		}
	}
}

// ended is the cause of the end of a context, with what went wrong before.
func ended(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if errors.Is(err, cause) || errors.Is(err, ctx.Err()) {
		return cause
	}
	return fmt.Errorf("%w; before that: %w", cause, err)
}

// temporary reports whether an error may be gone at the next try, and how long
// the service asks to wait for that.
func (c *Client) temporary(err error) (after time.Duration, again bool) {
	var (
		limited     *RateLimitedError
		unavailable *UnavailableError
		busy        *busyError
		connection  *ConnectionError
	)
	switch {
	case errors.As(err, &limited):
		return limited.RetryAfter, true
	case errors.As(err, &unavailable):
		return unavailable.RetryAfter, true
	case errors.As(err, &busy):
		return busy.after, true
	case errors.As(err, &connection):
		return 0, connection.Connected || c.answered.Load()
	}
	return 0, errors.Is(err, ErrDigest)
}

// pause grows twofold with each try, and is spread so that clients that failed
// together do not come back together. It is never less than the service asks.
func (c *Client) pause(try int, after time.Duration) time.Duration {
	step := c.options.MaxWait
	if try < 32 {
		step = min(step, c.options.MinWait<<(try-1))
	}
	if step <= 0 { // overflown
		step = c.options.MaxWait
	}
	return max(after+rand.N(min(step, after)/4+1), step/2+rand.N(step/2+1))
}

// sleep waits, or returns the error of a context that ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// retryAfter reads the header: seconds, or a date (RFC 9110, section 10.2.3);
// 0 if it is not there.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
