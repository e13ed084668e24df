package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/option"
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

// TestOptions holds the specification's options to pkg/option: their words, bounds
// and defaults.
func TestOptions(t *testing.T) {
	t.Parallel()
	for name, p := range load(t).Components.Schemas["Options"].Value.Properties {
		f, known := option.FieldOf(name)
		if !known {
			t.Errorf("%s is no option", name)
			continue
		}
		if diff := cmp.Diff(described(f), stated(p.Value)); diff != "" {
			t.Errorf("%s (-pkg/option +openapi.yaml):\n%s", name, diff)
		}
	}
}

// facts are what a schema says of an option.
type facts struct {
	Type, Default, Pattern string
	Enum                   []string
	Min, Max               float64
}

func described(f option.Field) facts {
	switch {
	case f.Pattern != "":
		return facts{Type: "string", Default: f.Default, Pattern: f.Pattern}
	case f.Span != option.Span{}:
		return facts{Type: "number", Min: f.Span.Min, Max: f.Span.Max}
	case f.Range != option.Range{}:
		return facts{Type: "integer", Default: f.Default, Min: float64(f.Range.Min), Max: float64(f.Range.Max)}
	case f.Colour:
		return facts{Type: "string", Default: f.Default, Pattern: "^(" + strings.Join(append(slices.Clone(f.Words), "#[0-9A-Fa-f]{6}"), "|") + ")$"}
	case f.Truth:
		return facts{Type: "boolean", Default: f.Default}
	}
	return facts{Type: "string", Default: f.Default, Enum: f.Words}
}

func stated(s *openapi3.Schema) facts {
	f := facts{Type: strings.Join(*s.Type, " "), Pattern: s.Pattern}
	if s.Default != nil {
		f.Default = fmt.Sprint(s.Default)
	}
	for _, v := range s.Enum {
		f.Enum = append(f.Enum, fmt.Sprint(v))
	}
	if s.Min != nil {
		f.Min = *s.Min
	}
	if s.Max != nil {
		f.Max = *s.Max
	}
	return f
}

// TestFormats wants a download's description to have the media type of each
// format.
func TestFormats(t *testing.T) {
	t.Parallel()
	doc := load(t)
	for _, path := range []string{"/api/v1/jobs/{id}/download", "/api/jobs/{id}/download"} {
		content := doc.Paths.Find(path).Get.Responses.Status(200).Value.Content
		for _, f := range option.ServiceFormats() {
			if content[f.MediaType()] == nil {
				t.Errorf("%s has no %s", path, f.MediaType())
			}
		}
	}
}

// TestOptionTable holds the table of docs/api.md to the specification and to
// pkg/option.
func TestOptionTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| option | values | default | meaning |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	schemas := load(t).Components.Schemas
	missing := maps.Clone(schemas["Options"].Value.Properties)
	maps.Copy(missing, schemas["HintsForm"].Value.Properties)
	for _, row := range strings.Split(table, "\n")[1:] {
		cells := strings.Split(row, "|") // before the first and after the last is nothing
		for name := range strings.SplitSeq(cells[1], ",") {
			name = strings.Trim(name, " `")
			f, _ := option.FieldOf(name)
			if want := cellsOf(f); strings.TrimSpace(cells[2]) != want[0] || strings.TrimSpace(cells[3]) != want[1] {
				t.Errorf("docs/api.md has %q, want %s: %v", row, name, want)
			}
			delete(missing, name)
		}
	}
	for name := range missing {
		t.Errorf("docs/api.md has no row for %s", name)
	}
}

// cellsOf are the values and the default of an option, as the table has them.
func cellsOf(f option.Field) [2]string {
	if f.Range != (option.Range{}) {
		return [2]string{fmt.Sprintf("%d to %d", f.Range.Min, f.Range.Max), f.Default}
	}
	if f.Span != (option.Span{}) {
		return [2]string{f.Span.Text(), ""}
	}
	words := slices.Clone(f.Words)
	switch {
	case f.Name == "hints":
		return [2]string{fmt.Sprintf("a JSON array of at most %d objects, in at most %d bytes", option.MaxHints, option.HintBytes), ""}
	case f.Name == "model":
		return [2]string{"one of the account's `models`", ""}
	case f.Truth:
		words = []string{"true", "false"}
	case f.Colour:
		words = append(words, "#rrggbb")
	}
	values := "`" + strings.Join(append(words, f.Forms...), "`, `") + "`"
	if f.Default == "" {
		return [2]string{values, ""}
	}
	return [2]string{values, "`" + f.Default + "`"}
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
