package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/pkg/api"
)

// TestModel checks that a submission chooses among the networks that the service offers,
// and no others: least of all a path.
func TestModel(t *testing.T) {
	t.Parallel()
	offering := func(models ...string) func(*httpapi.Config) {
		return func(c *httpapi.Config) { c.Models, c.Unguided = models, []string{"small"} }
	}
	hints := field{name: "hints", value: `[{"keep":true,"click":[1,1]}]`}
	for _, test := range []struct {
		change      func(*httpapi.Config)
		model       string
		more        []field
		field, want string // of the refusal; empty: it is taken
	}{
		{offering("bundled", "small"), "small", nil, "", ""},
		{offering("bundled", "small"), "large", nil, "model", "must be one of bundled, small"},
		{offering("bundled", "small"), "/etc/passwd", nil, "model", "must be one of bundled, small"},
		{offering("bundled", "small"), "", nil, "model", "must not be empty"},
		{offering("bundled", "small"), "small", []field{hints}, "hints", "are not followed by small"},
		{offering("bundled", "small"), "small", []field{{name: "method", value: "fast"}}, "model", "does not go with method fast, which uses none"},
		{nil, "bundled", nil, "model", "cannot be chosen on this service"},
	} {
		s := start(t, test.change)
		who := s.user("ada@example.com", 20)
		c := s.client(s.key(who))
		got := c.submit(jobs, append([]field{fileField("a.gif", clip(t, 2, 10)), {name: "model", value: test.model}}, test.more...))
		if test.want == "" {
			id := decode[api.JobCreated](t, got, http.StatusAccepted).ID
			if o := decode[api.Job](t, c.get(jobs+"/"+id), http.StatusOK); o.ID != id {
				t.Errorf("%+v", o)
			}
			continue
		}
		got.want(t, http.StatusBadRequest, fmt.Sprintf(`{"error":"bad_request","field":%q,"message":%q}`, test.field, test.field+" "+test.want))
		if left := s.balance(who); left != 20 {
			t.Errorf("%q: %d credits are left", test.model, left)
		}
	}
}
