package dashboard

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bgremove/bgremove/internal/service/account"
)

//go:embed templates
var templateFiles embed.FS

const templateExt = ".html.tmpl"

// sharedTemplates are the templates that other templates use.
var sharedTemplates = []string{"templates/layout" + templateExt, "templates/parts" + templateExt}

// parse reads every page's template together with the shared ones.
func (d *Dashboard) parse() (map[string]*template.Template, error) {
	base, err := template.New("").Funcs(d.functions()).ParseFS(templateFiles, sharedTemplates...)
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	pages := map[string]*template.Template{}
	names, err := fs.Glob(templateFiles, "templates/*"+templateExt)
	for _, name := range names {
		page := template.Must(base.Clone()) // base has not run yet
		if _, err = page.ParseFS(templateFiles, name); err != nil {
			return nil, fmt.Errorf("templates: %w", err)
		}
		pages[strings.TrimSuffix(path.Base(name), templateExt)] = page
	}
	return pages, err
}

// link is somewhere to go.
type link struct {
	Path, Name string
	Current    bool
}

var navigation = []link{
	{Path: "/", Name: "Workbench"}, {Path: "/jobs", Name: "Jobs"}, {Path: "/keys", Name: "API keys"}, {Path: "/webhooks", Name: "Webhooks"},
	{Path: "/credits", Name: "Credits"}, {Path: "/account", Name: "Account"},
}

// page is the data of the layout around every page's content.
type page struct {
	Title string
	Here  string // the path in the navigation
	Width string // a class of main
	// Script is a file for this page alone. Refresh is the number of seconds
	// after which browsers without scripts reload the page.
	Script  string
	Refresh int
	// Leave is an address that the browser goes to at once.
	Leave string

	Account                                 *account.Account
	SignedIn, Local                         bool
	Unconfirmed                             bool // whether the account must still confirm its address
	Unlimited, SignUp, Mail, WithoutNetwork bool
	WithoutHints                            bool
	Models                                  []string
	Nav                                     []link
	Problem                                 *problem
	Done                                    string
}

func (v *visit) page(title, here string) page {
	links := navigation
	if v.Local {
		links = navigation[:len(navigation)-1] // a local user has no account to change
	}
	return page{
		Title: title, Here: here, Account: v.who, SignedIn: v.who != nil, Nav: links, Local: v.Local,
		Unconfirmed: v.who != nil && v.Mail && !v.who.Confirmed,
		Unlimited:   v.Unlimited, SignUp: v.SignUp, Mail: v.Mail, WithoutNetwork: v.WithoutNetwork,
		WithoutHints: slices.Contains(v.Unguided, ""), Models: v.Models,
	}
}

// securityPolicy lets a page load only our files, and forbids frames.
const securityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// show answers with a page, or returns an error before anything is sent.
func (v *visit) show(status int, name string, data any) error {
	return v.execute(status, name, "layout", data)
}

// fragment answers with a part of a page, for scripts.
func (v *visit) fragment(status int, name string, data any) error {
	return v.execute(status, "parts", name, data)
}

func (v *visit) execute(status int, page, name string, data any) error {
	var b bytes.Buffer
	if err := v.templates[page].ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Security-Policy", securityPolicy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	return v.data(status, "text/html; charset=utf-8", b.Bytes())
}

// data answers with something that nobody keeps.
func (v *visit) data(status int, mediaType string, data []byte) error {
	h := v.w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	h.Set("Cache-Control", "no-store")
	v.w.WriteHeader(status)
	if v.Method == http.MethodHead {
		return nil
	}
	if _, err := v.w.Write(data); err != nil {
		v.Log.DebugContext(v.Context(), "answer not sent", "pattern", v.Pattern, "error", err)
	}
	return nil
}
