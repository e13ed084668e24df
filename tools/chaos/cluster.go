package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// cluster runs two API nodes and three workers. They share a PostgreSQL
// database and a bucket on an S3 server. It kills one of each kind for good.
func (c *chaos) cluster(ctx context.Context) (err error) {
	var t phases
	s3, err := c.rig.S3(ctx, c.versitygw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s3.Close()) }()
	p, err := c.rig.Postgres(ctx)
	if err != nil {
		return err
	}
	if err := p.UseS3(s3); err != nil {
		return err
	}
	people, err := newCrowd(ctx, p, c.clusterJobs)
	if err != nil {
		return err
	}
	apis, err := c.nodes(ctx, p, "api", 2)
	if err != nil {
		return err
	}
	workers, err := c.nodes(ctx, p, "worker", 3)
	if err != nil {
		return err
	}
	people.urls = []string{apis[0].URL, apis[1].URL}
	t.next("")
	if err := c.killTwo(ctx, people, workers[c.random.IntN(len(workers))], apis[c.random.IntN(len(apis))]); err != nil {
		return err
	}
	t.next("orders and kills")
	if err := c.awaitJobs(ctx, p); err != nil {
		return err
	}
	t.next("last jobs")
	for _, n := range append(apis, workers...) {
		if n.Alive() {
			err = errors.Join(err, n.Stop())
		}
	}
	if err != nil {
		return err
	}
	t.next("stop")
	return c.report(ctx, p, people.scene("cluster of 2 API nodes and 3 workers: one of each killed", &t))
}

// nodes starts n nodes with a role.
func (c *chaos) nodes(ctx context.Context, p *rig.Deployment, role string, n int) (nodes []*rig.Node, err error) {
	for i := range n {
		node, err := p.Start(ctx, fmt.Sprint(role, i), role, c.flags()...)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// killTwo kills a worker in the middle of its jobs and an API node during the
// last orders. It returns when all orders have an answer.
func (c *chaos) killTwo(ctx context.Context, people *crowd, worker, front *rig.Node) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() {
		err := people.run(ctx, c.clusterJobs)
		if err != nil {
			cancel(err) // nothing goes on that the kills wait for
		}
		done <- err
	}()
	quarter := c.clusterJobs / 4
	people.admit(2 * quarter)
	err := c.killAt(ctx, worker, c.clusterJobs/12, func() (int64, error) { return jobsEnded(worker) })
	people.admit(c.clusterJobs - 2*quarter)
	if err == nil {
		err = c.killAt(ctx, front, quarter, func() (int64, error) { return people.answered.Load(), nil })
	}
	return errors.Join(err, <-done)
}

// killAt kills a node at a random moment, after 1 to most steps of progress. It does not wait
// for longer than for the last jobs.
func (c *chaos) killAt(ctx context.Context, victim *rig.Node, most int, progress func() (int64, error)) error {
	began, err := progress()
	if err != nil {
		return err
	}
	share := began + 1 + c.random.Int64N(int64(max(1, most)))
	end := time.Now().Add(c.within)
	for now := began; now < share; {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Now().After(end):
			return fmt.Errorf("progress from %d to %d, for a kill: %w", began, share, errTooLong)
		}
		time.Sleep(time.Millisecond)
		if now, err = progress(); err != nil {
			return err
		}
	}
	victim.Kill()
	return nil
}

// jobsEnded counts the attempts that a worker has ended, by its log.
func jobsEnded(worker *rig.Node) (int64, error) {
	log, err := os.ReadFile(worker.Log)
	return int64(bytes.Count(log, []byte(`"msg":"job ended"`))), err
}
