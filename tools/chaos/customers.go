package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

// customers order clips with the client of pkg/client, wait for them and download
// them. A request may meet each of the API nodes while it stops, and may be made again as often.
type customers struct {
	clients []*client.Client // of several accounts
	clips   [][]byte

	mu       sync.Mutex
	told     map[string]bool // the created jobs, none of which is deleted
	failures []error         // that no further try mended

	retries atomic.Int64
}

// longEvery is the interval, in orders, of clips that keep a worker busy for a
// while.
const longEvery = 3

func newCustomers(ctx context.Context, p *rig.Deployment, server string) (*customers, error) {
	c := &customers{told: make(map[string]bool)}
	for _, email := range []string{"ann@example.com", "bob@example.com"} {
		key, err := p.Account(ctx, email, 1_000_000)
		if err != nil {
			return nil, err
		}
		one, err := client.New(server, key, client.Options{
			Tries: 1 + rollingAPIs, Poll: 50 * time.Millisecond, OnRetry: func(client.Retry) { c.retries.Add(1) },
		})
		if err != nil {
			return nil, err
		}
		c.clients = append(c.clients, one)
	}
	for _, size := range [][3]int{{96, 64, 6}, {320, 180, 40}} {
		clip, err := rig.GIF(size[0], size[1], size[2])
		if err != nil {
			return nil, err
		}
		c.clips = append(c.clips, clip)
	}
	return c, nil
}

// run places orders, some at once, until stop is closed and the last order has
// its file.
func (c *customers) run(ctx context.Context, stop <-chan struct{}) {
	const atOnce = 8
	var (
		wait sync.WaitGroup
		last atomic.Int64
	)
	for range atOnce {
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-ctx.Done():
					return
				default:
				}
				if err := c.order(ctx, last.Add(1)); err != nil {
					c.mu.Lock()
					c.failures = append(c.failures, err)
					c.mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
}

// order orders a clip and downloads the result, which the client compares with
// its hash.
func (c *customers) order(ctx context.Context, n int64) error {
	one, clip := c.clients[n%int64(len(c.clients))], c.clips[0]
	if n%longEvery == 0 {
		clip = c.clips[1]
	}
	made, err := one.Submit(ctx, client.File{Name: "clip.gif", Content: bytes.NewReader(clip)}, client.JobOptions{Method: api.MethodFast})
	if err != nil {
		return fmt.Errorf("order %d: submit: %w", n, err)
	}
	c.mu.Lock()
	c.told[made.ID] = false
	c.mu.Unlock()
	if _, err := one.Wait(ctx, made.ID, nil); err != nil {
		return fmt.Errorf("order %d: wait for %s: %w", n, made.ID, err)
	}
	if _, err := one.DownloadTo(ctx, made.ID, io.Discard); err != nil {
		return fmt.Errorf("order %d: download %s: %w", n, made.ID, err)
	}
	return nil
}

// failed describes the failures, if there are any.
func (c *customers) failed() error {
	if len(c.failures) == 0 {
		return nil
	}
	return fmt.Errorf("%d orders failed in spite of retries: %w", len(c.failures), errors.Join(c.failures...))
}
