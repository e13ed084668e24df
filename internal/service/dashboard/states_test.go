package dashboard_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/dashboard"
	"github.com/bgremove/bgremove/internal/service/job"
)

// TestStates checks that pages know each state of a job: its name, its look, and
// whether the scripts wait for its end and then fetch the balance.
func TestStates(t *testing.T) {
	t.Parallel()
	var ended, unfinished, refunded []string
	for _, s := range job.States() {
		if dashboard.StateName(s) == "" {
			t.Errorf("%s has no name", s)
		}
		says(t, "style.css", fmt.Sprintf(".state.%s {", s))
		if s.Ended() {
			ended = append(ended, string(s))
		} else {
			unfinished = append(unfinished, string(s))
		}
		if s.Refunded() {
			refunded = append(refunded, string(s))
		}
	}
	says(t, "live.js", `["`+strings.Join(unfinished, `", "`)+`"].includes(`)
	says(t, "live.js", `"[data-state=`+strings.Join(unfinished, "], [data-state=")+`]"`)
	says(t, "live.js", `["`+strings.Join(refunded, `", "`)+`"].includes(part.dataset.state)) refreshBalance()`)
	says(t, "job.js", `["`+strings.Join(ended, `", "`)+`"].includes(`)
}

func says(t *testing.T, asset, want string) {
	t.Helper()
	text, err := os.ReadFile("assets/" + asset)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want) {
		t.Errorf("%s does not say %s", asset, want)
	}
}
