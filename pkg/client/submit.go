package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"

	"github.com/bgremove/bgremove/pkg/api"
)

// askFirst is the length of bodies, in bytes, from which on the service is
// asked whether it takes them before they are sent.
const askFirst = 64 << 10

// Submit sends one file. It is charged, once, when Submit returns nil.
func (c *Client) Submit(ctx context.Context, f File, o JobOptions) (Submission, error) {
	var made Submission
	err := c.submit(ctx, []File{f}, o, &made, func(ctx context.Context, key string, f *form, b *body, edit api.RequestEditorFn) (*http.Response, error) {
		return c.api.CreateJobWithBody(ctx, &api.CreateJobParams{IdempotencyKey: &key}, f.contentType, b, edit)
	})
	return made, err
}

// SubmitBatch sends 1 to MaxBatch files, to which the same is done. They are
// charged together, once, when SubmitBatch returns nil.
func (c *Client) SubmitBatch(ctx context.Context, files []File, o JobOptions) (BatchSubmission, error) {
	var made BatchSubmission
	if len(files) == 0 || len(files) > MaxBatch {
		return made, fmt.Errorf("a batch has 1 to %d files, not %d", MaxBatch, len(files))
	}
	err := c.submit(ctx, files, o, &made, func(ctx context.Context, key string, f *form, b *body, edit api.RequestEditorFn) (*http.Response, error) {
		return c.api.CreateBatchWithBody(ctx, &api.CreateBatchParams{IdempotencyKey: &key}, f.contentType, b, edit)
	})
	return made, err
}

// operation sends a form.
type operation func(ctx context.Context, key string, f *form, b *body, edit api.RequestEditorFn) (*http.Response, error)

// submit sends files under one Idempotency-Key until there is an answer, which
// it decodes into made.
func (c *Client) submit(ctx context.Context, files []File, o JobOptions, made any, send operation) error {
	f, err := newForm(files, o)
	if err != nil {
		return err
	}
	key := o.IdempotencyKey
	if key == "" {
		key = rand.Text()
	}
	uncertain := false
	err = c.retry(ctx, func(ctx context.Context) error {
		b := f.body()
		err := c.submitOnce(ctx, key, f, b, made, send)
		uncertain = uncertain || b.whole.Load() && (unanswered(err) || err != nil && ctx.Err() != nil)
		if ctx.Err() != nil {
			go func() { _ = b.Close() }() // it may wait for a reader that never comes back
			return err
		}
		_ = b.Close()
		switch broken := b.failure(); {
		case err != nil && broken != nil:
			return &lastError{broken}
		case err != nil && f.spent():
			return &lastError{err}
		}
		return err
	})
	if err != nil && uncertain && !definite(err) {
		return &UncertainError{IdempotencyKey: key, Err: err}
	}
	return err
}

// submitOnce is one try.
func (c *Client) submitOnce(ctx context.Context, key string, f *form, b *body, made any, send operation) error {
	resp, err := c.ask(ctx, func(ctx context.Context) (*http.Response, error) {
		return send(ctx, key, f, b, func(_ context.Context, r *http.Request) error {
			r.ContentLength = f.length
			if f.length < 0 || f.length > askFirst {
				r.Header.Set("Expect", "100-continue")
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	err = c.decode(ctx, resp, http.StatusAccepted, made)
	if errors.Is(err, ErrNotFound) { // of the path: it is the API of something else, or below another one
		return unexpected(resp)
	}
	return err
}

// unanswered reports whether a try that sent all of a submission ended without
// the service's word on it.
func unanswered(err error) bool {
	return errors.As(err, new(*ConnectionError)) || errors.As(err, new(*UnavailableError)) ||
		errors.As(err, new(*ServiceError)) || errors.As(err, new(*busyError))
}

// definite reports whether an answer says that nothing was taken, by an earlier
// try under the same key neither.
func definite(err error) bool {
	if errors.As(err, new(*busyError)) {
		return false // that one may still be taken
	}
	for _, known := range []error{ErrUnreadable, ErrTooLarge, ErrConflict} {
		if errors.Is(err, known) {
			return true
		}
	}
	return errors.As(err, new(*InsufficientCreditsError)) || errors.As(err, new(*BadRequestError))
}
