package mcp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bgremove/bgremove/internal/mcp"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/option"
)

// tools are the tools that an assistant sees, with the schemas of their arguments.
func tools(t *testing.T, a *assistant) map[string]*jsonschema.Schema {
	t.Helper()
	all := map[string]*jsonschema.Schema{}
	for tool, err := range a.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		all[tool.Name] = schema(t, tool)
	}
	return all
}

func schema(t *testing.T, tool *sdk.Tool) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(tool.InputSchema)
	s := &jsonschema.Schema{}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// settings are the arguments of tools that are no options.
var settings = []string{"input", "output", "overwrite", "preview", "idempotencyKey"}

// The tools offer options with the words and bounds of package option. What the service
// takes is offered for its jobs, and for local files too, but for model.
func TestOptions(t *testing.T) {
	t.Parallel()
	all := tools(t, connect(t, startService(t, 1), t.TempDir()))
	remove, submit := all["remove"], all["submit_job"]
	for _, name := range job.OptionNames() {
		if name == "bgColor" { // background takes a colour, too
			continue
		}
		local := name != "model" // there it could be a path
		if local != (remove.Properties[name] != nil) || submit.Properties[name] == nil {
			t.Errorf("the tools do not offer %s, which the service takes", name)
		}
	}
	for name, s := range submit.Properties {
		if !slices.Contains(settings, name) && !slices.Contains(job.OptionNames(), name) {
			t.Errorf("submit_job has %s, which the service does not take", name)
		}
		if s.Description == "" {
			t.Errorf("submit_job does not describe %s", name)
		}
	}
	for name, s := range remove.Properties {
		if slices.Contains(settings, name) {
			continue
		}
		f, ok := option.FieldOf(name)
		if !ok || s.Description == "" || s.Type == "" {
			t.Errorf("%s is no option, or is not described: %+v", name, s)
		}
		if f.Range != (option.Range{}) && (*s.Minimum != float64(f.Range.Min) || *s.Maximum != float64(f.Range.Max)) {
			t.Errorf("%s: %g to %g", name, *s.Minimum, *s.Maximum)
		}
		for _, word := range f.Words {
			if !slices.Contains(s.Enum, any(word)) && !strings.Contains(s.Description, word) {
				t.Errorf("%s does not take %s", name, word)
			}
		}
		if f.Truth != (s.Type == "boolean") {
			t.Errorf("%s is a %s", name, s.Type)
		}
	}
}

// No option is described here that the specification describes well enough.
func TestNothingIsDescribedTwice(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"background", "harmonise"}, mcp.DescribedTwice()); diff != "" {
		t.Error(diff)
	}
}

// The document names every tool, its arguments and all options, and its settings can be
// copied.
func TestDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range tools(t, connect(t, startService(t, 1), t.TempDir())) {
		row := regexp.MustCompile("(?m)^\\| `" + name + "` \\|.*$").Find(text)
		for argument := range s.Properties {
			is := string(text)
			if _, option := option.FieldOf(argument); !option {
				is = string(row)
			}
			if !strings.Contains(is, "`"+argument+"`") {
				t.Errorf("mcp.md does not name %s of %s", argument, name)
			}
		}
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(text, -1)
	if len(blocks) != 2 {
		t.Errorf("there are %d blocks of JSON", len(blocks))
	}
	for _, block := range blocks {
		var file struct {
			MCPServers map[string]struct {
				Command string
				Args    []string
				Env     map[string]string
			}
		}
		d := json.NewDecoder(bytes.NewReader(block[1]))
		d.DisallowUnknownFields()
		if err := d.Decode(&file); err != nil || file.MCPServers["bgremove"].Command != "bgremove" || file.MCPServers["bgremove"].Args[0] != "mcp" {
			t.Errorf("%v: %s", err, block[1])
		}
	}
}

// Wrong arguments are refused with their name and what is right.
func TestWrongArguments(t *testing.T) {
	t.Parallel()
	dir := realFolder(t)
	drawGIF(t, filepath.Join(dir, "a.gif"), 10, 20)
	a := connect(t, nil, dir)
	for want, args := range map[string]arguments{
		"input is missing":                {},
		"input must be a text":            {"input": 7},
		"overwrite must be true or false": {"input": "a.gif", "overwrite": "yes"},
		`remove has no argument "outputformat": did you mean outputFormat?`:                                                      {"input": "a.gif", "outputformat": "gif"},
		`remove has no argument "model"`:                                                                                         {"input": "a.gif", "model": "big"},
		"method must be one of auto, fast, rembg\npad must be between 0 and 50":                                                  {"input": "a.gif", "pad": 99, "method": "slow"},
		"canvasW must be between 16 and 4096":                                                                                    {"input": "a.gif", "canvasW": 1.5},
		"start must be between 0 and 10000000 seconds":                                                                           {"input": "a.gif", "start": "soon"},
		"fps must be between 0.01 and 1000":                                                                                      {"input": "a.gif", "fps": "fast"},
		"end must come after start":                                                                                              {"input": "a.gif", "start": 2, "end": 1},
		"hints number 1: mask names a file, which is for the command line alone":                                                 {"input": "a.gif", "hints": []any{arguments{"keep": true, "mask": "/etc/passwd"}}},
		"output ends in .gif, and outputFormat is webm: give one of them":                                                        {"input": "a.gif", "output": "b.gif", "outputFormat": "webm"},
		filepath.Join(dir, "b.sh") + ": its extension is that of no format which is written":                                     {"input": "a.gif", "output": "b.sh"},
		filepath.Join(dir, "x", "b.gif") + ": the output's folder does not exist; make the folder first, or name another output": {"input": "a.gif", "output": "x/b.gif"},
		filepath.Join(dir, "none.gif") + ": no such file":                                                                        {"input": "none.gif"},
		dir + ": not a regular file; name one file":                                                                              {"input": "."},
		filepath.Join(dir, "a.gif") + ": output would be the input itself; name another output":                                  {"input": "a.gif", "output": "a.gif", "overwrite": true},
		"background must be #rrggbb, " + option.DrawnScenes():                                                                    {"input": "a.gif", "background": "beach"},
	} {
		if refusal := a.call(t, "remove", args, nil); !strings.HasSuffix(refusal, want) {
			t.Errorf("%v: %q, and not %q", args, refusal, want)
		}
	}
}
