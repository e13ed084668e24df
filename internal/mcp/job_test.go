package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told is the result of tools for jobs that tests look at.
type told struct {
	ID, Status, Error, Input, Format string
	Frames                           int
	Size                             int64
	Warnings                         []string
	CreditsRemaining                 int
}

// A clip goes to a real service, and its result comes back.
func TestJobs(t *testing.T) {
	t.Parallel()
	dir := realFolder(t)
	drawGIF(t, filepath.Join(dir, "a.gif"), 10, 20)
	a := connect(t, startService(t, 5), dir)
	var made, again, got told
	a.must(t, "submit_job", arguments{"input": "a.gif", "method": "fast", "outputFormat": "apng", "background": "#00ff00", "idempotencyKey": "once"}, &made)
	if made.Status != "queued" || made.CreditsRemaining != 2 {
		t.Errorf("%+v", made)
	}
	a.must(t, "submit_job", arguments{"input": "a.gif", "method": "fast", "outputFormat": "apng", "background": "#00ff00", "idempotencyKey": "once"}, &again)
	if diff := cmp.Diff(made, again); diff != "" {
		t.Error(diff)
	}
	a.must(t, "job_status", arguments{"id": made.ID, "wait": 30}, &got)
	if diff := cmp.Diff(told{ID: made.ID, Status: "done", Input: "a.gif", Format: "apng", Frames: 2, Size: got.Size, Warnings: []string{}}, got); diff != "" {
		t.Error(diff)
	}
	var file struct {
		Path, Format string
		Size         int64
	}
	if refusal := a.call(t, "download_result", arguments{"id": made.ID, "output": "out.gif"}, nil); refusal != "output ends in .gif, and the result of the job is apng: name it .apng" {
		t.Error(refusal)
	}
	if refusal := a.call(t, "download_result", arguments{"id": made.ID, "output": "../out.apng"}, nil); !strings.Contains(refusal, "outside the folders") {
		t.Error(refusal)
	}
	a.must(t, "download_result", arguments{"id": made.ID, "output": "out.apng"}, &file)
	stat, err := os.Stat(filepath.Join(dir, "out.apng"))
	if err != nil || file.Size != stat.Size() || file.Size != got.Size || file.Path != filepath.Join(dir, "out.apng") || file.Format != "apng" {
		t.Errorf("%+v %v", file, err)
	}
	if refusal := a.call(t, "download_result", arguments{"id": made.ID, "output": "out.apng"}, nil); !strings.Contains(refusal, "the output already exists; overwrite true replaces it") {
		t.Error(refusal)
	}
	a.must(t, "download_result", arguments{"id": made.ID, "output": "out.apng", "overwrite": true}, &file)
	// A job that has ended stays as it is.
	a.must(t, "cancel_job", arguments{"id": made.ID}, &got)
	if got.Status != "done" {
		t.Errorf("%+v", got)
	}
	for want, call := range map[string]struct {
		tool string
		args arguments
	}{
		"too few credits: the balance is 2; nothing was charged; the account needs more credits":                     {"submit_job", arguments{"input": "a.gif"}},
		"id must be that of a job, which begins with job_":                                                           {"job_status", arguments{"id": "../account"}},
		"wait must be between 0 and 45":                                                                              {"job_status", arguments{"id": made.ID, "wait": 60}},
		"the service has no such job or batch of this key; check the id: only the key that created a job can see it": {"cancel_job", arguments{"id": "job_0"}},
		"pad must be between 0 and 50":                                                                               {"submit_job", arguments{"input": "a.gif", "pad": 51}},
		`submit_job has no argument "preset"`:                                                                        {"submit_job", arguments{"input": "a.gif", "preset": "none"}},
	} {
		if refusal := a.call(t, call.tool, call.args, nil); refusal != want {
			t.Errorf("%s %v: %q, and not %q", call.tool, call.args, refusal, want)
		}
	}
}

// Without a service there are no tools for jobs.
func TestNoService(t *testing.T) {
	t.Parallel()
	all := tools(t, connect(t, nil, t.TempDir()))
	if len(all) != 2 || all["remove"] == nil || all["probe"] == nil {
		t.Errorf("%v", all)
	}
}
