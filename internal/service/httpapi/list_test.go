package httpapi_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/api"
)

// TestKeyJobs checks the pages of a key's jobs: newest first, and none of another
// key, browser or account.
func TestKeyJobs(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who, other := s.user("ada@example.com", 100), s.user("bob@example.com", 100)
	c, browser := s.client(s.key(who)), s.signedIn("ada@example.com")
	good := fileField("a.gif", clip(t, 2, 10))
	c.get(jobs).want(t, http.StatusOK, `{"jobs":[],"next":null}`+"\n")
	var want []string
	for range 5 {
		for _, stranger := range []*client{s.client(s.key(who)), s.client(s.key(other))} {
			decode[api.JobCreated](t, stranger.submit(jobs, []field{good}), http.StatusAccepted)
		}
		decode[api.JobsCreated](t, browser.submit(accountJobs, []field{good}), http.StatusAccepted)
		want = append([]string{decode[api.JobCreated](t, c.submit(jobs, []field{good}), http.StatusAccepted).ID}, want...)
	}
	var got []string
	pages := 0
	for next := ""; ; pages++ {
		page := decode[api.KeyJobPage](t, c.get(jobs+"?limit=2"+next), http.StatusOK)
		for _, j := range page.Jobs {
			got = append(got, j.ID)
			if j.Charged != int(price.Least) || j.Refunded != 0 || j.EndedAt != nil || time.Since(j.CreatedAt.Time).Abs() > time.Minute {
				t.Errorf("a job in the list is %+v", j)
			}
		}
		if page.Next == nil {
			break
		}
		next = "&before=" + *page.Next
	}
	if diff := cmp.Diff(want, got); diff != "" || pages != 2 {
		t.Errorf("%d more pages (-want +got):\n%s", pages, diff)
	}
}

// TestKeyJobsFiltered checks that a list has only the jobs of a state or since a
// time, and that a wrong filter is named.
func TestKeyJobsFiltered(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	c := s.client(s.key(s.user("ada@example.com", 100)))
	several := decode[api.BatchCreated](t, c.submit(batches, []field{fileField("a.gif", clip(t, 2, 10)), fileField("b.gif", []byte("no clip"))}), http.StatusAccepted)
	good, bad := several.Jobs[0].ID, several.Jobs[1].ID
	if _, err := s.db.Exec("UPDATE jobs SET created_at = created_at + 60000 WHERE id = $1", good); err != nil {
		t.Fatal(err)
	}
	created := decode[api.KeyJobPage](t, c.get(jobs+"?status=queued"), http.StatusOK).Jobs[0].CreatedAt.Time
	since := func(at time.Time) string { return "since=" + url.QueryEscape(at.Format(time.RFC3339Nano)) }
	east := time.FixedZone("", 5*3600)
	for query, want := range map[string][]string{
		"status=queued":                            {good},
		"status=failed":                            {bad},
		"status=done":                              nil,
		since(created):                             {good},
		since(created.In(east)):                    {good},
		since(created.Add(time.Millisecond)):       nil,
		since(created.Add(-time.Hour)):             {bad, good},
		"status=failed&" + since(created):          nil,
		"status=failed&" + since(time.Unix(-1, 0)): {bad},
		"before=" + good:                           nil,
	} {
		var got []string
		for _, j := range decode[api.KeyJobPage](t, c.get(jobs+"?"+query), http.StatusOK).Jobs {
			got = append(got, j.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	for query, field := range map[string]string{
		"limit=0": "limit", "limit=101": "limit", "status=lost": "status", "status=": "status",
		"before=": "before", "before=%00": "before", "before=job_1": "before", "before=" + several.ID: "before",
		"since=": "since", "since=yesterday": "since", "since=2026-11-21": "since", "since=2026-13-01T00:00:00Z": "since", "since=1763719331": "since",
	} {
		refused := decode[api.Error](t, c.get(jobs+"?"+query), http.StatusBadRequest)
		if refused.Field == nil || *refused.Field != field || refused.Message == nil {
			t.Errorf("%s gives %+v", query, refused)
		}
	}
}
