package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

var accountAttacks = []attack{
	{name: "many keys", what: "200 requests of one account by 6 keys and a browser", flags: []string{"--account-rate", "60", "--account-burst", "30"}, run: manyKeys},
	{name: "suspended account", what: "a suspended account requests its own things, and has jobs in the queue", run: suspended},
	{name: "other people's jobs", what: "every route with another account's job, batch and key", run: otherPeoplesJobs},
	{name: "other sites", what: "changes by pages of another site, with the cookie", run: otherSites},
}

// manyKeys checks that all requests of an account are counted together.
func manyKeys(ctx context.Context, t *target) (string, error) {
	v, err := t.browser(ctx, credits)
	if err != nil {
		return "", err
	}
	keys := []visitor{*v}
	for range 5 {
		if err := t.newKey(ctx, v); err != nil {
			return "", err
		}
		keys = append(keys, *v)
	}
	began := time.Now()
	statuses, _, err := atOnce(200, func(i int) (answer, error) {
		if i%7 == 6 {
			return v.get(ctx, "/api/account")
		}
		return keys[i%7].get(ctx, "/api/v1/jobs/none")
	})
	admitted := 200 - statuses[http.StatusTooManyRequests]
	if most := 31 + int(time.Since(began).Seconds()); admitted > most {
		err = errors.Join(err, fmt.Errorf("%d requests were admitted, more than %d", admitted, most))
	}
	limited, failure := v.get(ctx, "/api/v1/jobs/none")
	err = errors.Join(err, failure, limited.wantLater(http.StatusTooManyRequests, api.ErrorCodeRateLimited))
	page, failure := v.get(ctx, "/jobs", "Accept", "text/html")
	err = errors.Join(err, failure, page.wantLater(http.StatusTooManyRequests, ""))
	form, failure := v.post(ctx, "/keys", "name=more")
	err = errors.Join(err, failure, form.want(http.StatusTooManyRequests, ""))
	other, failure := t.customer(ctx, credits)
	if failure != nil {
		return "", failure
	}
	_, failure = other.order(ctx)
	return fmt.Sprintf("%d admitted, then %v; page %d, form %d; another account 202", admitted, limited, page.status, form.status), errors.Join(err, failure)
}

// suspended suspends an account with jobs that no worker has taken yet.
func suspended(ctx context.Context, t *target) (_ string, err error) {
	p, err := t.newPlace(ctx)
	if err != nil {
		return "", err
	}
	if t, err = t.serve(ctx, p, p, "api"); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, t.close(ctx)) }()
	v, err := t.browser(ctx, credits)
	if err != nil {
		return "", err
	}
	other, err := t.customer(ctx, credits)
	if err != nil {
		return "", err
	}
	id, err := v.order(ctx)
	if err != nil {
		return "", err
	}
	if _, err := p.Admin(ctx, "account", "suspend", v.email); err != nil {
		return "", err
	}
	if _, err := other.order(ctx); err != nil {
		return "", err
	}
	if err := v.isSuspended(ctx, id); err != nil {
		return "", err
	}
	worker, err := p.Start(context.WithoutCancel(ctx), "worker", "worker")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, worker.Stop()) }()
	if err := t.done(ctx, other); err != nil {
		return "", err
	}
	waiting, err := t.count(ctx, "SELECT COUNT(*) FROM jobs WHERE account_id = $1 AND state = 'queued'", v.id)
	if err == nil && waiting != 1 {
		err = errors.New("the suspended account's job has run")
	}
	if err != nil {
		return "", err
	}
	_, err = p.Admin(ctx, "account", "resume", v.email)
	return "403 suspended on all routes; its job waits while another account's runs, and runs when resumed", errors.Join(err, t.done(ctx, v))
}

// isSuspended makes requests that a suspended account is refused.
func (v *visitor) isSuspended(ctx context.Context, job string) error {
	for _, path := range []string{"/api/v1/jobs/" + job, "/api/account", "/api/jobs", "/api/jobs/" + job, "/api/jobs/events", "/api/account/ledger.csv"} {
		got, err := v.get(ctx, path)
		if err := errors.Join(err, got.want(http.StatusForbidden, api.ErrorCodeSuspended)); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	page, err := v.get(ctx, "/jobs", "Accept", "text/html")
	if err := errors.Join(err, page.want(http.StatusForbidden, "")); err != nil {
		return fmt.Errorf("/jobs: %w", err)
	}
	got, err := v.clip(ctx)
	return errors.Join(err, got.want(http.StatusForbidden, api.ErrorCodeSuspended))
}

// otherPeoplesJobs requests another account's things, by key and by browser.
func otherPeoplesJobs(ctx context.Context, t *target) (string, error) {
	owner, err := t.browser(ctx, credits)
	if err != nil {
		return "", err
	}
	id, err := owner.order(ctx)
	if err != nil {
		return "", err
	}
	files, err := smallGIF()
	if err != nil {
		return "", err
	}
	got, err := owner.submit(ctx, manyJobs, append(files, files...))
	batch, unread := read[api.BatchCreated](got)
	if err := errors.Join(err, unread, t.done(ctx, owner)); err != nil {
		return "", err
	}
	intruder, err := t.browser(ctx, credits)
	if err != nil {
		return "", err
	}
	routes := []string{
		"/api/v1/jobs/" + id, "/api/v1/jobs/" + id + "/preview", "/api/v1/jobs/" + id + "/download", "/api/v1/batches/" + batch.ID,
		"/api/jobs/" + id, "/api/jobs/" + id + "/preview", "/api/jobs/" + id + "/download", "/api/jobs/" + id + "/input",
		"/jobs/" + id, "/jobs/" + id + "/card", "/jobs/" + id + "/view",
	}
	for _, path := range routes {
		if err := onlyFor(ctx, owner, intruder, path); err != nil {
			return "", err
		}
	}
	sibling := *owner
	if err := t.newKey(ctx, &sibling); err != nil {
		return "", err
	}
	for _, path := range routes[:4] {
		if err := onlyFor(ctx, owner, &sibling, path); err != nil {
			return "", fmt.Errorf("another key of the account: %w", err)
		}
	}
	return fmt.Sprintf("404 on all %d routes", len(routes)+2), errors.Join(foreignChanges(ctx, owner, intruder, id), t.hasJobs(ctx, intruder, 0))
}

// onlyFor checks that one visitor finds a path and another does not.
func onlyFor(ctx context.Context, owner, intruder *visitor, path string) error {
	got, err := owner.get(ctx, path)
	if err := errors.Join(err, got.want(http.StatusOK, "")); err != nil {
		return fmt.Errorf("%s: the owner: %w", path, err)
	}
	var code api.ErrorCode
	if strings.HasPrefix(path, "/api/") {
		code = api.ErrorCodeNotFound
	}
	got, err = intruder.get(ctx, path)
	if err := errors.Join(err, got.want(http.StatusNotFound, code)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// foreignChanges checks that an intruder can neither repeat a job nor revoke a
// key.
func foreignChanges(ctx context.Context, owner, intruder *visitor, id string) error {
	contentType, body, err := fields("method", "fast")
	if err != nil {
		return err
	}
	again, err := intruder.send(ctx, http.MethodPost, "/api/jobs/"+id+"/again", body, "Content-Type", contentType)
	if err := errors.Join(err, again.want(http.StatusNotFound, api.ErrorCodeNotFound)); err != nil {
		return fmt.Errorf("again: %w", err)
	}
	revoke, err := intruder.send(ctx, http.MethodDelete, "/api/account/keys/"+owner.keyID, nil)
	if err := errors.Join(err, revoke.want(http.StatusNotFound, api.ErrorCodeNotFound)); err != nil {
		return fmt.Errorf("revoke a key: %w", err)
	}
	got, err := owner.get(ctx, "/api/v1/jobs/"+id)
	return errors.Join(err, got.want(http.StatusOK, ""))
}

// otherSites sends the requests of browsers on pages of other sites.
func otherSites(ctx context.Context, t *target) (string, error) {
	v, err := t.browser(ctx, credits)
	if err != nil {
		return "", err
	}
	tried := 0
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}} {
		for _, path := range []string{"POST /api/account/keys", "PUT /api/account/password", "DELETE /api/sessions", "POST /api/session", "DELETE /api/account/keys/" + v.keyID} {
			method, path, _ := strings.Cut(path, " ")
			got, err := v.json(ctx, method, path, struct{}{}, header...)
			if err := errors.Join(err, got.want(http.StatusForbidden, api.ErrorCodeForbidden)); err != nil {
				return "", fmt.Errorf("%s %s with %v: %w", method, path, header, err)
			}
			tried++
		}
		for _, path := range []string{"/keys", "/jobs", "/account/sessions", "/account/password", "/signout", "/keys/" + v.keyID + "/revoke"} {
			got, err := v.post(ctx, path, "name=theirs", header...)
			if err := errors.Join(err, got.want(http.StatusForbidden, "")); err != nil {
				return "", fmt.Errorf("POST %s with %v: %w", path, header, err)
			}
			tried++
		}
		files, err := smallGIF()
		if err != nil {
			return "", err
		}
		got, err := v.submit(ctx, pagesJobs, files, header...)
		if err := errors.Join(err, got.want(http.StatusForbidden, api.ErrorCodeForbidden)); err != nil {
			return "", fmt.Errorf("POST %s with %v: %w", pagesJobs, header, err)
		}
		tried++
	}
	_, keyed := v.order(ctx) // the key still works
	got, err := v.json(ctx, http.MethodPost, "/api/account/keys", struct{}{}, "Sec-Fetch-Site", "same-origin")
	err = errors.Join(err, got.want(http.StatusCreated, ""), keyed, t.hasJobs(ctx, v, 1))
	return fmt.Sprintf("%d times 403; our own site's request 201", tried), err
}
