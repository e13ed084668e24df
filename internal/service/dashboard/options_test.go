package dashboard_test

import (
	"fmt"
	"html"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/dashboard"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/option"
)

// control is what the inputs of a form with one name offer.
type control struct {
	Values, Chosen []string // of the buttons to choose from
	Text, Min, Max string   // of a field to write in
}

// controls are those of a page, by their names.
func controls(body string) map[string]control {
	attribute := func(tag, name string) string {
		m := regexp.MustCompile(` ` + name + `="([^"]*)"`).FindStringSubmatch(tag)
		if m == nil {
			return ""
		}
		return html.UnescapeString(m[1])
	}
	all := map[string]control{}
	for _, tag := range regexp.MustCompile(`<input[^>]* name="[^>]*>`).FindAllString(body, -1) {
		name, value := attribute(tag, "name"), attribute(tag, "value")
		c := all[name]
		if attribute(tag, "type") == "radio" {
			c.Values = append(c.Values, value)
			if regexp.MustCompile(` checked>`).MatchString(tag) {
				c.Chosen = append(c.Chosen, value)
			}
		} else {
			c.Text, c.Min, c.Max = value, attribute(tag, "min"), attribute(tag, "max")
		}
		all[name] = c
	}
	return all
}

// The form has every option that a submission may give, with its words, bounds and
// default.
func TestFormHasEveryOption(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 4)
	body := s.signedIn("ada@example.com").get("/").body
	got := controls(body)
	for _, name := range job.OptionNames() {
		f, _ := option.FieldOf(name)
		want := control{Values: f.Words, Chosen: []string{f.Default}}
		switch {
		case name == "method" && strings.Contains(body, "this service has no AI"):
			want.Values = slices.DeleteFunc(slices.Clone(f.Words), func(w string) bool { return w == string(option.Rembg) })
		case name == "hints", name == "model": // which this service does not let anybody choose
			want = control{}
		case f.Truth:
			want.Values = []string{"true", "false"}
		case f.Colour:
			want = control{Text: f.Default}
		case name == "outline", name == "shadow":
			want = control{}
		case f.Span != option.Span{}:
			want = control{Min: fmt.Sprint(f.Span.Min), Max: fmt.Sprint(f.Span.Max)}
		case f.Range != option.Range{}:
			want = control{Text: f.Default, Min: strconv.Itoa(f.Range.Min), Max: strconv.Itoa(f.Range.Max)}
		}
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The form and its script have the names and the number of files from where the API
// has them.
func TestFormHasUploads(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 4)
	p := s.signedIn("ada@example.com")
	named := option.List(option.UploadExtensions(), "or")
	p.get("/").says(http.StatusOK, named+", up to", fmt.Sprintf(`data-most="%d"`, httpapi.MaxFiles), `data-named="`+named+`"`,
		`accept="`+strings.Join(option.UploadTypes(), ",")+`"`)
	script, err := os.ReadFile("assets/workbench.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range option.UploadExtensions() {
		if regexp.MustCompile(`\b` + name[1:] + `\b`).Match(script) {
			t.Errorf("workbench.js spells %s by itself", name)
		}
	}
}

// A job's page tells every option that is another than the default.
func TestOptionText(t *testing.T) {
	t.Parallel()
	base := job.DefaultOptions()
	base.CanvasW = 64
	for _, name := range job.OptionNames() {
		f, _ := option.FieldOf(name)
		other := "#123456"
		switch {
		case name == "hints":
			other = `[{"keep":true,"click":[1,2]}]`
		case f.Truth:
			other = map[string]string{"true": "false", "false": "true"}[f.Default]
		case len(f.Words) > 1:
			other = f.Words[(slices.Index(f.Words, f.Default)+1)%len(f.Words)]
		case name == "outline":
			other = "#123456,7"
		case name == "shadow":
			other = option.SoftShadow
		case f.Span != option.Span{}:
			other = "2.5"
		case f.Range != option.Range{}:
			other = strconv.Itoa(f.Range.Max)
		}
		o := base
		if known, err := o.Set(name, other); !known || err != nil {
			t.Errorf("%s=%s: %v", name, other, err)
		}
		if dashboard.OptionText(o) == dashboard.OptionText(base) {
			t.Errorf("%s=%s is not told", name, other)
		}
	}
}
