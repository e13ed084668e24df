package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/api"
)

// partFields are a form with a file of 10 s and a part of it.
func partFields(t *testing.T, options ...string) []field {
	t.Helper()
	fields := []field{fileField("a.gif", clip(t, 10, 100))}
	for i := 0; i < len(options); i += 2 {
		fields = append(fields, field{name: options[i], value: options[i+1]})
	}
	return fields
}

// A clip that is cut costs what its kept part costs, in estimates, in submissions and
// again.
func TestPriceOfPart(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 100)
	c := s.signedIn("ada@example.com")
	key := s.client(s.key(who))
	for _, test := range []struct {
		start, end string
		cost       int64
	}{
		{"2.5", "7.2", 5}, {"0", "0", 10}, {"9.999", "0", price.Least}, {"0", "4.001", 5}, {"6", "500", 4},
	} {
		fields := partFields(t, "start", test.start, "end", test.end)
		described := key.post("/api/v1/estimate", fmt.Sprintf(`{"duration":10,"start":%s,"end":%s}`, test.start, test.end))
		for name, got := range map[string]api.Estimate{
			"facts": decode[api.Estimate](t, described, http.StatusOK),
			"file":  decode[api.Estimate](t, key.submit("/api/v1/estimate", fields), http.StatusOK),
		} {
			if got.Cost != test.cost || got.Charged != test.cost || got.Duration != 10 {
				t.Errorf("%s to %s by its %s: %+v, want %d", test.start, test.end, name, got, test.cost)
			}
		}
		before := s.balance(who)
		made := decode[api.JobsCreated](t, c.submit("/api/jobs", fields), http.StatusAccepted)
		if cost := before - s.balance(who); cost != test.cost {
			t.Errorf("%s to %s cost %d, want %d", test.start, test.end, cost, test.cost)
		}
		path := "/api/jobs/" + made.Jobs[0].ID
		if got := decode[api.AccountJob](t, c.get(path), http.StatusOK); int64(got.Cost) != test.cost || int64(got.Charged) != test.cost || got.Metadata.Duration != 10 {
			t.Errorf("%s to %s: the job has %+v", test.start, test.end, got)
		}
		before = s.balance(who)
		decode[api.JobsCreated](t, c.submit(path+"/again", []field{{name: "end", value: "3.5"}}), http.StatusAccepted)
		if cost := before - s.balance(who); cost != 4 {
			t.Errorf("again it costs %d", cost)
		}
	}
}

// A part that leaves nothing, or not what hints mark, is refused before any charge.
func TestRefusedParts(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.remover.FastOnly = false
	who := s.user("ada@example.com", 100)
	c := s.client(s.key(who))
	hint := `[{"keep":true,"t":2,"click":[3,4]}]`
	for name, test := range map[string]struct {
		options []string
		field   string
		words   string
	}{
		"a start at the end":    {[]string{"start", "10"}, "start", "start must come before the end of the clip at 10 s"},
		"a start after the end": {[]string{"start", "11", "end", "12"}, "start", "start must come before the end of the clip at 10 s"},
		"an end at the start":   {[]string{"end", "2", "start", "2"}, "end", "end must come after start"},
		"a negative start":      {[]string{"start", "-1"}, "start", "start must be between 0 and 10000000 seconds"},
		"a time of day":         {[]string{"end", "1:30"}, "end", "end must be between 0 and 10000000 seconds"},
		"a rate of nothing":     {[]string{"fps", "0"}, "fps", "fps must be between 0.01 and 1000"},
		"a hint before it":      {[]string{"start", "3", "hints", hint}, "hints", "hints number 1 (keep 3,4@2) is before the chosen part, which begins at 3 s"},
		"a hint after it":       {[]string{"end", "2", "hints", hint}, "hints", "hints number 1 (keep 3,4@2) is after the end at 2 s"},
	} {
		for _, path := range []string{jobs, "/api/v1/estimate"} {
			got := decode[api.Error](t, c.submit(path, partFields(t, test.options...)), http.StatusBadRequest)
			if got.Field == nil || *got.Field != test.field || *got.Message != test.words {
				t.Errorf("%s at %s: %+v", name, path, got)
			}
		}
	}
	for body, words := range map[string]string{
		`{"duration":10,"start":10}`:         "start must come before the end of the clip at 10 s",
		`{"duration":10,"start":3,"end":2}`:  "end must come after start",
		`{"duration":10,"start":-1}`:         "start must be between 0 and 10000000 seconds",
		`{"duration":10,"start":1,"end":-1}`: "end must be between 0 and 10000000 seconds",
	} {
		if got := decode[api.Error](t, c.post("/api/v1/estimate", body), http.StatusBadRequest); got.Message == nil || *got.Message != words {
			t.Errorf("%s: %+v", body, got)
		}
	}
	batch := append(partFields(t, "start", "1.5"), fileField("short.gif", clip(t, 2, 10)))
	got := decode[api.Error](t, c.submit(batches, batch), http.StatusBadRequest)
	if want := "start must come before the end of the clip at 0.2 s of short.gif"; *got.Message != want {
		t.Errorf("a batch: %q", *got.Message)
	}
	if left, kept := s.balance(who), s.objects(); left != 100 || kept != 0 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
}
