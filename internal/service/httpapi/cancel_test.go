package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/bgremove/bgremove/pkg/api"
)

// TestDeleteJob checks that a key cancels its own job, gets its credits back once, and
// then removes the input, and that nobody else can.
func TestDeleteJob(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who, other := s.user("ada@example.com", 100), s.user("bob@example.com", 100)
	c := s.client(s.key(who))
	made := decode[api.JobCreated](t, c.submit(jobs, []field{fileField("hop.gif", clip(t, 2, 10))}), http.StatusAccepted)
	for name, stranger := range map[string]*client{"key": s.client(s.key(who)), "account": s.client(s.key(other))} {
		if got := stranger.do(http.MethodDelete, made.Links.Self, nil); got.status != http.StatusNotFound || got.body != `{"error":"not_found"}` {
			t.Errorf("another %s: %d %s", name, got.status, got.body)
		}
	}
	s.signedIn("bob@example.com").do(http.MethodDelete, accountJobs+"/"+made.ID, nil).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	for try, objects := range []int{1, 0, 0} {
		j := decode[api.Job](t, c.do(http.MethodDelete, made.Links.Self, nil), http.StatusOK)
		if j.Status != api.JobStatusCancelled || j.Error != nil || j.DownloadURL != nil || j.Metadata.OriginalName != "hop.gif" {
			t.Errorf("try %d: %+v", try, j)
		}
		if left, stored := s.balance(who), s.objects(); left != 100 || stored != objects {
			t.Errorf("try %d: %d credits, %d objects", try, left, stored)
		}
	}
	c.get(made.Links.Download).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	listed := decode[api.KeyJobPage](t, c.get(jobs+"?status=cancelled"), http.StatusOK).Jobs
	if len(listed) != 1 || listed[0].Refunded != listed[0].Charged || listed[0].Charged == 0 || listed[0].EndedAt == nil {
		t.Errorf("listed: %+v", listed)
	}
	c.do(http.MethodDelete, jobs+"/%00", nil).want(t, http.StatusNotFound, `{"error":"not_found"}`)
}

// TestDeleteAccountJob checks that an account cancels the jobs of its keys, and
// removes the files of one that is done, which stays charged.
func TestDeleteAccountJob(t *testing.T) {
	t.Parallel()
	c, done := browsed(t, clip(t, 2, 10))
	gone := decode[api.AccountJob](t, c.do(http.MethodDelete, accountJobs+"/"+done.ID, nil), http.StatusOK)
	if gone.Status != api.JobStatusDone || gone.InputAvailable || gone.Refunded != 0 || gone.Metadata.OutputSize == nil || c.objects() != 0 {
		t.Errorf("%+v; %d objects", gone, c.objects())
	}
	c.get(*done.DownloadURL).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	c.get(*done.PreviewURL).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	s := start(t, nil) // without a worker, which might end the job first
	s.user("bob@example.com", 100)
	c = s.signedIn("bob@example.com")
	made := decode[api.JobsCreated](t, c.submit(accountJobs, []field{fileField("hop.gif", clip(t, 2, 10))}), http.StatusAccepted)
	path := accountJobs + "/" + made.Jobs[0].ID
	c.do(http.MethodDelete, path, nil, "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden, `{"error":"forbidden"}`)
	if j := decode[api.AccountJob](t, c.do(http.MethodDelete, path, nil), http.StatusOK); j.Status != api.JobStatusCancelled || !j.InputAvailable || j.Refunded != j.Charged {
		t.Errorf("cancelled: %+v", j)
	}
}
