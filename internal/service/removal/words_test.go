package removal_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/removal"
	"github.com/bgremove/bgremove/internal/service/removal/removaltest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// What the library says of a failure stays in the log: a client of the service
// gets words of its own, whatever the cause is.
func TestWordsForTheWeb(t *testing.T) {
	t.Parallel()
	shell := regexp.MustCompile("--[a-z]|bgremove |/srv")
	kinds := []bgremove.Kind{bgremove.Failed, bgremove.Invalid, bgremove.Unreadable, bgremove.TooLarge, bgremove.NotFound, bgremove.Exists, bgremove.Missing}
	for _, cause := range removaltest.Causes(t, "../../../pkg/bgremove/cause.go") {
		for _, kind := range kinds {
			err := removal.Translate(&bgremove.Error{Kind: kind, Cause: cause, Path: "/srv/clip", Name: "memory", Limit: "512 MiB",
				Without: bgremove.Fast, Reason: "use --force, see bgremove doctor"})
			if body := answer(t, err); shell.MatchString(body) {
				t.Errorf("%s, kind %d: %s", cause, kind, body)
			}
		}
	}
}

func TestTooLargeForTheWeb(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cause       bgremove.Cause
		name, limit string
		want        string
	}{
		{bgremove.OverLimits, "picture area", "16384", "picture area: over the limit of 16384"},
		{bgremove.OverChildLimits, "memory", "512 MiB", "it takes more memory than the limit of 512 MiB"},
		{bgremove.OutputTooLarge, "file size", "1000", "file size: over the limit of 1000"},
	} {
		got := answer(t, removal.Translate(&bgremove.Error{Kind: bgremove.TooLarge, Cause: test.cause, Name: test.name, Limit: test.limit}))
		if want := `{"error":"bad_request","message":"` + test.want + `"}`; got != want {
			t.Errorf("%s: %s", test.cause, got)
		}
	}
}

// answer is the body that a client gets for an error.
func answer(t *testing.T, err error) string {
	t.Helper()
	a := httpapi.New(httpapi.Config{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { a.Refuse(w, r, err) })
	w := httptest.NewRecorder()
	a.Handler(mux).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	return w.Body.String()
}
