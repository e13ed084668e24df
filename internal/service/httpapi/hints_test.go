package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/option"
)

// Hints are kept with the job as they were given, and a job runs again without them or
// with others.
func TestHints(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.remover.FastOnly = false
	who := s.user("ada@example.com", 6*price.Least)
	c := s.signedIn("ada@example.com")
	given := `[{"keep":true,"t":0.1,"click":[3,4.5]},{"keep":false,"box":[1,2,30,30]},{"keep":true,"stroke":[[1,2],[47,39]],"radius":6}]`
	made := decode[api.JobsCreated](t, c.submit("/api/jobs", []field{{name: "hints", value: given}, fileField("a.gif", clip(t, 2, 10)), {name: "largest", value: "true"}}), http.StatusAccepted)
	want, err := option.ParseHints(given)
	if err != nil {
		t.Fatal(err)
	}
	path := "/api/jobs/" + made.Jobs[0].ID
	got := decode[api.AccountJob](t, c.get(path), http.StatusOK).Options
	if got.Hints == nil || !cmp.Equal(*got.Hints, want) || got.Largest == nil || !*got.Largest {
		t.Errorf("it has %+v", got)
	}
	before := s.balance(who)
	for name, test := range map[string]struct{ hints, words string }{
		"outside":   {`[{"keep":true,"click":[48,1]}]`, "hints number 1 (keep 48,1) is outside the picture of 48×40 pixels"},
		"too late":  {`[{"keep":true,"click":[1,1]},{"keep":false,"t":5,"click":[1,1]}]`, "hints number 2 (drop 1,1@5) is after the end at 0.2 s"},
		"of a file": {`[{"keep":true,"mask":"a.png"}]`, "hints number 1: mask names a file, which is for the command line alone"},
	} {
		refused := decode[api.Error](t, c.submit(path+"/again", []field{{name: "hints", value: test.hints}}), http.StatusBadRequest)
		if refused.Message == nil || *refused.Message != test.words {
			t.Errorf("%s: %+v", name, refused)
		}
	}
	if left := s.balance(who); left != before {
		t.Errorf("refusals cost %d credits", before-left)
	}
	again := decode[api.JobsCreated](t, c.submit(path+"/again", []field{{name: "hints", value: `[{"keep":false,"click":[1,1]}]`}}), http.StatusAccepted)
	got = decode[api.AccountJob](t, c.get("/api/jobs/"+again.Jobs[0].ID), http.StatusOK).Options
	if got.Hints == nil || !cmp.Equal(*got.Hints, []option.Hint{{Click: &[2]float64{1, 1}}}) || got.Largest != nil {
		t.Errorf("again it has %+v", got)
	}
}

// Hints of a batch fit each of its files, of those that can be read.
func TestHintsOfBatch(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.remover.FastOnly = false
	who := s.user("ada@example.com", 10*price.Least)
	c := s.client(s.key(who))
	files := []field{{name: "hints", value: `[{"keep":true,"t":0.3,"click":[3,4]}]`}, fileField("long.gif", clip(t, 5, 10)), fileField("broken.gif", []byte("GIF89a"))}
	decode[api.BatchCreated](t, c.submit(batches, files), http.StatusAccepted)
	before, objects := s.balance(who), s.objects()
	refused := decode[api.Error](t, c.submit(batches, append(files, fileField("short.gif", clip(t, 2, 10)))), http.StatusBadRequest)
	if refused.Message == nil || !strings.HasSuffix(*refused.Message, "(keep 3,4@0.3) is after the end at 0.2 s of short.gif") || *refused.Field != "hints" {
		t.Errorf("%+v", refused)
	}
	if left := s.balance(who); left != before || s.objects() != objects {
		t.Errorf("the refusal costs %d credits and %d objects", before-left, s.objects()-objects)
	}
}

// A service that does not follow hints refuses them at once.
func TestWithoutHints(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.Unguided = []string{""} })
	c := s.client(s.key(s.user("ada@example.com", 2*price.Least)))
	c.submit(jobs, []field{fileField("a.gif", clip(t, 2, 10)), {name: "hints", value: `[{"keep":true,"click":[1,1]}]`}}).
		want(t, http.StatusBadRequest, `{"error":"bad_request","field":"hints","message":"hints are not followed by this service"}`)
	decode[api.JobCreated](t, c.submit(jobs, []field{fileField("a.gif", clip(t, 2, 10)), {name: "hints", value: "[]"}}), http.StatusAccepted)
}
