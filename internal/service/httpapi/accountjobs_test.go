package httpapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/api"
)

// accountJobs is the route for submissions by browsers.
const accountJobs = "/api/jobs"

func pointer[T any](v T) *T { return &v }

// TestAccountSubmit checks that one file becomes a job and several become a
// batch. They belong to the account and to no key.
func TestAccountSubmit(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 100)
	c, key := s.signedIn("ada@example.com"), s.client(s.key(who))
	content, cost := clip(t, 12, 40), int(price.OfSeconds(4.8))
	one := decode[api.JobsCreated](t, c.submit(accountJobs, []field{fileField("hop.gif", content), {name: "pad", value: "3"}, {name: "canvasW", value: "64"}}), http.StatusAccepted)
	if one.BatchID != nil || len(one.Jobs) != 1 || one.Jobs[0].Filename != "hop.gif" || one.CreditsRemaining != 100-cost {
		t.Errorf("one file gives %+v", one)
	}
	id := one.Jobs[0].ID
	got := decode[api.AccountJob](t, c.get(accountJobs+"/"+id), http.StatusOK)
	want := api.AccountJob{
		ID: id, Status: "queued", OutputFormat: "gif", Cost: cost, Charged: cost, InputAvailable: true,
		Metadata: api.Metadata{OriginalName: "hop.gif", InputSize: int64(len(content)), FrameCount: 12, Width: 48, Height: 40, Duration: 4.8},
		Options: api.JobOptions{
			Method: pointer(api.MethodAuto), Tolerance: pointer(16), Crop: pointer(true), Pad: pointer(3), CanvasW: pointer(64),
			Anchor: pointer(api.AnchorCenter), OutputFormat: pointer(api.OutputFormatGif), BgColor: pointer("transparent"), Trim: pointer(false),
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(api.AccountJob{}, "CreatedAt")); diff != "" || time.Since(got.CreatedAt.Time).Abs() > time.Minute {
		t.Errorf("created at %v (-want +got):\n%s", got.CreatedAt, diff)
	}
	key.get(jobs+"/"+id).want(t, http.StatusNotFound, `{"error":"not_found"}`)

	several := decode[api.JobsCreated](t, c.submit(accountJobs, []field{fileField("a.gif", content), fileField("b.gif", []byte("no clip"))}), http.StatusAccepted)
	if several.BatchID == nil || len(several.Jobs) != 2 || several.CreditsRemaining != 100-2*cost {
		t.Fatalf("several files give %+v", several)
	}
	broken := decode[api.AccountJob](t, c.get(accountJobs+"/"+several.Jobs[1].ID), http.StatusOK)
	if broken.Error == nil || *broken.Error != "unreadable_file" || broken.EndedAt == nil || broken.Charged != price.Least || broken.Refunded != price.Least ||
		broken.BatchID == nil || *broken.BatchID != *several.BatchID {
		t.Errorf("the broken one is %+v", broken)
	}
	if got := c.get(accountJobs + "/" + broken.ID + "/input"); got.status != http.StatusOK || got.body != "no clip" ||
		got.header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(got.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("what is no clip is shown: %d %v", got.status, got.header)
	}
}

func TestAccountSubmitRefused(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.MaxFile = 100_000 })
	who := s.user("ada@example.com", 2*price.Least-1)
	c := s.signedIn("ada@example.com")
	good := fileField("a.gif", clip(t, 2, 10))
	c.submit(accountJobs, []field{good, {name: "pad", value: "51"}}).
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"pad","message":"pad must be between 0 and 50"}`)
	c.submit(accountJobs, []field{fileField("b.gif", []byte("no clip"))}).want(t, http.StatusUnprocessableEntity, `{"error":"unreadable_file"}`)
	c.submit(accountJobs, []field{fileField("b.gif", make([]byte, 100_001))}).want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
	c.submit(accountJobs, []field{good, good}).want(t, http.StatusPaymentRequired, poor(2*price.Least-1))
	first := c.submit(accountJobs, []field{good}, "Idempotency-Key", "k")
	decode[api.JobsCreated](t, first, http.StatusAccepted)
	if again := c.submit(accountJobs, []field{good}, "Idempotency-Key", "k"); again.body != first.body {
		t.Errorf("the same again gives %s after %s", again.body, first.body)
	}
	c.submit(accountJobs, []field{good, {name: "pad", value: "0"}}, "Idempotency-Key", "k").want(t, http.StatusConflict, `{"error":"idempotency_conflict"}`)
	if left, n := s.balance(who), s.objects(); left != price.Least-1 || n != 1 {
		t.Errorf("%d credits and %d objects are left", left, n)
	}
}

// TestAccountList checks pages of all jobs of an account, including those of
// its keys.
func TestAccountList(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 100)
	c, key := s.signedIn("ada@example.com"), s.client(s.key(who))
	good := fileField("a.gif", clip(t, 2, 10))
	c.get(accountJobs).want(t, http.StatusOK, `{"jobs":[],"next":null}`+"\n")
	var want []string
	for i := range 5 {
		id := ""
		if i%2 == 0 {
			id = decode[api.JobsCreated](t, c.submit(accountJobs, []field{good}), http.StatusAccepted).Jobs[0].ID
		} else {
			id = decode[api.JobCreated](t, key.submit(jobs, []field{good}), http.StatusAccepted).ID
		}
		want = append([]string{id}, want...)
	}
	list := func(query string) (ids []string, next *string) {
		t.Helper()
		page := decode[api.JobPage](t, c.get(accountJobs+query), http.StatusOK)
		for _, j := range page.Jobs {
			ids = append(ids, j.ID)
		}
		return ids, page.Next
	}
	got, next := list("?limit=2")
	more, next2 := list("?limit=3&before=" + *next)
	if diff := cmp.Diff(want, append(got, more...)); diff != "" || next2 != nil {
		t.Errorf("two pages, and then %v (-want +got):\n%s", next2, diff)
	}
	if queued, _ := list("?state=queued"); len(queued) != 5 {
		t.Errorf("%d are queued", len(queued))
	}
	if failed, next := list("?state=failed"); len(failed) != 0 || next != nil {
		t.Errorf("%v have failed", failed)
	}
	for query, field := range map[string]string{
		"?limit=0": "limit", "?limit=101": "limit", "?limit=x": "", "?state=lost": "state", "?state=": "state", "?before=": "before", "?before=%00": "before", "?before=led_06dwb6z7mc5w2h9k4q8t1x7vre": "before", "?limit=1&limit=2": "",
	} {
		refused := decode[api.Error](t, c.get(accountJobs+query), http.StatusBadRequest)
		if refused.Message == nil || (refused.Field == nil) != (field == "") || refused.Field != nil && *refused.Field != field {
			t.Errorf("%s gives %+v", query, refused)
		}
	}
}

// browsed is a service with a finished job from a browser.
func browsed(t *testing.T, content []byte) (*client, api.AccountJob) {
	t.Helper()
	observed := make(ends, 100)
	s := startWith(t, job.Config{Observer: observed}, nil)
	s.user("ada@example.com", 100)
	c := s.signedIn("ada@example.com")
	made := decode[api.JobsCreated](t, c.submit(accountJobs, []field{fileField("wäve.GIF", content), {name: "method", value: "fast"}}), http.StatusAccepted)
	s.work()
	<-observed
	return c, decode[api.AccountJob](t, c.get(accountJobs+"/"+made.Jobs[0].ID), http.StatusOK)
}

// TestAccountFiles checks the three files of a job, whole and in parts.
func TestAccountFiles(t *testing.T) {
	t.Parallel()
	content := clip(t, 12, 10)
	c, j := browsed(t, content)
	self := accountJobs + "/" + j.ID
	if j.Status != api.JobStatusDone || j.PreviewURL == nil || *j.PreviewURL != self+"/preview" || j.DownloadURL == nil || *j.DownloadURL != self+"/download" || j.EndedAt == nil {
		t.Fatalf("the job is %+v", j)
	}
	for name, want := range map[string]struct{ mediaType, disposition string }{
		"preview":  {"image/png", `inline; filename="w_ve-nobg.png"; filename*=UTF-8''w%C3%A4ve-nobg.png`},
		"download": {"image/gif", `attachment; filename="w_ve-nobg.gif"; filename*=UTF-8''w%C3%A4ve-nobg.gif`},
		"input":    {"image/gif", `inline; filename="w_ve.GIF"; filename*=UTF-8''w%C3%A4ve.GIF`},
	} {
		path := self + "/" + name
		whole := c.get(path)
		h := whole.header
		if whole.status != http.StatusOK || h.Get("Content-Type") != want.mediaType || h.Get("Content-Disposition") != want.disposition ||
			h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Length") != strconv.Itoa(len(whole.body)) {
			t.Errorf("%s: %d %v", name, whole.status, h)
		}
		if name == "input" && whole.body != string(content) {
			t.Error("the original is not what was sent")
		}
		if part := c.get(path, "Range", "bytes=1-4"); part.status != http.StatusPartialContent || part.body != whole.body[1:5] {
			t.Errorf("a part of %s: %d %q", name, part.status, part.body)
		}
		if got := c.get(path, "If-None-Match", h.Get("ETag")); got.status != http.StatusNotModified {
			t.Errorf("%s unchanged: %d", name, got.status)
		}
		c.get(path, "Range", "bytes=9999999-").want(t, http.StatusRequestedRangeNotSatisfiable, `{"error":"range_not_satisfiable"}`)
		c.get(accountJobs+"/job_0/"+name).want(t, http.StatusNotFound, `{"error":"not_found"}`)
		if head := c.do(http.MethodHead, path, nil); head.status != http.StatusOK || head.header.Get("ETag") != h.Get("ETag") {
			t.Errorf("HEAD of %s: %d %v", name, head.status, head.header)
		}
	}
}

// TestAgain checks a second job without a second upload. It is refused once the
// upload is gone.
func TestAgain(t *testing.T) {
	t.Parallel()
	c, j := browsed(t, clip(t, 12, 10))
	again := accountJobs + "/" + j.ID + "/again"
	uploads := c.objects()
	r := decode[api.JobsCreated](t, c.submit(again, []field{{name: "outputFormat", value: "apng"}, {name: "method", value: "fast"}}), http.StatusAccepted)
	if r.BatchID != nil || len(r.Jobs) != 1 || r.Jobs[0].Filename != "wäve.GIF" || r.CreditsRemaining != 100-2*int(price.OfSeconds(1.2)) {
		t.Errorf("again gives %+v", r)
	}
	if n := c.objects(); n > uploads+2 { // an output and perhaps a preview
		t.Errorf("%d objects after %d", n, uploads)
	}
	next := decode[api.AccountJob](t, c.get(accountJobs+"/"+r.Jobs[0].ID), http.StatusOK)
	if diff := cmp.Diff(j.Metadata, next.Metadata, cmpopts.IgnoreFields(api.Metadata{}, "OutputSize", "Quality")); diff != "" || next.OutputFormat != "apng" || *next.Options.Pad != 12 {
		t.Errorf("the new job is %+v\n%s", next, diff)
	}
	first := c.submit(again, nil, "Idempotency-Key", "k")
	decode[api.JobsCreated](t, first, http.StatusAccepted)
	if second := c.submit(again, nil, "Idempotency-Key", "k"); second.body != first.body {
		t.Errorf("the same again gives %s after %s", second.body, first.body)
	}
	c.submit(again, []field{{name: "pad", value: "1"}}, "Idempotency-Key", "k").want(t, http.StatusConflict, `{"error":"idempotency_conflict"}`)
	c.submit(again, []field{{name: "pad", value: "x"}}).
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"pad","message":"pad must be between 0 and 50"}`)
	c.submit(again, []field{fileField("a.gif", clip(t, 2, 10))}).
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"file","message":"file is kept already; send only options"}`)
	c.submit(again, []field{fileField("a.gif", make([]byte, 2<<20))}).want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
	c.submit(accountJobs+"/job_0/again", nil).want(t, http.StatusNotFound, `{"error":"not_found"}`)

	if _, err := c.db.ExecContext(t.Context(), "UPDATE jobs SET input_key = NULL"); err != nil {
		t.Fatal(err)
	}
	if later := c.submit(again, nil, "Idempotency-Key", "k"); later.body != first.body {
		t.Errorf("the same again gives %s once the file is gone", later.body)
	}
}

func TestAgainRefused(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 2*price.OfSeconds(4.8)) // for a.gif twice
	c := s.signedIn("ada@example.com")
	made := decode[api.JobsCreated](t, c.submit(accountJobs, []field{fileField("a.gif", clip(t, 12, 40)), fileField("b.gif", []byte("no clip"))}), http.StatusAccepted)
	c.submit(accountJobs+"/"+made.Jobs[1].ID+"/again", nil).want(t, http.StatusUnprocessableEntity, `{"error":"unreadable_file"}`)
	decode[api.JobsCreated](t, c.submit(accountJobs+"/"+made.Jobs[0].ID+"/again", nil), http.StatusAccepted)
	c.submit(accountJobs+"/"+made.Jobs[0].ID+"/again", nil).want(t, http.StatusPaymentRequired, poor(0))
	if _, err := s.db.ExecContext(t.Context(), "UPDATE jobs SET input_key = NULL"); err != nil {
		t.Fatal(err)
	}
	c.submit(accountJobs+"/"+made.Jobs[0].ID+"/again", nil).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	if j := decode[api.AccountJob](t, c.get(accountJobs+"/"+made.Jobs[0].ID), http.StatusOK); j.InputAvailable {
		t.Error("an input that has gone is there")
	}
}

// TestForeignSession tries all routes of an account in a browser of another
// account.
func TestForeignSession(t *testing.T) {
	t.Parallel()
	ada, j := browsed(t, clip(t, 2, 10))
	ada.user("bob@example.com", 10)
	bob := ada.signedIn("bob@example.com")
	for _, path := range []string{"", "/preview", "/download", "/input"} {
		bob.get(accountJobs+"/"+j.ID+path).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	}
	bob.submit(accountJobs+"/"+j.ID+"/again", nil).want(t, http.StatusNotFound, `{"error":"not_found"}`)
	for _, query := range []string{"", "?state=done", "?before=" + j.ID} {
		bob.get(accountJobs+query).want(t, http.StatusOK, `{"jobs":[],"next":null}`+"\n")
	}
	ledger := decode[api.LedgerPage](t, ada.get("/api/account/ledger"), http.StatusOK)
	bob.get("/api/account/ledger?before="+ledger.Entries[len(ledger.Entries)-1].ID).want(t, http.StatusOK, `{"entries":[],"next":null}`+"\n")
	for _, e := range ledger.Entries {
		if strings.Contains(bob.get("/api/account/ledger").body+bob.get("/api/account/ledger.csv").body, e.ID) {
			t.Errorf("another's ledger shows %s", e.ID)
		}
	}
	for range 3 { // none of these signs anybody out
		bob.do(http.MethodDelete, "/api/sessions", nil)
	}
	if got := ada.get(accountJobs); got.status != http.StatusOK {
		t.Errorf("signed out by another: %d", got.status)
	}
}
