//go:build linux

package main

import (
	"context"
	"slices"
	"sync"
	"time"
)

// series is the durations of requests.
type series struct {
	took []time.Duration
	over time.Duration // from the start of the first to the end of the last
}

// perSecond is the rate of answered requests.
func (s series) perSecond() float64 { return float64(len(s.took)) / s.over.Seconds() }

// quantile is the time within which the given share was answered.
func (s series) quantile(share float64) time.Duration {
	if len(s.took) == 0 {
		return 0
	}
	slices.Sort(s.took)
	return s.took[min(len(s.took)-1, int(share*float64(len(s.took))))]
}

// closed keeps a number of requests running for a time, which measures the
// highest rate. The first error ends it.
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

// open starts requests at a fixed rate, however long the previous ones take. It
// counts each from the moment when it was due, so that a stalled service does
// not escape the requests of that time. The first error ends it.
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
