//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// The number of watching browsers and of jobs. Each account has as many
// browsers as it may have on a node.
const (
	streamAccounts   = 10
	streamsOfAccount = 20
	jobsOfAccount    = 5
)

// aimStreams is the memory in bytes that all streams together may add to their
// node.
const aimStreams = 30e6

// streams measures the memory that open streams of events add to a node while
// jobs run. It checks that each stream reports every state of every job of its
// account.
func (b *bench) streams(ctx context.Context, database string) (err error) {
	p, nodes, _, err := b.begin(ctx, database, "api", "api", "worker")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(nodes)) }()
	measured, front := nodes[0], nodes[1] // hashing passwords would hide the streams' memory
	form, err := rig.ClipForm(64, 64, 5)
	if err != nil {
		return err
	}
	w := &watchers{node: measured, form: form}
	for i := range streamAccounts {
		email := fmt.Sprintf("watcher%d@example.com", i)
		key, err := p.Account(ctx, email, 1000)
		if err != nil {
			return err
		}
		browser, err := p.Browser(ctx, front.URL, email)
		if err != nil {
			return err
		}
		w.keys, w.browsers = append(w.keys, rig.NewClient(key, 1)), append(w.browsers, browser)
	}
	if err := w.round(ctx, 1); err != nil { // so that later only the number of streams is new
		return err
	}
	added, err := measured.PeakAdded(func() error { return w.round(ctx, streamsOfAccount) })
	if err != nil {
		return err
	}
	show(fmt.Sprintf("memory added by %d streams while %d jobs run", streamAccounts*streamsOfAccount, streamAccounts*jobsOfAccount),
		fmt.Sprintf("%.1f MB", added/1e6), fmt.Sprintf("≤ %.0f MB", aimStreams/1e6), added <= aimStreams)
	return nil
}

// watchers are the browsers of several accounts at a node.
type watchers struct {
	node     *rig.Node
	form     rig.Form
	keys     []*rig.Client
	browsers []*rig.Browser
}

// round opens streams for each account, runs its jobs, and waits until every
// stream has reported all of them.
func (w *watchers) round(ctx context.Context, streams int) error {
	var all []*rig.Events
	closeAll := func() {
		for _, e := range all {
			_ = e.Close()
		}
	}
	defer closeAll()
	for _, browser := range w.browsers {
		for range streams {
			e, err := browser.Events(ctx, w.node.URL)
			if err != nil {
				return err
			}
			all = append(all, e)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, closeAll)() // a stream would wait for ever for jobs that were refused
	for _, key := range w.keys {
		g.Go(func() error {
			for range jobsOfAccount {
				if _, err := key.Submit(ctx, w.node.URL, w.form, ""); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, e := range all {
		g.Go(func() error { return complete(e) })
	}
	return g.Wait()
}

// complete checks that a stream reports every state of every job of an account.
func complete(e *rig.Events) error {
	told := map[string]string{}
	for range 4 * jobsOfAccount {
		j, err := e.Job()
		if err != nil {
			return err
		}
		told[j.ID] += string(j.Status) + " "
	}
	for id, states := range told {
		if states != "queued processing processing done " {
			return fmt.Errorf("a stream reports for %s: %s", id, states)
		}
	}
	return nil
}
