package pipeline

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// keptItems reads the frames of a plan, with their mattes where there was a
// first pass.
type keptItems struct {
	*runner
	src    *timedSource // of the whole clip, or of one part of it
	behind *behind
	plan   plan
	n      int           // frames read
	picked int           // frames of the plan's picks that are done with
	at     time.Duration // when the next frame is shown
}

// openKept starts a last pass.
func (r *runner) openKept(ctx context.Context, p plan) (*keptItems, error) {
	k := &keptItems{runner: r, plan: p}
	var err error
	if k.behind, err = r.openScene(ctx, p.layout); err != nil {
		return nil, err
	}
	if p.variant.Sample == nil {
		k.src, err = r.open(ctx)
	}
	if err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// close ends the pass.
func (k *keptItems) close() {
	_ = k.behind.Close()
	if k.src != nil {
		_ = k.src.Close()
	}
}

func (k *keptItems) next(ctx context.Context) (*item, error) {
	if k.plan.mattes == nil {
		it, err := k.read(ctx, k.src, k.n)
		if err != nil {
			return nil, err
		}
		k.n++
		return it, k.behind.place(ctx, it)
	}
	if k.picked == len(k.plan.picks) {
		return nil, io.EOF
	}
	p := k.plan.picks[k.picked]
	it, err := k.find(ctx, p)
	if err != nil {
		return nil, err
	}
	it.index = p.index
	it.Matte = k.newMatte()
	if it.Foreground, err = k.plan.mattes.read(it.index, it.Matte); err != nil {
		return nil, err
	}
	if k.plan.volume != nil {
		k.plan.volume.Clean(it.index, it.Matte)
	}
	it.frame.PTS = p.start
	if err := k.behind.place(ctx, it); err != nil {
		return nil, err
	}
	k.picked++
	p.apply(it.frame, k.at)
	k.at += p.duration
	return it, nil
}

// find reads frames until the one that is picked. In a whole pass its number tells,
// in a part of the clip its time.
func (k *keptItems) find(ctx context.Context, p pick) (*item, error) {
	parts := k.plan.variant.Sample != nil
	if parts && (k.picked == 0 || k.plan.picks[k.picked-1].end() != p.start) {
		if err := k.seek(ctx, p.pts); err != nil {
			return nil, err
		}
	}
	for {
		it, err := k.read(ctx, k.src, k.n)
		if err != nil {
			return nil, err
		}
		k.n++
		if !parts && it.index == p.index || parts && it.frame.PTS+k.src.first >= p.pts {
			return it, nil
		}
		k.pool.Put(it.frame.Image)
		k.flight.leave()
	}
}

// seek begins to read at a time of the clip.
func (k *keptItems) seek(ctx context.Context, pts time.Duration) error {
	if k.src != nil {
		_ = k.src.Close() // it is stopped on purpose
	}
	src, err := k.Clip.Open(ctx, media.ReadOptions{From: pts, Pool: k.pool})
	if err != nil {
		return fmt.Errorf("open the clip: %w", err)
	}
	k.src = newTimedSource(src, Timing{Start: pts}, k.info, k.pool)
	return nil
}
