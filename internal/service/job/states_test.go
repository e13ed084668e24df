package job_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
)

var stateConstant = regexp.MustCompile(`(?m)^\t\w+ +State = "(\w+)"$`)

// TestStates checks that States has all constants.
func TestStates(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("job.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []job.State
	for _, m := range stateConstant.FindAllStringSubmatch(string(source), -1) {
		want = append(want, job.State(m[1]))
	}
	if diff := cmp.Diff(want, job.States()); diff != "" {
		t.Errorf("-constants +States:\n%s", diff)
	}
}
