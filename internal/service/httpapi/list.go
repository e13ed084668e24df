package httpapi

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
)

// Bounds of a page.
const (
	defaultPage = 20
	maxPage     = 100
)

// parseLimit is how many a page is to have.
func parseLimit(given *int) (int, error) {
	switch {
	case given == nil:
		return defaultPage, nil
	case *given < 1 || *given > maxPage:
		return 0, &formError{field: "limit", reason: fmt.Sprintf("must be between 1 and %d", maxPage)}
	}
	return *given, nil
}

// parseBefore is the id that a page comes before, empty for the first page.
func parseBefore(given *string, isID func(string) bool) (string, error) {
	switch {
	case given == nil:
		return "", nil
	case !isID(*given):
		return "", &formError{field: "before", reason: "must be the value of next in an earlier page"}
	}
	return *given, nil
}

// parseTime is a moment, zero if none is given.
func parseTime(field string, given *string) (time.Time, error) {
	if given == nil {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, *given)
	if err != nil {
		return time.Time{}, &formError{field: field, reason: "must be a time such as 2026-11-21T10:02:11Z"}
	}
	return at, nil
}

// parseState is the state of jobs that a page is about, empty for all.
func parseState(field string, given *api.JobStatus) (job.State, error) {
	if given == nil {
		return "", nil
	}
	if !given.Valid() {
		return "", &formError{field: field, reason: "must be one of " + stateList()}
	}
	return job.State(*given), nil
}

// stateList is the states of jobs in words.
func stateList() string {
	var words []string
	for _, s := range job.States() {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// pageOf finishes a page that was asked for one entry more than it shows, to see
// whether there is another page. next is the last entry shown, if there is one.
func pageOf[T any](found []T, limit int) (shown []T, next *T) {
	if len(found) <= limit {
		return found, nil
	}
	return found[:limit], &found[limit-1]
}

// listJobs is a page of the caller's jobs, and what the next comes before.
func (a *API) listJobs(ctx context.Context, p job.Page, before *string, limit *int) (jobs []job.Job, next *string, err error) {
	wanted, err := parseLimit(limit)
	if err != nil {
		return nil, nil, err
	}
	if p.Before, err = parseBefore(before, job.IsID); err != nil {
		return nil, nil, err
	}
	p.Limit = wanted + 1
	found, err := a.Jobs.List(ctx, requestFrom(ctx).owner, p)
	jobs, last := pageOf(found, wanted)
	if last != nil {
		next = &last.ID
	}
	return jobs, next, err
}

// ListJobs is a page of the account's jobs.
func (o operations) ListJobs(ctx context.Context, in api.ListJobsRequestObject) (api.ListJobsResponseObject, error) {
	state, err := parseState("state", in.Params.State)
	if err != nil {
		return nil, err
	}
	jobs, next, err := o.listJobs(ctx, job.Page{State: state}, in.Params.Before, in.Params.Limit)
	if err != nil {
		return nil, err
	}
	return api.ListJobs200JSONResponse{Jobs: bodies(jobs, accountJobBody), Next: next}, nil
}

// ListKeyJobs is a page of the key's jobs.
func (o operations) ListKeyJobs(ctx context.Context, in api.ListKeyJobsRequestObject) (api.ListKeyJobsResponseObject, error) {
	state, err := parseState("status", in.Params.Status)
	if err != nil {
		return nil, err
	}
	since, err := parseTime("since", in.Params.Since)
	if err != nil {
		return nil, err
	}
	jobs, next, err := o.listJobs(ctx, job.Page{State: state, Since: since}, in.Params.Before, in.Params.Limit)
	if err != nil {
		return nil, err
	}
	return api.ListKeyJobs200JSONResponse{Body: api.KeyJobPage{Jobs: bodies(jobs, keyJobBody), Next: next}}, nil
}

// bodies are things as the API writes them; an empty list is [], not null.
func bodies[T, B any](all []T, body func(T) B) []B {
	written := make([]B, len(all))
	for i, v := range all {
		written[i] = body(v)
	}
	return written
}
