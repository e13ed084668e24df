package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// The nodes that are restarted in turn. Each worker runs one job at a time, so
// all are busy.
const (
	rollingAPIs    = 2
	rollingWorkers = 3
)

const (
	// noticed is how long the balancer still sends requests to a node that has
	// been told to stop. Manifests tell it before; here a part of the requests fails.
	noticed = 200 * time.Millisecond
	// shortDrain is shorter than the long clips take, so workers give them back.
	shortDrain = 300 * time.Millisecond
	// grace is the time after which one worker of each roll is killed, as a system
	// does that has waited for too long. Its lease stays behind.
	grace = 100 * time.Millisecond
)

// rolling restarts all nodes in turn while customers work with the service. Each
// node is replaced by a new one, with another address and another folder.
func (c *chaos) rolling(ctx context.Context) (err error) {
	var t phases
	p, err := c.rig.Postgres(ctx)
	if err != nil {
		return err
	}
	front, err := newBalancer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, front.close()) }()
	people, err := newCustomers(ctx, p, front.url)
	if err != nil {
		return err
	}
	r := &roll{chaos: c, deployment: p, front: front}
	for i := range rollingAPIs + rollingWorkers {
		role := "api"
		if i >= rollingAPIs {
			role = "worker"
		}
		m, err := r.start(ctx, role)
		if err != nil {
			return err
		}
		r.members = append(r.members, m)
	}
	t.next("")
	if err := r.under(ctx, people); err != nil {
		return err
	}
	t.next("rolling restarts under load")
	err = errors.Join(people.failed(), c.awaitJobs(ctx, p))
	for _, m := range r.members {
		err = errors.Join(err, m.Stop())
	}
	err = errors.Join(err, scratchFolders(p))
	if err != nil {
		return err
	}
	t.next("stop")
	return c.report(ctx, p, r.scene(people, &t))
}

// roll is the state of rolling restarts.
type roll struct {
	*chaos
	deployment *rig.Deployment
	front      *balancer
	members    []*member
	started    int
	killed     int
}

// start starts a node that never was before, and gives requests to it.
func (r *roll) start(ctx context.Context, role string) (*member, error) {
	r.started++
	m := &member{name: fmt.Sprint(role, "-", r.started), role: role, args: r.flags()}
	if role == "worker" {
		m.args = append(m.args, "--slots", "1", "--drain", shortDrain.String())
	}
	err := m.start(ctx, r.deployment)
	if err == nil && m.URL != "" {
		err = r.front.add(m.URL)
	}
	return m, err
}

// under restarts all nodes a number of times while people work.
func (r *roll) under(ctx context.Context, people *customers) error {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { people.run(ctx, stop); close(ended) }()
	var err error
	for range r.rolls {
		for i := range r.members {
			if err == nil {
				err = r.replace(ctx, i)
			}
		}
	}
	close(stop)
	<-ended
	return errors.Join(err, context.Cause(ctx))
}

// replace starts a new node and then stops the one in its place.
func (r *roll) replace(ctx context.Context, i int) error {
	old := r.members[i]
	m, err := r.start(ctx, old.role)
	if err != nil {
		return err
	}
	r.members[i] = m
	if err := old.Terminate(); err != nil {
		return err
	}
	if old.URL != "" {
		time.Sleep(noticed)
		r.front.remove(old.URL)
	}
	if i == len(r.members)-1 {
		time.Sleep(grace)
		if old.Alive() {
			r.killed++
			old.Kill()
			return os.RemoveAll(r.deployment.Temporary(old.name)) // it goes with its machine
		}
	}
	return old.Wait()
}

func (r *roll) scene(people *customers, t *phases) scene {
	title := fmt.Sprintf("%d rolling restarts of %d API nodes and %d workers under load, %d workers killed while they stopped",
		r.rolls, rollingAPIs, rollingWorkers, r.killed)
	orders := []string{
		fmt.Sprintf("%d requests", r.front.requests.Load()),
		fmt.Sprintf("%d met a stopped node", r.front.refused.Load()),
		fmt.Sprintf("%d made again", people.retries.Load()),
		fmt.Sprintf("%d failed in spite of that", len(people.failures)),
	}
	return scene{title: title, orders: strings.Join(orders, ", "), told: people.told, stopped: true, phases: t}
}
