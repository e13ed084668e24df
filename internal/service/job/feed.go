package job

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// Bounds of a feed.
const (
	// MaxFollowers is how many may follow one account on one node.
	MaxFollowers = 20
	// followAhead is how many events wait for a follower before it is cut off.
	followAhead = 256
	// pollGap is the least time between two polls of the database, which
	// lets events that come together be read together.
	pollGap = 20 * time.Millisecond
	// accountsAtOnce is how many accounts one poll asks for together.
	accountsAtOnce = 100
)

// The reasons for the end of a Follower.
var (
	// ErrTooManyFollowers is an account that MaxFollowers follow.
	ErrTooManyFollowers = errors.New("too many event streams for the account")
	// ErrGap means that events after a number are missing: they were swept, or
	// the number is not this account's. Events that Next returns after it
	// follow the gap.
	ErrGap = errors.New("events are missing")
	// ErrCutOff is a follower that was too slow, or a feed that ends. It may
	// follow again from the last event that it has seen.
	ErrCutOff = errors.New("the stream has fallen behind")
)

// Feed reports changes of jobs as they happen, on any node. It reads the events
// of an account once, for all its followers. It is safe for concurrent use.
type Feed struct {
	service *Service
	wake    chan struct{}
	mu      sync.Mutex
	ended   bool
	groups  map[string]*group // by the account's id
}

// group has the followers of an account.
type group struct {
	last int64 // the last event that all have been given
	all  map[*Follower]struct{}
}

// NewFeed makes a Feed of the jobs of s. It reports nothing until Run is
// called.
func NewFeed(s *Service) *Feed {
	return &Feed{service: s, wake: make(chan struct{}, 1), groups: make(map[string]*group)}
}

// Run feeds until ctx ends, and then cuts all followers off.
func (f *Feed) Run(ctx context.Context) {
	var listener sync.WaitGroup
	defer listener.Wait()
	defer f.close()
	listener.Go(func() {
		_ = f.service.db.Listen(ctx, eventsTopic, func() { signal(f.wake) }) // until ctx ends
	})
	for sleep(ctx, pollEvery, f.wake) {
		if err := f.poll(ctx); err != nil && ctx.Err() == nil {
			f.service.config.Log.ErrorContext(ctx, "read job events", "error", err)
		}
		if !sleep(ctx, pollGap, nil) {
			return
		}
	}
}

func (f *Feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	for _, g := range f.groups {
		for follower := range g.all {
			f.cutOff(follower)
		}
	}
}

// cutOff ends a follower. f.mu is held.
func (f *Feed) cutOff(follower *Follower) {
	g := f.groups[follower.account]
	if g == nil {
		return
	}
	if _, ok := g.all[follower]; !ok {
		return
	}
	close(follower.live)
	delete(g.all, follower)
	if len(g.all) == 0 {
		delete(f.groups, follower.account)
	}
}

// poll passes new events to the followers.
func (f *Feed) poll(ctx context.Context) error {
	f.mu.Lock()
	accounts := slices.Collect(maps.Keys(f.groups))
	f.mu.Unlock()
	for some := range slices.Chunk(accounts, accountsAtOnce) {
		latest, err := f.service.latest(ctx, some)
		if err != nil {
			return err
		}
		for account, seq := range latest {
			if err := f.advance(ctx, account, seq); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance gives the followers of an account its events up to one.
func (f *Feed) advance(ctx context.Context, account string, latest int64) error {
	for {
		f.mu.Lock()
		g := f.groups[account]
		f.mu.Unlock()
		if g == nil || g.last >= latest { // only this goroutine changes last
			return nil
		}
		events, err := f.service.events(ctx, account, g.last, latest)
		if err != nil {
			return err
		}
		f.deliver(g, events)
	}
}

// deliver passes events to all followers of a group. It cuts off a follower
// without room. It cuts off all of them if events are missing because the feed
// was behind for too long.
func (f *Feed) deliver(g *group, events []*Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	missing := len(events) == 0 || events[0].Seq != g.last+1
	for follower := range g.all {
		if missing || cap(follower.live)-len(follower.live) < len(events) {
			f.cutOff(follower)
			continue
		}
		for _, e := range events {
			follower.live <- e
		}
	}
	if len(events) > 0 {
		g.last = events[len(events)-1].Seq
	}
}

// Follow starts to follow an account after the event with the given number, or
// from now on if the number is below 0. The caller closes the follower. The
// error is ErrTooManyFollowers, ErrCutOff, or the database's.
func (f *Feed) Follow(ctx context.Context, account string, after int64) (*Follower, error) {
	latest, err := f.service.latest(ctx, []string{account})
	if err != nil {
		return nil, err
	}
	now := latest[account]
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.groups[account]
	switch {
	case f.ended:
		return nil, ErrCutOff
	case g == nil:
		g = &group{last: now, all: make(map[*Follower]struct{})}
		f.groups[account] = g
	case len(g.all) >= MaxFollowers:
		return nil, ErrTooManyFollowers
	}
	follower := &Follower{feed: f, account: account, live: make(chan *Event, followAhead), joined: g.last, last: after}
	if after < 0 {
		follower.last = g.last
	}
	follower.gap = after > max(g.last, now)
	g.all[follower] = struct{}{}
	return follower, nil
}

// Follower receives the events of an account. Its methods are for one
// goroutine.
type Follower struct {
	feed    *Feed
	account string
	live    chan *Event // events after joined; closed when cut off
	joined  int64
	last    int64
	gap     bool
	earlier []*Event // read, and not returned yet
}

// Last is the number of the last event that the follower has seen.
func (f *Follower) Last() int64 { return f.last }

// Next waits for the next event. The error is ErrGap, after which Next may be
// called again, ErrCutOff, that of ctx, or the database's.
func (f *Follower) Next(ctx context.Context) (*Event, error) {
	if len(f.earlier) == 0 && f.last < f.joined && !f.gap {
		var err error
		if f.earlier, err = f.feed.service.events(ctx, f.account, f.last, f.joined); err != nil {
			return nil, err
		}
		f.gap = len(f.earlier) == 0 || f.earlier[0].Seq != f.last+1
	}
	if f.gap {
		f.gap, f.earlier, f.last = false, nil, f.joined
		return nil, ErrGap
	}
	if len(f.earlier) > 0 {
		e := f.earlier[0]
		f.earlier, f.last = f.earlier[1:], e.Seq
		return e, nil
	}
	return f.next(ctx)
}

// next waits for live events.
func (f *Follower) next(ctx context.Context) (*Event, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case e, ok := <-f.live:
			if !ok {
				return nil, ErrCutOff
			}
			if e.Seq <= f.last {
				continue // the feed was behind this follower
			}
			f.last = e.Seq
			return e, nil
		}
	}
}

// Close ends following.
func (f *Follower) Close() {
	f.feed.mu.Lock()
	defer f.feed.mu.Unlock()
	f.feed.cutOff(f)
}
