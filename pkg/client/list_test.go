package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

// TestJobs lists the jobs of a real service by their state and time.
func TestJobs(t *testing.T) {
	t.Parallel()
	s := start(t, 9)
	c := quick(t, s.url, s.key)
	var want []string
	for n := range 3 {
		made, err := c.Submit(t.Context(), numbered(t, n), client.JobOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(t.Context(), made.ID, nil); err != nil {
			t.Fatal(err)
		}
		want = append([]string{made.ID}, want...)
	}
	for name, test := range map[string]struct {
		options client.ListOptions
		want    []string
	}{
		"all":     {client.ListOptions{}, want},
		"done":    {client.ListOptions{Status: api.JobStatusDone, Since: time.Now().Add(-time.Hour)}, want},
		"failed":  {client.ListOptions{Status: api.JobStatusFailed}, nil},
		"to come": {client.ListOptions{Since: time.Now().Add(time.Hour)}, nil},
	} {
		var got []string
		for j, err := range c.Jobs(t.Context(), test.options) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, j.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var refused *client.BadRequestError
	for _, err := range c.Jobs(t.Context(), client.ListOptions{Status: "lost"}) {
		if !errors.As(err, &refused) || refused.Field != "status" {
			t.Errorf("got %v", err)
		}
	}
}

// TestJobsPages checks that pages are asked for only while they are read, each once,
// and that an answer that was cut off is asked for again.
func TestJobsPages(t *testing.T) {
	t.Parallel()
	var asked []string
	cut := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		before := r.URL.Query().Get("before")
		if cut {
			cut = false
			_, _ = w.Write([]byte(`{"jobs":[`))
			return
		}
		asked = append(asked, before)
		next := map[string]string{"": `"job_2"`, "job_2": `"job_1"`, "job_1": `null`}[before]
		_, _ = w.Write([]byte(`{"jobs":[{"id":"after ` + before + `"}],"next":` + next + `}`))
	}))
	defer server.Close()
	c := quick(t, server.URL, "bgr_1")
	var got []string
	for j, err := range c.Jobs(t.Context(), client.ListOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, j.ID)
		if len(got) == 2 {
			break
		}
	}
	if diff := cmp.Diff([]string{"after ", "after job_2"}, got) + cmp.Diff([]string{"", "job_2"}, asked); diff != "" {
		t.Error(diff)
	}
}

// TestUsageDays checks that the days of a usage are those of UTC.
func TestUsageDays(t *testing.T) {
	t.Parallel()
	var asked string
	c := quick(t, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RawQuery
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	})), "key")
	evening := time.Date(2026, 11, 30, 22, 0, 0, 0, time.FixedZone("", -5*3600))
	if _, err := c.Usage(t.Context(), evening, evening.AddDate(0, 0, 1)); err != nil || asked != "from=2026-12-01&to=2026-12-02" {
		t.Errorf("asked for %q, %v", asked, err)
	}
}

// TestCredits asks a real service for the account, its usage and a price.
func TestCredits(t *testing.T) {
	t.Parallel()
	s := start(t, 9)
	c := quick(t, s.url, s.key)
	made, err := c.Submit(t.Context(), numbered(t, 1), client.JobOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := c.Account(t.Context()); err != nil || a.Credits != made.CreditsRemaining || a.Limits.FilesPerBatch != client.MaxBatch {
		t.Errorf("%+v, %v", a, err)
	}
	now := time.Now().UTC()
	for _, days := range [][2]time.Time{{}, {now.AddDate(0, 0, -1), now.AddDate(0, 0, 1)}} {
		if u, err := c.Usage(t.Context(), days[0], days[1]); err != nil || len(u.Days) != 1 || u.Total.Jobs != 1 || u.Total.Credits != 3 {
			t.Errorf("%+v, %v", u, err)
		}
	}
	if e, err := c.Estimate(t.Context(), client.Clip{Duration: 9.2}); err != nil || e.Cost != 10 || e.CreditsRemaining != 6 {
		t.Errorf("%+v, %v", e, err)
	}
	var refused *client.BadRequestError
	if _, err := c.Estimate(t.Context(), client.Clip{}); !errors.As(err, &refused) || refused.Field != "duration" {
		t.Errorf("got %v", err)
	}
	if _, err := c.Usage(t.Context(), now, now.AddDate(-1, 0, 0)); !errors.As(err, &refused) || refused.Field != "from" {
		t.Errorf("got %v", err)
	}
	// A job is cancelled, unless it was faster.
	job, err := c.Delete(t.Context(), made.ID)
	if err != nil || !client.Ended(job) {
		t.Errorf("%+v, %v", job, err)
	}
	if _, err := c.Delete(t.Context(), "job_0"); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := client.Failure(client.Job{ID: "job_1", Status: api.JobStatusCancelled}); err == nil || err.Error() != "job_1 was cancelled" {
		t.Errorf("got %v", err)
	}
}
