package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

// ListOptions choose the jobs of a list. The zero value chooses all.
type ListOptions struct {
	Status api.JobStatus // only the jobs in this state; empty: all
	Since  time.Time     // only the jobs created then or later; zero: all
}

// listPage is how many jobs are asked for at once.
const listPage = 100

// Jobs are the jobs that the key created, the newest first. They are asked for page
// by page while they are read. It ends after an error.
func (c *Client) Jobs(ctx context.Context, o ListOptions) iter.Seq2[ListedJob, error] {
	return func(yield func(ListedJob, error) bool) {
		limit := listPage
		params := api.ListKeyJobsParams{Limit: &limit}
		if o.Status != "" {
			params.Status = &o.Status
		}
		if !o.Since.IsZero() {
			since := o.Since.UTC().Format(time.RFC3339Nano)
			params.Since = &since
		}
		for {
			page, err := query[api.KeyJobPage](ctx, c, func(ctx context.Context) (*http.Response, error) {
				return c.api.ListKeyJobs(ctx, &params)
			})
			if err != nil {
				yield(ListedJob{}, err)
				return
			}
			for _, j := range page.Jobs {
				if !yield(j, nil) {
					return
				}
			}
			if params.Before = page.Next; page.Next == nil {
				return
			}
		}
	}
}
