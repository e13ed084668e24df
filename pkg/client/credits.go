package client

import (
	"context"
	"net/http"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

// Account is the balance and the limits of the key's account.
func (c *Client) Account(ctx context.Context) (Account, error) {
	return query[Account](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.api.GetKeyAccount(ctx) })
}

// Usage is what the key's account used on the days from one to another, both included. The
// days are those of the times in UTC. A zero from is 29 days before to, and a zero to is today.
func (c *Client) Usage(ctx context.Context, from, to time.Time) (Usage, error) {
	params := api.GetUsageParams{From: dayOf(from), To: dayOf(to)}
	return query[Usage](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.api.GetUsage(ctx, &params) })
}

// dayOf is the day of a time in UTC, nil for the zero one.
func dayOf(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	day := at.UTC().Format(time.DateOnly)
	return &day
}

// Estimate is the price of a clip. Nothing is charged. The error is a
// *BadRequestError for a clip that the service would not take.
func (c *Client) Estimate(ctx context.Context, clip Clip) (Estimate, error) {
	return query[Estimate](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.api.Estimate(ctx, clip) })
}
