package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
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
	for name, text := range map[string]string{ // which have no default
		"canvasW": "100", "canvasH": "100", "background": "blur", "outline": "#ffffff,3", "shadow": "soft", "harmonise": "true",
		"largest": "true", "fps": "12.5", "start": "1.5", "end": "2", "quality": "80", "loop": "0", "model": "small",
		"hints": `[{"keep":true,"t":1.5,"click":[1,2]},{"keep":false,"box":[1,2,3,4]},{"keep":true,"stroke":[[1,2]],"radius":3}]`,
	} {
		if _, err := full.Set(name, text); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range job.OptionNames() {
		if _, ok := object(t, stored)[name]; !ok {
			t.Errorf("%s is not tried", name)
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
	for name := range doc.Components.Schemas["HintsForm"].Value.Properties { // which are a text in forms alone
		specified = append(specified, name)
	}
	slices.Sort(specified)
	if diff := cmp.Diff(slices.Sorted(slices.Values(job.OptionNames())), specified); diff != "" {
		t.Errorf("options (-service +specification):\n%s", diff)
	}
}

// The patterns of the specification take what the service takes, and its words have
// the bounds.
func TestOptionPatterns(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	properties := doc.Components.Schemas["Options"].Value.Properties
	for name, texts := range map[string][]string{
		"bgColor":    {"transparent", "#aBc123", "", "#abc", "red"},
		"background": {"#aBc123", "blur", "blur:1", "blur:200", "gradient:#000000,#ffffff", "gradient:#000000,#ffffff,360", "", "transparent", "a.png", "/a", "blur:", "gradient:#000000"},
		"outline":    {"#aBc123,1", "#abc123,64", "", "#abc123", "white,3", "#abc123,-1"},
		"shadow":     {"soft", "-100,100", "100,-100,64", "0,0,0,1", "0,0,64,100", "", "hard", "1", "1,2,3,4,5"},
	} {
		pattern := regexp.MustCompile(properties[name].Value.Pattern)
		for _, text := range texts {
			o := job.DefaultOptions()
			if _, err := o.Set(name, text); pattern.MatchString(text) != (err == nil) {
				t.Errorf("%s=%q: the specification takes it: %t; the service: %v", name, text, pattern.MatchString(text), err)
			}
		}
	}
	for name, bounds := range map[string][]option.Range{
		"background": {option.BlurRadius, option.GradientAngle}, "outline": {option.OutlineWidth},
		"shadow": {option.ShadowOffset, option.ShadowBlur, option.ShadowOpacity},
	} {
		words := strings.Join(strings.Fields(properties[name].Value.Description), " ")
		for _, r := range bounds {
			if want := fmt.Sprintf("%d to %d", r.Min, r.Max); !strings.Contains(words, want) {
				t.Errorf("%s does not say %q: %s", name, want, words)
			}
		}
	}
}

// The specification and docs/api.md have the bounds of hints.
func TestHintsAreSpecified(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	text, err2 := os.ReadFile("../../../docs/api.md")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	schemas := doc.Components.Schemas
	hint, form := schemas["Hint"].Value.Properties, schemas["HintsForm"].Value.Properties["hints"].Value
	list := schemas["JobOptions"].Value.AllOf[1].Value.Properties["hints"].Value
	got := []int{int(*form.MaxLength), int(*list.MaxItems), int(*hint["stroke"].Value.MaxItems), int(*hint["radius"].Value.Max)}
	if diff := cmp.Diff([]int{option.HintBytes, option.MaxHints, option.StrokePoints, option.BrushRadius}, got); diff != "" {
		t.Errorf("bounds (-option +specification):\n%s", diff)
	}
	for _, in := range []string{form.Description, string(text)} {
		for _, want := range []string{fmt.Sprintf("%d bytes", option.HintBytes), fmt.Sprintf("at most %d ", option.MaxHints)} {
			if !strings.Contains(strings.Join(strings.Fields(in), " "), want) {
				t.Errorf("it does not say %q: %.200s", want, in)
			}
		}
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
