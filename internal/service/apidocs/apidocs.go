// Package apidocs serves the API's specification: as JSON for programs, and as
// a page for people. The page is made from it and needs no script. The
// documentation site has the same in Markdown.
package apidocs

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"time"
)

//go:embed *.tmpl
var templates embed.FS

//go:embed page.css
var stylesheet []byte

// document holds bytes that are served unchanged.
type document struct {
	body         []byte
	contentType  string
	etag         string
	cacheControl string
}

// securityPolicy lets a page load nothing but its stylesheet, and forbids frames.
const securityPolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Register adds /openapi.json, /docs and the page's file below /docs/ to mux. All are made
// once, from a specification in YAML. The error means that the specification cannot be read.
func Register(mux *http.ServeMux, specification []byte) error {
	spec, err := parse(specification)
	if err != nil {
		return err
	}
	text, err := spec.indented()
	if err != nil {
		return err
	}
	html, err := render(spec, "page.html.tmpl")
	if err != nil {
		return err
	}
	mux.Handle("GET /openapi.json", newDocument([]byte(text), "application/json", "no-cache"))
	mux.Handle("GET /docs", newDocument(html, "text/html; charset=utf-8", "no-cache"))
	mux.Handle("GET "+stylePath(), newDocument(stylesheet, "text/css; charset=utf-8", "public, max-age=31536000, immutable"))
	return nil
}

func newDocument(body []byte, contentType, cacheControl string) document {
	return document{body: body, contentType: contentType, etag: `"` + digest(body) + `"`, cacheControl: cacheControl}
}

func (d document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", d.contentType)
	h.Set("Cache-Control", d.cacheControl)
	h.Set("ETag", d.etag)
	h.Set("Content-Security-Policy", securityPolicy)
	h.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.body))
}

// stylePath changes with the stylesheet, so browsers may keep the file for
// ever.
func stylePath() string { return "/docs/" + digest(stylesheet)[:16] + ".css" }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Markdown is the page of a specification in YAML for the documentation site: its
// headings are Markdown, and all below them is HTML.
func Markdown(specification []byte) ([]byte, error) {
	spec, err := parse(specification)
	if err != nil {
		return nil, err
	}
	return render(spec, "page.md.tmpl")
}

// render makes a page of the specification with one of the templates.
func render(spec node, name string) ([]byte, error) {
	p, err := readPage(spec)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Funcs(template.FuncMap{"stylesheet": stylePath, "statusText": statusText}).ParseFS(templates, "*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("template: %w", err)
	}
	return b.Bytes(), nil
}
