package dashboard

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/bgremove/bgremove/pkg/api"
)

// answer is the answer of a route of the API.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(p []byte) (int, error) { a.WriteHeader(http.StatusOK); return a.body.Write(p) }
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// ok reports whether the route succeeded.
func (a *answer) ok() bool { return a.status >= 200 && a.status < 300 }

// problem is the reason of a failure.
func (a *answer) problem() *problem {
	var body api.Error
	_ = json.Unmarshal(a.body.Bytes(), &body) // without JSON the status alone explains it
	return explain(a.status, body, a.header.Get("Retry-After"))
}

// call calls a route of the API in the visitor's name. A nil body sends none.
func (v *visit) call(method, path string, body any) (*answer, error) {
	var content []byte
	if body != nil {
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r := v.Clone(v.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(content)), int64(len(content))
	r.Header.Set("Content-Type", "application/json")
	return v.callAPI(r, method, path), nil
}

// forward sends the visitor's form to a route of the API, unchanged.
func (v *visit) forward(path string) *answer {
	return v.callAPI(v.Clone(v.Context()), http.MethodPost, path)
}

func (v *visit) callAPI(r *http.Request, method, path string) *answer {
	r.Method, r.URL, r.RequestURI, r.Pattern = method, &url.URL{Path: path}, path, ""
	a := &answer{header: http.Header{}}
	v.API.ServeHTTP(a, r)
	return a
}
