package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

// pollTimeout bounds one request about a job or batch.
const pollTimeout = time.Minute

// Job is the state of a job.
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	job, _, err := c.job(ctx, id)
	return job, err
}

// Batch is the state of a batch and its jobs.
func (c *Client) Batch(ctx context.Context, id string) (Batch, error) {
	batch, _, err := c.batch(ctx, id)
	return batch, err
}

// Delete ends a job, whatever its state, and returns it as it is then. One that has
// not ended is cancelled and refunded, one that has ended loses its files.
func (c *Client) Delete(ctx context.Context, id string) (Job, error) {
	job, _, err := poll[Job](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.api.DeleteJob(ctx, id) })
	return job, err
}

// Ended reports whether a job is done, failed or cancelled. A status that this client does not know
// counts as an end, or it would be waited for without one.
func Ended(j Job) bool {
	return j.Status != api.JobStatusQueued && j.Status != api.JobStatusProcessing
}

// Wait returns when a job has ended. Its error is then Failure's. If seen
// is not nil, it gets the job after each poll.
func (c *Client) Wait(ctx context.Context, id string, seen func(Job)) (Job, error) {
	job, err := wait(ctx, c.options.Poll, id, c.job, seen, Ended)
	if err == nil {
		err = Failure(job)
	}
	return job, err
}

// WaitBatch returns when all jobs of a batch have ended; those that have
// failed say so themselves. seen is as in Wait.
func (c *Client) WaitBatch(ctx context.Context, id string, seen func(Batch)) (Batch, error) {
	return wait(ctx, c.options.Poll, id, c.batch, seen, func(b Batch) bool { return b.Status != api.BatchStatusProcessing })
}

// wait polls until it is over, less and less often.
func wait[T any](ctx context.Context, first time.Duration, id string, poll func(context.Context, string) (T, time.Duration, error), seen func(T), over func(T) bool) (T, error) {
	for pause := first; ; pause = min(pause*3/2, 12*first) {
		now, after, err := poll(ctx, id)
		if err != nil {
			return now, err
		}
		if seen != nil {
			seen(now)
		}
		if over(now) {
			return now, nil
		}
		if sleep(ctx, max(after, pause*4/5+rand.N(pause*2/5+1))) != nil {
			return now, context.Cause(ctx)
		}
	}
}

func (c *Client) job(ctx context.Context, id string) (Job, time.Duration, error) {
	return poll[Job](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.api.GetJob(ctx, id) })
}

func (c *Client) batch(ctx context.Context, id string) (Batch, time.Duration, error) {
	return poll[Batch](ctx, c, func(ctx context.Context) (*http.Response, error) { return c.api.GetBatch(ctx, id) })
}

// poll asks for a T, and for how long not to ask again if the service says so.
func poll[T any](ctx context.Context, c *Client, get func(context.Context) (*http.Response, error)) (v T, after time.Duration, err error) {
	err = c.retry(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, pollTimeout, errStalled)
		defer cancel()
		resp, err := c.ask(ctx, get)
		if err != nil {
			return err
		}
		after = retryAfter(resp.Header)
		return c.decode(ctx, resp, http.StatusOK, &v)
	})
	return v, after, err
}

// query is poll for what needs no id. A service without such a path is another one, or
// lies at another address.
func query[T any](ctx context.Context, c *Client, get func(context.Context) (*http.Response, error)) (T, error) {
	var resp *http.Response
	v, _, err := poll[T](ctx, c, func(ctx context.Context) (_ *http.Response, err error) {
		resp, err = get(ctx)
		return resp, err
	})
	if errors.Is(err, ErrNotFound) {
		err = unexpected(resp)
	}
	return v, err
}
