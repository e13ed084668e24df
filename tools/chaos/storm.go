package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bgremove/bgremove/tools/internal/rig"
)

// member is a node that is restarted after each kill.
type member struct {
	name, role string
	args       []string
	*rig.Node
}

// start starts a node for the member. The last node stays if no process could be started.
func (m *member) start(ctx context.Context, p *rig.Deployment) error {
	n, err := p.Start(ctx, m.name, m.role, m.args...)
	if n != nil {
		m.Node = n
	}
	return err
}

// storm runs one node with all roles and one worker, and kills one of the two
// at random moments. Both have work at each kill.
func (c *chaos) storm(ctx context.Context, database string) error {
	var t phases
	p, err := c.rig.Deploy(ctx, database)
	if err != nil {
		return err
	}
	people, err := newCrowd(ctx, p, c.jobs)
	if err != nil {
		return err
	}
	members := []*member{{name: "all", role: "all", args: c.flags()}, {name: "worker", role: "worker", args: c.flags()}}
	for _, m := range members {
		if err := m.start(ctx, p); err != nil {
			return err
		}
	}
	people.urls = []string{members[0].URL}
	at, err := url.Parse(members[0].URL)
	if err != nil {
		return err
	}
	members[0].args = c.flags("--addr", at.Host) // so that clients find it again

	t.next("")
	done := make(chan error, 1)
	go func() { done <- people.run(ctx, c.jobs) }()
	err = c.kill(ctx, p, people, members)
	t.next("kills")
	err = errors.Join(err, <-done)
	t.next("last orders")
	if err == nil {
		err = c.awaitJobs(ctx, p)
	}
	t.next("last jobs")
	for _, m := range members {
		err = errors.Join(err, m.Stop())
	}
	t.next("stop")
	err = errors.Join(err, scratchFolders(p))
	if err != nil {
		return err
	}
	return c.report(ctx, p, people.scene(fmt.Sprintf("%s: %d kills", database, c.kills), &t))
}

// kill kills and restarts members. Orders come evenly: those for each kill
// arrive shortly before it.
func (c *chaos) kill(ctx context.Context, p *rig.Deployment, people *crowd, members []*member) error {
	admitted := 0
	defer func() { people.admit(c.jobs - admitted) }()
	for i := range c.kills {
		due := (i + 1) * c.jobs / c.kills
		people.admit(due - admitted)
		admitted = due
		select {
		case <-time.After(time.Duration(c.random.Int64N(int64(c.calm)))):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		m := members[c.random.IntN(len(members))]
		m.Kill()
		if err := m.start(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// scratchFolders finds temporary folders with content that outlived the process
// after theirs. A folder with only its lock is left for the next start: the
// lock of a killed process becomes free a moment later, when its children have
// ended.
func scratchFolders(p *rig.Deployment) error {
	left, err := filepath.Glob(filepath.Join(p.Temporary("*"), "*"))
	for _, dir := range left {
		entries, _ := os.ReadDir(dir)
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != ".lock" }) {
			err = errors.Join(err, fmt.Errorf("%s was left behind", dir))
		}
	}
	return err
}
