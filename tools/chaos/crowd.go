package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// batchEvery is the interval, in orders, of batches. Each batch has one
// unreadable file.
const batchEvery = 20

// deleteEvery is the interval, in orders, of those that the client deletes at once.
const deleteEvery = 7

// crowd is a set of clients that order a number of jobs. They repeat each order
// with its own Idempotency-Key until they have an answer.
type crowd struct {
	clients    []*rig.Client // of several accounts
	urls       []string
	one, batch rig.Form
	// gate admits one order for each of its values.
	gate chan struct{}

	mu  sync.Mutex
	ids map[string]bool // of all created jobs: whether the client deletes it

	tries, answered atomic.Int64 // submissions, and orders with an answer
}

func newCrowd(ctx context.Context, p *rig.Deployment, orders int) (*crowd, error) {
	c := &crowd{gate: make(chan struct{}, orders), ids: make(map[string]bool)}
	for _, email := range []string{"ann@example.com", "bob@example.com"} {
		key, err := p.Account(ctx, email, 1_000_000)
		if err != nil {
			return nil, err
		}
		c.clients = append(c.clients, rig.NewClient(key, 8))
	}
	clip, err := rig.GIF(96, 64, 6)
	if err != nil {
		return nil, err
	}
	good := rig.File{Name: "good.gif", Content: clip}
	if c.one, err = rig.NewForm(good); err != nil {
		return nil, err
	}
	c.batch, err = rig.NewForm(good, rig.File{Name: "bad.gif", Content: []byte("no clip")})
	return c, err
}

// admit admits n more orders.
func (c *crowd) admit(n int) {
	for range n {
		c.gate <- struct{}{}
	}
}

// run places all orders and returns when each has an answer.
func (c *crowd) run(ctx context.Context, orders int) error {
	const atOnce = 6
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wait sync.WaitGroup
	for range atOnce {
		wait.Go(func() {
			for n := range next {
				if err := c.order(ctx, n); err != nil {
					cancel(err)
				}
			}
		})
	}
	for n := range orders {
		select {
		case <-c.gate:
			next <- n
		case <-ctx.Done():
		}
	}
	close(next)
	wait.Wait()
	return context.Cause(ctx)
}

// order asks one node after another until one accepts the order.
func (c *crowd) order(ctx context.Context, n int) error {
	form, most := c.one, 1
	if n%batchEvery == 0 {
		form, most = c.batch, 2
	}
	client, key := c.clients[n%len(c.clients)], fmt.Sprint("order-", n)
	for try := 0; ; try++ {
		c.tries.Add(1)
		ids, err := client.Submit(ctx, c.urls[(n+try)%len(c.urls)], form, key)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && len(ids) == most:
			deletes := n%deleteEvery == 0
			c.note(ids, deletes)
			if deletes {
				return c.deleteAll(ctx, client, ids)
			}
			return nil
		case err == nil:
			return fmt.Errorf("order %d became the jobs %v", n, ids)
		case !passing(err):
			return fmt.Errorf("order %d: %w", n, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// deleteAll deletes jobs: it asks one node after another until one has done it.
func (c *crowd) deleteAll(ctx context.Context, client *rig.Client, ids []string) error {
	for _, id := range ids {
		for try := 0; ; try++ {
			err := client.Delete(ctx, c.urls[try%len(c.urls)], id)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil && !passing(err):
				return fmt.Errorf("delete %s: %w", id, err)
			}
			if err == nil {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

func (c *crowd) note(ids []string, deleted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.ids[id] = deleted
	}
	c.answered.Add(1)
}

// scene describes the orders for the report.
func (c *crowd) scene(title string, t *phases) scene {
	orders := fmt.Sprintf("%d submissions for %d orders", c.tries.Load(), c.answered.Load())
	return scene{title: title, orders: orders, told: c.ids, phases: t}
}

// passing reports whether the API asks clients to retry after an error: there
// was no answer at all, or one with Retry-After.
func passing(err error) bool {
	var status *rig.StatusError
	if !errors.As(err, &status) {
		return true
	}
	return status.Again && (status.Code == http.StatusConflict || status.Code == http.StatusServiceUnavailable)
}
