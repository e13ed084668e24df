package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/internal/service/store/storetest/wire"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

var outageAttacks = []attack{
	{name: "PostgreSQL is cut off", what: "no connection to the database while jobs run", only: "postgres",
		run: func(ctx context.Context, t *target) (string, error) { return outage(ctx, t, (*wire.Wire).Cut) }},
	{name: "PostgreSQL is silent", what: "a database that accepts everything and answers nothing while jobs run", only: "postgres", long: true,
		run: func(ctx context.Context, t *target) (string, error) { return outage(ctx, t, (*wire.Wire).Stall) }},
}

// outageJobs is the number of jobs that are ordered before the outage.
const outageJobs = 6

// outage breaks the connection to the database and checks the refusals. Then it
// repairs the connection and checks that every job is done once.
func outage(ctx context.Context, t *target, harm func(*wire.Wire)) (_ string, err error) {
	p, err := t.newDeployment(ctx)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(t.rig.Dir, "wire-*")
	if err != nil {
		return "", err
	}
	w, err := wire.New(dir, p.Database)
	if err != nil {
		return "", err
	}
	defer w.Close()
	wired := *p
	wired.Database = w.URL
	if t, err = t.serve(ctx, &wired, p, "all"); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, t.close(ctx)) }()
	v, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	content, err := rig.GIF(320, 240, 40)
	if err != nil {
		return "", err
	}
	for range outageJobs {
		got, err := v.submit(ctx, oneJob, []rig.File{{Name: "long.gif", Content: content}})
		if err := errors.Join(err, got.want(http.StatusAccepted, "")); err != nil {
			return "", err
		}
	}
	harm(w)
	defer w.Mend() // otherwise the server could not end normally
	said, err := t.isAway(ctx, v)
	if err != nil {
		return said, err
	}
	w.Mend()
	err = t.until(ctx, "it is ready again", func() (bool, error) {
		got, err := v.get(ctx, "/readyz")
		return got.status == http.StatusOK, err
	})
	if err := errors.Join(err, t.done(ctx, v)); err != nil {
		return said, err
	}
	_, err = v.order(ctx)
	err = errors.Join(err, t.done(ctx, v), t.onceEach(ctx, v, outageJobs+1))
	return fmt.Sprintf("%s; afterwards all %d jobs done once", said, outageJobs), err
}

// isAway checks that requests are refused for a while, and that the process
// lives.
func (t *target) isAway(ctx context.Context, v *visitor) (string, error) {
	_, answers, err := atOnce(4, func(i int) (answer, error) {
		switch i {
		case 0:
			return v.clip(ctx)
		case 1:
			return t.stranger().signIn(ctx, v.email, v.password)
		case 2:
			return v.get(ctx, "/readyz")
		}
		return v.get(ctx, "/api/v1/jobs/none")
	})
	for _, got := range answers {
		err = errors.Join(err, got.wantLater(http.StatusServiceUnavailable, api.ErrorCodeUnavailable))
	}
	alive, failure := v.get(ctx, "/healthz")
	return fmt.Sprintf("%v", answers[0]), errors.Join(err, failure, alive.want(http.StatusOK, ""))
}

// onceEach checks the number of an account's jobs, and that each was charged,
// attempted and done once.
func (t *target) onceEach(ctx context.Context, v *visitor, jobs int64) error {
	err := errors.Join(t.hasJobs(ctx, v, jobs), t.hasCredits(ctx, v, credits-price.Least-price.Of(4*time.Second)*(jobs-1)))
	for what, query := range map[string]string{
		"charges": "SELECT COUNT(*) FROM ledger WHERE account_id = $1 AND kind = 'charge'",
		"ends":    "SELECT COUNT(*) FROM job_events WHERE account_id = $1 AND state = 'done'",
		"tries":   "SELECT SUM(attempt) FROM jobs WHERE account_id = $1",
	} {
		n, failure := t.count(ctx, query, v.id)
		if n != jobs {
			failure = errors.Join(failure, fmt.Errorf("%d %s of %d jobs", n, what, jobs))
		}
		err = errors.Join(err, failure)
	}
	return err
}
