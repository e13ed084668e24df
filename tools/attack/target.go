package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/deployment"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

// target is a server under attack, on a deployment of its own.
type target struct {
	*campaign
	*rig.Node
	deployment *rig.Deployment
	db         *store.DB
}

// newDeployment makes an empty database and storage.
func (c *campaign) newDeployment(ctx context.Context) (*rig.Deployment, error) {
	return c.rig.Deploy(ctx, c.database)
}

// open starts a server with flags on a new deployment. It has all roles, unless the
// flags say --role.
func (c *campaign) open(ctx context.Context, flags ...string) (*target, error) {
	p, err := c.newDeployment(ctx)
	if err != nil {
		return nil, err
	}
	return c.serve(ctx, p, p, "all", flags...)
}

// serve starts a server with a role. The server reaches its deployment by one way;
// the checks reach it by another.
func (c *campaign) serve(ctx context.Context, by, at *rig.Deployment, role string, flags ...string) (*target, error) {
	n, err := by.Start(context.WithoutCancel(ctx), "node", role, flags...)
	if err != nil {
		return nil, err
	}
	t := &target{campaign: c, Node: n, deployment: at}
	if t.db, err = store.Open(ctx, at.Database); err != nil {
		n.Kill()
		return nil, err
	}
	return t, nil
}

// close stops the server, and checks the invariants: every balance is the sum
// of its ledger, and no answer was a fault of the service.
func (t *target) close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	err := t.Stop()
	wrong, failure := account.NewLedger(t.db).Verify(ctx)
	if len(wrong) > 0 {
		err = errors.Join(err, fmt.Errorf("balances differ from the sums of their ledgers: %v", wrong))
	}
	log, unread := os.ReadFile(t.Log)
	for line := range bytes.Lines(log) {
		if bytes.Contains(line, []byte(`"status":500`)) {
			err = errors.Join(err, fmt.Errorf("a fault of the service: %s", line))
		}
	}
	return errors.Join(err, failure, unread, t.db.Close())
}

// number makes unique addresses and names for visitors.
var number atomic.Int64

// stranger is a visitor without an account, at an address of its own.
func (t *target) stranger() *visitor { return newVisitor(t.URL, number.Add(1)) }

// customer has an account with credits, and a key. It is not signed in.
func (t *target) customer(ctx context.Context, credits int64) (*visitor, error) {
	v := t.stranger()
	v.email, v.password = fmt.Sprintf("visitor%d@example.com", number.Add(1)), account.NewPassword()
	who, err := account.New(t.db).Register(ctx, v.email, v.password)
	if err != nil {
		return nil, err
	}
	v.id = who.ID
	if credits > 0 {
		if _, err := account.NewLedger(t.db).Grant(ctx, v.id, credits, "attack"); err != nil {
			return nil, err
		}
	}
	return v, t.newKey(ctx, v)
}

// customers returns n accounts with that many credits each.
func (t *target) customers(ctx context.Context, n int, credits int64) ([]*visitor, error) {
	all := make([]*visitor, n)
	for i := range all {
		var err error
		if all[i], err = t.customer(ctx, credits); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// browser is a signed-in customer.
func (t *target) browser(ctx context.Context, credits int64) (*visitor, error) {
	v, err := t.customer(ctx, credits)
	if err != nil {
		return nil, err
	}
	got, err := v.signIn(ctx, v.email, v.password)
	return v, errors.Join(err, got.want(http.StatusNoContent, ""))
}

// newKey gives a visitor another key of the same account.
func (t *target) newKey(ctx context.Context, v *visitor) (err error) {
	key, secret, err := account.NewKeys(t.db).Create(ctx, v.id, "attack")
	v.keyID, v.key = key.ID, secret
	return err
}

// hasCredits checks a balance.
func (t *target) hasCredits(ctx context.Context, v *visitor, want int64) error {
	got, err := account.NewLedger(t.db).Balance(ctx, v.id)
	if err == nil && got != want {
		err = fmt.Errorf("the account has %d credits, want %d", got, want)
	}
	return err
}

// count runs a query that counts.
func (t *target) count(ctx context.Context, query string, args ...any) (n int64, err error) {
	err = t.db.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// hasJobs checks the number of an account's jobs.
func (t *target) hasJobs(ctx context.Context, v *visitor, want int64) error {
	got, err := t.count(ctx, "SELECT COUNT(*) FROM jobs WHERE account_id = $1", v.id)
	if err == nil && got != want {
		err = fmt.Errorf("the account has %d jobs, want %d", got, want)
	}
	return err
}

// done waits until all jobs of an account are done.
func (t *target) done(ctx context.Context, v *visitor) error {
	return t.until(ctx, "jobs are done", func() (bool, error) {
		failed, err := t.count(ctx, "SELECT COUNT(*) FROM jobs WHERE account_id = $1 AND state = 'failed'", v.id)
		if err == nil && failed > 0 {
			err = fmt.Errorf("%d jobs have failed", failed)
		}
		if err != nil {
			return false, err
		}
		left, err := t.count(ctx, "SELECT COUNT(*) FROM jobs WHERE account_id = $1 AND state <> 'done'", v.id)
		return left == 0, err
	})
}

// until repeats a check until it succeeds.
func (t *target) until(ctx context.Context, what string, check func() (bool, error)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(time.Minute); ; {
		if ok, err := check(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-end:
			return fmt.Errorf("%s: not within a minute", what)
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
	}
}

// objects counts the objects of jobs in the storage.
func (t *target) objects(ctx context.Context) (n int, err error) {
	blobs, err := t.deployment.Blobs(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, blobs.Close()) }()
	for info, err := range blobs.List(ctx, "") {
		if err != nil {
			return 0, err
		}
		if info.Key != deployment.Mark {
			n++
		}
	}
	return n, nil
}

// lightPeak runs an operation that must take little memory of the server, and
// reports how much it took.
func (t *target) lightPeak(most int64, run func() error) (string, error) {
	if err := errors.Join(t.ForgetPeak(), run()); err != nil {
		return "", err
	}
	peak, err := t.Peak()
	if err == nil && peak > most {
		err = fmt.Errorf("the server held %d MB, more than %d", peak/1e6, most/1e6)
	}
	return fmt.Sprintf("the server held at most %d MB", peak/1e6), err
}
