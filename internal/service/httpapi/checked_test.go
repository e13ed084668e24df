package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/bgremove/bgremove/pkg/api"
)

// checked is a transport that checks every answer, and every accepted request,
// against the specification.
type checked struct{ t testing.TB }

// specification is stricter than the document: no answer has a property that it
// does not name.
var specification = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		return nil, err
	}
	closed := false
	for name, schema := range doc.Components.Schemas {
		if name != "Clip" && !strings.HasSuffix(name, "Options") && !strings.HasSuffix(name, "Form") {
			schema.Value.AdditionalProperties = openapi3.AdditionalProperties{Has: &closed}
		}
		flatten(schema.Value)
	}
	for _, media := range []string{"image/gif", "image/apng", "image/webp", "image/avif", "image/png", "video/webm", "video/mp4", "video/quicktime", "text/event-stream"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.FileBodyDecoder)
	}
	return legacy.NewRouter(doc)
})

// flatten makes the properties of a form its own: of others the validator reads no lists of
// texts.
func flatten(schema *openapi3.Schema) {
	for _, part := range schema.AllOf {
		if schema.Properties == nil {
			schema.Properties = make(openapi3.Schemas)
		}
		maps.Copy(schema.Properties, part.Value.Properties)
		schema.Required = append(schema.Required, part.Value.Required...)
	}
	if len(schema.AllOf) > 0 {
		schema.Type, schema.AllOf = &openapi3.Types{openapi3.TypeObject}, nil
	}
}

func (c *checked) RoundTrip(r *http.Request) (*http.Response, error) {
	router, err := specification()
	if err != nil {
		return nil, err
	}
	var sent []byte
	if r.Body != nil {
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	whole := *response
	whole.Body = io.NopCloser(bytes.NewReader(got))
	if err := check(router, r, sent, response, got); err != nil {
		c.t.Errorf("%s %s: %d %s: %v", r.Method, r.URL.Path, response.StatusCode, got, err)
	}
	return &whole, nil
}

func check(router routers.Router, r *http.Request, sent []byte, response *http.Response, got []byte) error {
	if response.Header.Get("X-Request-Id") == "" {
		return fmt.Errorf("no request id")
	}
	asked := r.Clone(r.Context())
	asked.URL.Scheme, asked.URL.Host, asked.Host = "", "", ""
	asked.Body = io.NopCloser(bytes.NewReader(sent))
	if asked.Method == http.MethodHead && !strings.HasSuffix(asked.URL.Path, "/download") && !strings.HasSuffix(asked.URL.Path, "/preview") {
		asked.Method = http.MethodGet
	}
	route, params, err := router.FindRoute(asked)
	if err != nil || response.StatusCode == http.StatusMethodNotAllowed {
		return checkUnknown(response, got)
	}
	in := &openapi3filter.RequestValidationInput{
		Request: asked, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
	if response.StatusCode < 300 {
		if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
			return fmt.Errorf("a wrong request was accepted: %w", err)
		}
	}
	seen.Store(r.Method+" "+route.Path+" "+strconv.Itoa(response.StatusCode), true)
	if r.Method == http.MethodHead {
		return nil // no body to check
	}
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: response.StatusCode, Header: response.Header, Options: in.Options,
		Body: io.NopCloser(bytes.NewReader(got)),
	})
}

// seen are the answers in tests so far, as operation and status.
var seen sync.Map

// TestMain checks, if all tests run, that they have had every answer of the
// specification. Answers of a service in trouble are excluded, because they are
// the same everywhere.
func TestMain(m *testing.M) {
	code := m.Run()
	if flag.Lookup("test.run").Value.String() == "" && code == 0 {
		code = report(unseen())
	}
	os.Exit(code)
}

func report(missing []string, err error) (code int) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, m := range missing {
		fmt.Fprintln(os.Stderr, "no test has had the answer", m)
		code = 1
	}
	return code
}

func unseen() (missing []string, err error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Specification)
	if err != nil {
		return nil, err
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status := range op.Responses.Map() {
				if _, ok := seen.Load(method + " " + path + " " + status); !ok && status != "500" && status != "503" {
					missing = append(missing, method+" "+path+" "+status)
				}
			}
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// checkUnknown checks answers outside all operations: unknown paths, and
// unsupported methods.
func checkUnknown(response *http.Response, got []byte) error {
	var body map[string]string
	err := json.Unmarshal(got, &body)
	switch {
	case response.Request.Method == http.MethodHead:
		return nil
	case err != nil:
		return err
	case body["error"] == "":
		return fmt.Errorf("no error body")
	}
	return nil
}
