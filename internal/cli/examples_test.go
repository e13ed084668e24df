package cli_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// workflow is the part of a CI workflow that tests look at.
type workflow struct {
	Name string         `yaml:"name"`
	On   map[string]any `yaml:"on"`
	Jobs map[string]struct {
		RunsOn string            `yaml:"runs-on"`
		Env    map[string]string `yaml:"env"`
		Steps  []struct {
			Uses string `yaml:"uses"`
			Run  string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// steps WORKFLOW SCRIPT writes the commands of a workflow to a script, after
// checks that a CI would accept it.
func workflowSteps(ts *testscript.TestScript, _ bool, args []string) {
	var w workflow
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile(args[0])), &w))
	if w.Name == "" || len(w.On) == 0 || len(w.Jobs) != 1 {
		ts.Fatalf("%s is no workflow of one job", args[0])
	}
	script := &strings.Builder{}
	for name, job := range w.Jobs {
		if job.RunsOn == "" || job.Env["BGREMOVE_API_KEY"] != "${{ secrets.BGREMOVE_API_KEY }}" || !strings.HasPrefix(job.Env["BGREMOVE_SERVER"], "https://") {
			ts.Fatalf("job %s says not where it runs, or where the service is: %+v", name, job)
		}
		for i, step := range job.Steps {
			if (step.Uses == "") == (step.Run == "") || strings.Contains(step.Run, "${{") {
				ts.Fatalf("step %d of job %s cannot be run: %+v", i, name, step)
			}
			fmt.Fprintln(script, step.Run)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(script.String()), 0o666))
}
