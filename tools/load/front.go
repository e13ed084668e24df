//go:build linux

package main

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// front sends requests to API nodes in turn.
type front struct {
	client *rig.Client
	form   rig.Form
	urls   []string
	turn   atomic.Int64
}

func (f *front) url() string { return f.urls[f.turn.Add(1)%int64(len(f.urls))] }

func (f *front) submit(ctx context.Context) (id string, err error) {
	ids, err := f.client.Submit(ctx, f.url(), f.form, "")
	if err != nil {
		return "", err
	}
	return ids[0], nil
}

// jobs submits jobs at once and waits until they have ended.
func (f *front) jobs(ctx context.Context, n int) error {
	g, ctx := errgroup.WithContext(ctx)
	for range n {
		g.Go(func() error {
			id, err := f.submit(ctx)
			if err != nil {
				return err
			}
			return await(ctx, f.client, f.url(), id)
		})
	}
	return g.Wait()
}
