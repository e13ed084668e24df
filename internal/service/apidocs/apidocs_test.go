package apidocs_test

import (
	"encoding/json"
	"html"
	"iter"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/apidocs"
	"github.com/bgremove/bgremove/pkg/api"
)

// handler serves the specification.
func handler(t *testing.T) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	if err := apidocs.Register(mux, api.Specification); err != nil {
		t.Fatal(err)
	}
	return mux
}

func get(t *testing.T, path string) (http.Header, string) {
	t.Helper()
	w := httptest.NewRecorder()
	handler(t).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s: %d", path, w.Code)
	}
	return w.Header(), w.Body.String()
}

// TestJSON checks that the JSON is the same document as the YAML.
func TestJSON(t *testing.T) {
	t.Parallel()
	header, body := get(t, "/openapi.json")
	if got := header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type is %q", got)
	}
	want, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	got, err := openapi3.NewLoader().LoadFromData([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(object(t, want), object(t, got)); diff != "" {
		t.Errorf("(-YAML +JSON):\n%s", diff)
	}
}

func object(t *testing.T, doc *openapi3.T) (v any) {
	t.Helper()
	raw, err := doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func specification(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// operations are those that have a section of their own, by method and path: HEAD has that
// of GET.
func operations(doc *openapi3.T) iter.Seq2[string, *openapi3.Operation] {
	return func(yield func(string, *openapi3.Operation) bool) {
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				if method != http.MethodHead && !yield(method+" "+path, op) {
					return
				}
			}
		}
	}
}

// TestPage checks that every operation, status and option is on the page.
func TestPage(t *testing.T) {
	t.Parallel()
	_, body := get(t, "/docs")
	doc := specification(t)
	for name, op := range operations(doc) {
		article := between(body, `<article id="`+op.OperationID+`">`, `</article>`)
		if article == "" {
			t.Errorf("%s is not on the page", name)
			continue
		}
		for status := range op.Responses.Map() {
			if !strings.Contains(article, ">"+status+"<") {
				t.Errorf("%s: %s is not on the page", name, status)
			}
		}
	}
	estimate := between(body, `<article id="estimate">`, `<h4>Answers</h4>`)
	if !strings.Contains(estimate, "<code>frameCount</code>") || !strings.Contains(estimate, "<code>fileUrl</code>") {
		t.Errorf("of two bodies one is not on the page: %s", estimate)
	}
	form := between(body, `<article id="createJob">`, `</article>`)
	for name := range doc.Components.Schemas["Options"].Value.Properties {
		if !strings.Contains(form, "<code>"+name+"</code>") {
			t.Errorf("option %s is not on the page", name)
		}
	}
	for _, want := range []string{
		"8 to 32", ">above 0<", "default 16", `<a href="#Job">Job</a>`, `{&#34;error&#34;:&#34;insufficient_credits&#34;,&#34;creditsRemaining&#34;:2}`,
		"-F file=@hop.mp4", "string · query", "$BGREMOVE_SERVER/api/v1/jobs/$ID/download",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}

// TestMarkdown checks that the site's page has a section for every operation, with the
// same HTML as the service's page.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	made, err := apidocs.Markdown(api.Specification)
	if err != nil {
		t.Fatal(err)
	}
	_, page := get(t, "/docs")
	text := string(made)
	for name, op := range operations(specification(t)) {
		section := strings.TrimSpace(between(text, "{ #"+op.OperationID+" }\n\n<div class=\"api\">", "\n</div>\n"))
		if !strings.HasPrefix(section, `<p class="path">`) || !strings.Contains(page, section) {
			t.Errorf("%s is %.200q", name, section)
		}
	}
	if _, err := apidocs.Markdown([]byte("a: [")); err == nil {
		t.Error("a broken specification was taken")
	}
}

// TestCommands checks that the command of each operation sends its method, and fields that it
// takes, to a path without braces, which curl would take for a pattern.
func TestCommands(t *testing.T) {
	t.Parallel()
	_, body := get(t, "/docs")
	for name, op := range operations(specification(t)) {
		command := html.UnescapeString(between(between(body, `<article id="`+op.OperationID+`">`, "</pre>"), "<code>curl", "</code>"))
		method := http.MethodGet
		if strings.Contains(command, " -F ") || strings.Contains(command, " --json ") {
			method = http.MethodPost
		}
		if _, given, ok := strings.Cut(command, " -X "); ok {
			method = strings.Fields(given)[0]
		}
		_, path, _ := strings.Cut(command, "$BGREMOVE_SERVER")
		if !strings.HasPrefix(name, method+" ") || path == "" || strings.ContainsAny(path, "{}") {
			t.Errorf("%s: curl%s", name, command)
		}
		if op.OperationID == "repeatJob" && strings.Contains(command, "file=") {
			t.Errorf("%s takes no file: curl%s", name, command)
		}
	}
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// TestPageIsClosed checks that the page runs nothing, loads nothing from
// elsewhere, and has no dead links.
func TestPageIsClosed(t *testing.T) {
	t.Parallel()
	header, body := get(t, "/docs")
	want := "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if got := header.Get("Content-Security-Policy"); got != want {
		t.Errorf("Content-Security-Policy is %q", got)
	}
	for _, bad := range []string{"<script", "style=", "src=", `href="http`, "url(", "ZgotmplZ"} {
		if strings.Contains(body, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		switch target := link[1]; {
		case strings.HasPrefix(target, "#"):
			if !strings.Contains(body, `id="`+target[1:]+`"`) {
				t.Errorf("%s leads nowhere", target)
			}
		default:
			get(t, target)
		}
	}
}

func TestNotModified(t *testing.T) {
	t.Parallel()
	header, _ := get(t, "/docs")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs", nil)
	r.Header.Set("If-None-Match", header.Get("ETag"))
	w := httptest.NewRecorder()
	handler(t).ServeHTTP(w, r)
	if w.Code != http.StatusNotModified {
		t.Errorf("status is %d, want 304", w.Code)
	}
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"", "a: [", "a: !!int x"} {
		if err := apidocs.Register(http.NewServeMux(), []byte(source)); err == nil {
			t.Errorf("%q was taken", source)
		}
	}
}
