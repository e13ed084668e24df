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
