//go:build linux

package main

import (
	"context"
	"slices"
	"sync"
	"time"
)

// series is how long requests took.
type series struct {
	took []time.Duration
	over time.Duration // from the first's begin to the last's end
}

// perSecond is the rate of requests that were answered.
func (s series) perSecond() float64 { return float64(len(s.took)) / s.over.Seconds() }

// quantile is the time within which the given share was answered.
func (s series) quantile(share float64) time.Duration {
	if len(s.took) == 0 {
		return 0
	}
	slices.Sort(s.took)
	return s.took[min(len(s.took)-1, int(share*float64(len(s.took))))]
}

// closed keeps a number of requests under way for a time: the most that the
// service can do. The first error ends it.
func closed(ctx context.Context, during time.Duration, atOnce int, request func(context.Context) error) (series, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		all   series
		mu    sync.Mutex
		wait  sync.WaitGroup
		began = time.Now()
	)
	for range atOnce {
		wait.Go(func() {
			var took []time.Duration
			for ctx.Err() == nil && time.Since(began) < during {
				at := time.Now()
				if err := request(ctx); err != nil {
					cancel(err)
					return
				}
				took = append(took, time.Since(at))
			}
			mu.Lock()
			defer mu.Unlock()
			all.took = append(all.took, took...)
		})
	}
	wait.Wait()
	all.over = time.Since(began)
	return all, context.Cause(ctx)
}

// open begins requests at a fixed rate, however long those before take, and
// counts each from the moment at which it was due: a service that stalls is
// not spared the requests that would have come meanwhile. The first error ends
// it.
func open(ctx context.Context, during time.Duration, rate float64, request func(context.Context) error) (series, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n := int(rate * during.Seconds())
	all := series{took: make([]time.Duration, n)}
	var wait sync.WaitGroup
	began := time.Now()
	for i := range n {
		due := began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			if err := request(ctx); err != nil {
				cancel(err)
			}
			all.took[i] = time.Since(due)
		})
	}
	wait.Wait()
	all.over = time.Since(began)
	return all, context.Cause(ctx)
}
