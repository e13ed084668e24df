package httpapi_test

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/option"
)

// The options of a job's body are all that a submission may give, under the names
// that they have in its form.
func TestOptionsBody(t *testing.T) {
	t.Parallel()
	full := job.DefaultOptions()
	for _, name := range []string{"canvasW", "canvasH"} { // which have no default
		if _, err := full.Set(name, "100"); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []job.Options{job.DefaultOptions(), full} {
		want, err := json.Marshal(o)
		got, err2 := json.Marshal(httpapi.OptionsBody(o))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(object(t, want), object(t, got)); diff != "" {
			t.Errorf("(-stored +answered):\n%s", diff)
		}
	}
}

// The specification has the options that a submission may give, and no others.
func TestOptionsAreSpecified(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	specified := slices.Sorted(maps.Keys(doc.Components.Schemas["Options"].Value.Properties))
	if diff := cmp.Diff(slices.Sorted(slices.Values(job.OptionNames())), specified); diff != "" {
		t.Errorf("options (-service +specification):\n%s", diff)
	}
}

// The specification and docs/api.md name the files that are taken as package option does.
func TestUploadsAreSpecified(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	named := "named " + option.List(option.UploadExtensions(), "or")
	one := doc.Components.Schemas["JobForm"].Value.AllOf[0].Value.Properties["file"].Value
	several := doc.Components.Schemas["BatchForm"].Value.AllOf[0].Value.Properties["file"].Value
	for where, words := range map[string]string{"JobForm": one.Description, "BatchForm": several.Description, "docs/api.md": string(text)} {
		if !strings.Contains(words, named) {
			t.Errorf("%s does not say %q", where, named)
		}
	}
	if most := several.MaxItems; most == nil || *most != httpapi.MaxFiles {
		t.Errorf("BatchForm takes %v files, want %d", most, httpapi.MaxFiles)
	}
}

func object(t *testing.T, text []byte) (fields map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

// TestStates checks that the specification and docs/api.md have each state of a job.
func TestStates(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	var want []any
	for _, s := range job.States() {
		want = append(want, string(s))
	}
	if diff := cmp.Diff(want, doc.Components.Schemas["JobStatus"].Value.Enum); diff != "" {
		t.Errorf("states (-job +specification):\n%s", diff)
	}
	text, err := os.ReadFile("../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []struct{ where, text string }{{"docs/api.md", string(text)}, {"the tag jobs of openapi.yaml", doc.Tags.Get("jobs").Description}} {
		for _, s := range job.States() {
			if !strings.Contains(in.text, "`"+string(s)+"`") {
				t.Errorf("%s does not name the state %s", in.where, s)
			}
		}
	}
}
