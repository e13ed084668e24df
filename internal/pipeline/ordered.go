package pipeline

import (
	"context"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"
)

// produce sends what next returns, until io.EOF, to the channel it returns.
func produce[T any](ctx context.Context, g *errgroup.Group, next func(context.Context) (T, error)) <-chan T {
	out := make(chan T)
	g.Go(func() error {
		defer close(out)
		for {
			v, err := next(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			select {
			case out <- v:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
	return out
}

// ordered applies work to the arriving items on several goroutines, and
// delivers the results in the order of arrival. Up to ahead items, and at least
// one for each worker, are accepted while one is processed; the caller must
// bound the items of all stages. Workers have lower priority than the encoder.
func ordered[T any](ctx context.Context, g *errgroup.Group, in <-chan T, workers, ahead int, work func(context.Context, T) error) <-chan T {
	type slot struct {
		item T
		done chan struct{}
	}
	todo := make(chan *slot)
	queue := make(chan *slot, ahead)
	g.Go(func() error {
		defer close(todo)
		defer close(queue)
		for item := range in {
			s := &slot{item: item, done: make(chan struct{})}
			for _, c := range []chan<- *slot{queue, todo} {
				select {
				case c <- s:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error {
			lowerPriority()
			for s := range todo {
				if err := work(ctx, s.item); err != nil {
					return err
				}
				close(s.done)
			}
			return nil
		})
	}
	out := make(chan T)
	g.Go(func() error {
		defer close(out)
		for s := range queue {
			select {
			case <-s.done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			select {
			case out <- s.item:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	return out
}

// consume hands what arrives to use, one by one. It ends early when ctx does,
// even though the channel is then closed without having delivered everything.
func consume[T any](ctx context.Context, g *errgroup.Group, in <-chan T, use func(context.Context, T) error) {
	g.Go(func() error {
		for v := range in {
			if err := use(ctx, v); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	})
}
