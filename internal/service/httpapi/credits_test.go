package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/api"
)

// TestKeyAccount checks that a key reads its account's balance and the service's own
// limits.
func TestKeyAccount(t *testing.T) {
	t.Parallel()
	s := startWith(t, job.Config{MaxRunning: 7, KeepInputs: time.Hour, KeepOutputs: 2 * time.Hour}, func(c *httpapi.Config) {
		c.MaxFile, c.Rate = 1000, account.Rate{PerMinute: 50, Burst: 20}
		c.Limits = job.Limits{MaxDuration: 90 * time.Second, MaxDimension: 300, MaxFPS: 60}
	})
	who := s.user("ada@example.com", 12)
	c := s.client(s.key(who))
	want := api.KeyAccount{Credits: 12, Models: []string{}, Limits: api.Limits{
		FileSize: 1000, Duration: 90, Dimension: 300, FramesPerSecond: 60, FilesPerBatch: httpapi.MaxFiles, RunningJobs: 7,
		RequestsPerMinute: 50, Burst: 20, KeepInputs: 3600, KeepOutputs: 7200,
	}}
	if diff := cmp.Diff(want, decode[api.KeyAccount](t, c.get("/api/v1/account"), http.StatusOK)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	plan := account.Plans()[0]
	if _, err := s.ledger.GrantPlan(t.Context(), who.ID, plan); err != nil {
		t.Fatal(err)
	}
	if got := decode[api.KeyAccount](t, c.get("/api/v1/account"), http.StatusOK); got.Plan == nil || *got.Plan != plan.Name || got.Credits != 12+int(plan.Credits) {
		t.Errorf("with a plan: %+v", got)
	}
}

// TestUsage checks that the jobs of all keys of an account, and of no other, are in
// the report of their day.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 100)
	c, browser, stranger := s.client(s.key(who)), s.signedIn("ada@example.com"), s.client(s.key(s.user("bob@example.com", 100)))
	long, short := fileField("long.gif", clip(t, 12, 40)), fileField("short.gif", clip(t, 2, 10)) // 4.8 s and 0.2 s
	old := decode[api.JobCreated](t, c.submit(jobs, []field{long}), http.StatusAccepted).ID
	if _, err := s.db.Exec("UPDATE jobs SET created_at = created_at - 86400000 WHERE id = $1", old); err != nil {
		t.Fatal(err)
	}
	gone := decode[api.JobCreated](t, c.submit(jobs, []field{long}), http.StatusAccepted).ID
	decode[api.Job](t, c.do(http.MethodDelete, jobs+"/"+gone, nil), http.StatusOK)
	decode[api.JobsCreated](t, browser.submit(accountJobs, []field{short}), http.StatusAccepted)
	decode[api.JobCreated](t, s.client(s.key(who)).submit(jobs, []field{short}), http.StatusAccepted)
	decode[api.JobCreated](t, stranger.submit(jobs, []field{short}), http.StatusAccepted)

	got := decode[api.Usage](t, c.get("/api/v1/usage"), http.StatusOK)
	if len(got.Days) != 2 {
		t.Fatalf("got %+v", got)
	}
	cost := price.OfSeconds(4.8)
	want := api.Usage{From: got.From, To: got.To, Days: []api.UsageDay{
		{Date: got.Days[0].Date, Jobs: 1, Frames: 12, Seconds: 4.8, Credits: cost},
		{Date: got.Days[1].Date, Jobs: 3, Frames: 4, Seconds: 0.4, Credits: 2 * price.Least},
	}, Total: api.UsageSum{Jobs: 4, Frames: 16, Seconds: 5.2, Credits: cost + 2*price.Least}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	yesterday := got.Days[0].Date
	one := decode[api.Usage](t, c.get("/api/v1/usage?from="+yesterday+"&to="+yesterday), http.StatusOK)
	if len(one.Days) != 1 || one.Total.Jobs != 1 || one.From != yesterday || one.To != yesterday {
		t.Errorf("yesterday alone: %+v", one)
	}
	if none := c.get("/api/v1/usage?from=2020-01-01&to=2020-12-31"); none.status != http.StatusOK || !strings.Contains(none.body, `"days":[]`) {
		t.Errorf("before there was anything: %d %s", none.status, none.body)
	}
	for query, field := range map[string]string{
		"from=": "from", "from=yesterday": "from", "to=2026-02-30": "to", "to=2026-11-21T00:00:00Z": "to",
		"from=2026-11-22&to=2026-11-21": "from", "from=2019-12-31&to=2020-12-31": "from",
	} {
		refused := decode[api.Error](t, c.get("/api/v1/usage?"+query), http.StatusBadRequest)
		if refused.Field == nil || *refused.Field != field {
			t.Errorf("%s gives %+v", query, refused)
		}
	}
}

// TestEstimate checks that the price of facts and of a file is the one that a
// submission is charged, that nothing is charged or kept, and that what a submission
// would refuse is refused.
func TestEstimate(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.MaxFile, c.Limits = 100_000, job.DefaultLimits() })
	who := s.user("ada@example.com", 100)
	c := s.client(s.key(who))
	const path = "/api/v1/estimate"
	for body, cost := range map[string]int64{
		`{"duration":2}`: 3, `{"duration":0.001}`: 3, `{"duration":10}`: 10, `{"duration":9.2}`: 10, `{"duration":10.0004}`: 10, `{"duration":10.0006}`: 11,
		`{"duration":4,"frameCount":96,"width":640,"height":480}`:                                                              4,
		`{"originalName":"hop.mp4","inputSize":52048,"frameCount":72,"width":480,"height":270,"duration":3,"outputSize":null}`: 3,
	} {
		got := decode[api.Estimate](t, c.post(path, body), http.StatusOK)
		if got.Cost != cost || got.Charged != cost || got.CreditsRemaining != 100 {
			t.Errorf("%s: %+v, want %d", body, got, cost)
		}
	}
	good := fileField("hop.gif", clip(t, 12, 40))
	got := decode[api.Estimate](t, c.submit(path, []field{good, {name: "method", value: "fast"}}), http.StatusOK)
	if got.Duration != 4.8 || got.Cost != price.OfSeconds(4.8) {
		t.Errorf("of a file: %+v", got)
	}
	for body, field := range map[string]string{
		`{}`: "duration", `{"duration":0}`: "duration", `{"duration":-1}`: "duration", `{"duration":1e300}`: "duration", `{"duration":"3"}`: "",
		`{"duration":1,"width":-1}`: "width", `{"duration":1,"frameCount":1000001}`: "frameCount",
		`{"duration":601}`: "", `{"duration":1,"width":5000,"height":5}`: "", `no JSON`: "",
	} {
		refused := decode[api.Error](t, c.post(path, body), http.StatusBadRequest)
		if refused.Message == nil || (refused.Field == nil) != (field == "") || refused.Field != nil && *refused.Field != field {
			text, _ := json.Marshal(refused)
			t.Errorf("%s gives %s", body, text)
		}
	}
	for range 20 { // of several mistakes, always the first is told
		if got := decode[api.Error](t, c.post(path, `{"duration":1,"end":-1,"start":-1,"width":-1}`), http.StatusBadRequest); *got.Field != "start" {
			t.Fatalf("of a start, an end and a width: %s", *got.Field)
		}
	}
	c.do(http.MethodPost, path, strings.NewReader("x"), "Content-Type", "text/plain").wantStatus(t, http.StatusBadRequest)
	c.submit(path, []field{good, {name: "pad", value: "51"}}).wantStatus(t, http.StatusBadRequest)
	c.submit(path, nil).wantStatus(t, http.StatusBadRequest)
	c.submit(path, []field{fileField("b.gif", []byte("no clip"))}).want(t, http.StatusUnprocessableEntity, `{"error":"unreadable_file"}`)
	c.submit(path, []field{fileField("b.gif", make([]byte, 100_001))}).want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
	if left, stored := s.balance(who), s.objects(); left != 100 || stored != 0 {
		t.Errorf("%d credits and %d objects are left", left, stored)
	}
}

// TestEstimateUnlimited checks that a service without credits says that nothing is
// charged.
func TestEstimateUnlimited(t *testing.T) {
	t.Parallel()
	s := startWith(t, job.Config{Unlimited: true}, nil)
	c := s.client(s.key(s.user("ada@example.com", 0)))
	if got := decode[api.Estimate](t, c.post("/api/v1/estimate", `{"duration":10}`), http.StatusOK); got.Cost != 10 || got.Charged != 0 {
		t.Errorf("got %+v", got)
	}
	if got := decode[api.KeyAccount](t, c.get("/api/v1/account"), http.StatusOK); !got.Unlimited {
		t.Errorf("got %+v", got)
	}
}
