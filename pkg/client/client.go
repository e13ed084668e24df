// Package client speaks to a bgremove service: it submits clips, waits for
// their jobs and downloads what became of them.
//
//	c, err := client.New("https://clips.example", key, client.Options{})
//	made, err := c.Submit(ctx, client.File{Path: "clip.mp4"}, client.JobOptions{})
//	_, err = c.Wait(ctx, made.ID, nil)
//	_, err = c.Download(ctx, made.ID, "clip-nobg.gif", client.DownloadOptions{})
//
// Temporary failures are retried: too many requests, an unavailable service,
// broken connections, truncated answers. All attempts of a submission carry the
// same Idempotency-Key, so a submission with a lost answer is charged once.
// Files are streamed both ways; memory does not grow with their size.
package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

type (
	// Job is the state of a job. Like all that a service answers it comes without
	// control characters in its texts.
	Job = api.Job
	// ListedJob is a job in a list, with its times and its credits.
	ListedJob = api.KeyJob
	// Account is the balance and the limits of the key's account.
	Account = api.KeyAccount
	// Usage is what an account used, by day.
	Usage = api.Usage
	// Estimate is the price of a clip.
	Estimate = api.Estimate
	// Clip is what is known of a clip. Its Duration, in seconds, decides the price.
	Clip = api.Clip
	// Batch is the state of a batch and its jobs.
	Batch = api.Batch
	// Submission is a job that was taken and charged.
	Submission = api.JobCreated
	// BatchSubmission is a batch that was taken and charged.
	BatchSubmission = api.BatchCreated
)

// MaxBatch is how many files a batch may have.
const MaxBatch = 20

// Options say how a Client works. The zero value is ready to use.
type Options struct {
	// HTTPClient sends the requests; nil is one that bounds connecting, and
	// that reads the answer to an upload also when the service stopped taking
	// it. Redirects are not followed: the key is for one server.
	HTTPClient *http.Client
	// UserAgent names the program in the service's log; empty is
	// "bgremove-client".
	UserAgent string
	// Tries is how often a request is sent before its error is returned. 0
	// means 8; 1 never retries. A download that has made progress starts
	// counting again.
	Tries int
	// MinWait is about the pause before the second try; each further one is
	// twice as long. 0 is 500 ms.
	MinWait time.Duration
	// MaxWait is the longest pause; 0 is 5 min. The service's Retry-After is
	// waited for; where it is longer than MaxWait the error is returned at
	// once.
	MaxWait time.Duration
	// Poll is the first pause between two looks at a job, which grow to 12
	// times that; 0 is 250 ms.
	Poll time.Duration
	// OnRetry, if set, is called before each pause. Several goroutines may call
	// it.
	OnRetry func(Retry)
}

// Retry is a try that failed and is about to be made again.
type Retry struct {
	Try  int           // how many were made
	Wait time.Duration // until the next
	Err  error
}

// Client asks one service with one API key. It is safe for concurrent use.
type Client struct {
	options Options
	server  string
	api     *api.Client
	// answered is set once the server has answered anything: before, it is
	// more likely wrong than away.
	answered atomic.Bool
}

// New makes a client of the service at server, such as https://clips.example,
// with an API key. Nothing is sent yet. The error is about the two.
func New(server, key string, o Options) (*Client, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil:
		return nil, errors.New("the server's address cannot be read")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, fmt.Errorf("%q is not an address such as https://clips.example", u.Redacted())
	case key == "":
		return nil, fmt.Errorf("%w is given", ErrKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, fmt.Errorf("%w: it has characters that no key has", ErrKey)
	}
	o = o.withDefaults()
	c := &Client{options: o, server: strings.TrimSuffix(server, "/")}
	direct := *o.HTTPClient
	direct.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.api, err = api.NewClient(c.server, api.WithHTTPClient(&direct), api.WithRequestEditorFn(
		func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+key)
			r.Header.Set("User-Agent", o.UserAgent)
			return nil
		}))
	return c, err
}

func (o Options) withDefaults() Options {
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{Transport: transport()}
	}
	if o.UserAgent == "" {
		o.UserAgent = "bgremove-client"
	}
	if o.Tries == 0 {
		o.Tries = 8
	}
	if o.MinWait == 0 {
		o.MinWait = 500 * time.Millisecond
	}
	if o.MaxWait == 0 {
		o.MaxWait = 5 * time.Minute
	}
	if o.Poll == 0 {
		o.Poll = 250 * time.Millisecond
	}
	if o.OnRetry == nil {
		o.OnRetry = func(Retry) {}
	}
	return o
}
