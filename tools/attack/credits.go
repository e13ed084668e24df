package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/tools/internal/rig"
)

var creditAttacks = []attack{
	{name: "spending twice", what: "16 submissions at once, by key and browser, with credits for one", run: spendTwice},
	{name: "idempotency", what: "one Idempotency-Key 12 times at once, then with another file and by another account", run: idempotency},
	{name: "long ledger", what: "ledger.csv of 300,000 lines", run: longLedger},
}

func spendTwice(ctx context.Context, t *target) (string, error) {
	v, err := t.browser(ctx, price.Least)
	if err != nil {
		return "", err
	}
	files, err := smallGIF()
	if err != nil {
		return "", err
	}
	paths := []string{oneJob, pagesJobs, manyJobs}
	statuses, _, err := atOnce(16, func(i int) (answer, error) { return v.submit(ctx, paths[i%len(paths)], files) })
	if statuses[http.StatusAccepted] != 1 || statuses[http.StatusPaymentRequired] != 15 {
		err = errors.Join(err, fmt.Errorf("statuses %v", statuses))
	}
	sum, unread := t.count(ctx, "SELECT SUM(amount) FROM ledger WHERE account_id = $1", v.id)
	if sum != 0 {
		err = errors.Join(err, fmt.Errorf("the ledger's sum is %d", sum))
	}
	err = errors.Join(err, unread, t.hasJobs(ctx, v, 1), t.hasCredits(ctx, v, 0))
	return fmt.Sprintf("%d times 202, %d times 402, the ledger's sum is %d", statuses[http.StatusAccepted], statuses[http.StatusPaymentRequired], sum), err
}

func idempotency(ctx context.Context, t *target) (string, error) {
	v, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	const header, name = "Idempotency-Key", "order 1"
	statuses, answers, err := atOnce(12, func(int) (answer, error) { return v.clip(ctx, header, name) })
	for _, got := range answers {
		if got.status != http.StatusAccepted {
			err = errors.Join(err, got.wantLater(http.StatusConflict, api.ErrorCodeIdempotencyConflict))
		}
	}
	if err := errors.Join(err, t.hasJobs(ctx, v, 1), t.hasCredits(ctx, v, credits-price.Least)); err != nil {
		return "", err
	}
	content, err := rig.GIF(32, 32, 2)
	if err != nil {
		return "", err
	}
	conflict, err := v.submit(ctx, oneJob, []rig.File{{Name: "clip.gif", Content: content}}, header, name)
	if err := errors.Join(err, conflict.want(http.StatusConflict, api.ErrorCodeIdempotencyConflict), t.hasCredits(ctx, v, credits-price.Least)); err != nil {
		return "", err
	}
	other, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	theirs, err := other.clip(ctx, header, name)
	err = errors.Join(err, theirs.want(http.StatusAccepted, ""), t.hasJobs(ctx, other, 1))
	return fmt.Sprintf("one job, charged once (%d times 202, %d times 409); another file %v; another account 202",
		statuses[http.StatusAccepted], statuses[http.StatusConflict], conflict), err
}

// ledgerLines is the length of a ledger whose table once took 40 s, because
// each page summed up all later entries. A single pass takes one second.
const (
	ledgerLines  = 300_000
	ledgerWithin = 20 * time.Second
)

func longLedger(ctx context.Context, t *target) (string, error) {
	v, err := t.browser(ctx, 0)
	if err != nil {
		return "", err
	}
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }()
	_, err = tx.ExecContext(ctx, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < `+strconv.Itoa(ledgerLines)+`)
		INSERT INTO ledger (id, account_id, kind, amount, note, created_at) SELECT 'led_' || (1000000 + i), CAST($1 AS TEXT), 'grant', 1, '', 0 FROM n`, v.id)
	if err == nil {
		_, err = tx.ExecContext(ctx, "UPDATE accounts SET credits = $1 WHERE id = $2", ledgerLines, v.id)
	}
	if err := errors.Join(err, tx.Commit()); err != nil {
		return "", err
	}
	began := time.Now()
	got, err := v.get(ctx, "/api/account/ledger.csv")
	took := time.Since(began)
	lines := 0
	for _, b := range got.body {
		if b == '\n' {
			lines++
		}
	}
	if lines != ledgerLines+1 {
		err = errors.Join(err, fmt.Errorf("the table has %d lines", lines))
	}
	if took > ledgerWithin {
		err = errors.Join(err, fmt.Errorf("it took %v, more than %v", took, ledgerWithin))
	}
	return fmt.Sprintf("%v, all lines after %.1f s", got, took.Seconds()), errors.Join(err, got.want(http.StatusOK, ""))
}
