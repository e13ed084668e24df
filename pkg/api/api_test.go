package api_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

func load(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSpecification checks the document and its examples.
func TestSpecification(t *testing.T) {
	t.Parallel()
	err := load(t).Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaDefaultsValidation())
	if err != nil {
		t.Error(err)
	}
}

// TestExamples checks that every JSON body has an example, and that error
// bodies have only the properties of their schema.
func TestExamples(t *testing.T) {
	t.Parallel()
	doc := load(t)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				media := response.Value.Content["application/json"]
				if media == nil {
					continue
				}
				values := examples(media)
				if len(values) == 0 {
					t.Errorf("%s %s %s has no example", method, path, status)
				}
				for _, v := range values {
					checkProperties(t, method+" "+path+" "+status, media.Schema.Value, v)
				}
			}
		}
	}
}

func examples(media *openapi3.MediaType) []any {
	var all []any
	if media.Example != nil {
		all = append(all, media.Example)
	}
	for _, e := range media.Examples {
		all = append(all, e.Value.Value)
	}
	return all
}

func checkProperties(t *testing.T, where string, schema *openapi3.Schema, v any) {
	t.Helper()
	object, ok := v.(map[string]any)
	if !ok {
		t.Errorf("%s: the example is no object", where)
	}
	for name := range object {
		if schema.Properties[name] == nil {
			t.Errorf("%s: the example has %q, which the schema does not know", where, name)
		}
	}
}

// TestErrorCodes checks that each error body's code is among those of Error,
// and that all of them are used.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	doc := load(t)
	used := map[any]bool{}
	for _, response := range doc.Components.Responses {
		if media := response.Value.Content["application/json"]; media != nil {
			for _, code := range media.Schema.Value.Properties["error"].Value.Enum {
				used[code] = true
			}
		}
	}
	want := map[any]bool{}
	for _, code := range doc.Components.Schemas["ErrorCode"].Value.Enum {
		want[code] = true
	}
	if diff := cmp.Diff(want, used); diff != "" {
		t.Errorf("codes of responses (-listed +used):\n%s", diff)
	}
}

// TestOptions compares the specification's options with the library's.
func TestOptions(t *testing.T) {
	t.Parallel()
	schema := load(t).Components.Schemas["Options"].Value
	defaults := bgremove.Defaults()
	for name, want := range map[string]any{
		"method": string(defaults.Method), "tolerance": float64(defaults.Tolerance), "crop": defaults.Crop, "pad": float64(defaults.Pad),
		"anchor": string(defaults.Anchor), "outputFormat": string(defaults.Format), "bgColor": defaults.Background, "trim": defaults.Trim,
		"canvasW": nil, "canvasH": nil,
	} {
		if got := schema.Properties[name].Value.Default; got != want {
			t.Errorf("%s defaults to %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string][2]float64{
		"tolerance": {bgremove.MinTolerance, bgremove.MaxTolerance}, "pad": {0, bgremove.MaxPad},
		"canvasW": {bgremove.MinCanvas, bgremove.MaxCanvas}, "canvasH": {bgremove.MinCanvas, bgremove.MaxCanvas},
	} {
		s := schema.Properties[name].Value
		if got := [2]float64{*s.Min, *s.Max}; got != want {
			t.Errorf("%s is between %v, want %v", name, got, want)
		}
	}
	got := slices.Sorted(maps.Keys(schema.Properties))
	want := []string{"anchor", "bgColor", "canvasH", "canvasW", "crop", "method", "outputFormat", "pad", "tolerance", "trim"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// TestGenerated fails if the specification has changed without go generate.
func TestGenerated(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"models", "server", "client"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "go", "tool", "oapi-codegen", "-config", part+".config.yaml", "openapi.yaml")
			cmd.Stderr = os.Stderr
			want, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(part + ".gen.go")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s.gen.go is stale: run go generate ./pkg/api", part)
			}
		})
	}
}

// TestJob pins the JSON that clients read most: null where the specification
// says null, and paths only when they work.
func TestJob(t *testing.T) {
	t.Parallel()
	size, path, reason := int64(2214907), "/api/v1/jobs/job_1/download", "timed_out"
	const metadata = `{"duration":0,"frameCount":0,"height":0,"inputSize":0,"originalName":"","outputSize":`
	for name, test := range map[string]struct {
		job  api.Job
		want string
	}{
		"queued": {
			api.Job{ID: "job_1", Status: api.JobStatusQueued, OutputFormat: api.OutputFormatGif},
			`{"error":null,"id":"job_1","metadata":` + metadata + `null,"width":0},"outputFormat":"gif","status":"queued"}`,
		},
		"done": {
			api.Job{ID: "job_1", Status: api.JobStatusDone, OutputFormat: api.OutputFormatGif, DownloadURL: &path, Metadata: api.Metadata{OutputSize: &size}},
			`{"downloadUrl":"` + path + `","error":null,"id":"job_1","metadata":` + metadata + `2214907,"width":0},"outputFormat":"gif","status":"done"}`,
		},
		"failed": {
			api.Job{ID: "job_1", Status: api.JobStatusFailed, OutputFormat: api.OutputFormatGif, Error: &reason},
			`{"error":"timed_out","id":"job_1","metadata":` + metadata + `null,"width":0},"outputFormat":"gif","status":"failed"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := json.Marshal(test.job)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
