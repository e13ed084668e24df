package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/internal/service/store"
)

// visit is a request for a page.
type visit struct {
	*Dashboard
	*http.Request
	w   http.ResponseWriter
	who *account.Account // nil: nobody is signed in
}

// handler makes a page. An error becomes a page too, see fail.
type handler func(v *visit) error

// public wraps pages for everybody.
func (d *Dashboard) public(show handler) http.Handler {
	return d.Sessions.Middleware(d.refuse)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{Dashboard: d, Request: r, w: w}
		if !validQuery(r.URL.Query()) {
			v.fail(errNoPage)
			return
		}
		who, err := d.Sessions.Account(r.Context())
		switch {
		case err == nil:
			v.who = &who
		case !errors.Is(err, session.ErrNone):
			v.fail(err)
			return
		}
		if err := show(v); err != nil {
			v.fail(err)
		}
	}))
}

// validQuery reports whether the database accepts the values of a query.
func validQuery(query url.Values) bool {
	for _, values := range query {
		for _, v := range values {
			if !store.ValidText(v) {
				return false
			}
		}
	}
	return true
}

// field is a value of the query, or of the form if readForm has read one. It
// replaces FormValue, which reads bodies of any size into files.
func (v *visit) field(name string) string {
	if v.Form != nil {
		return v.Form.Get(name)
	}
	return v.URL.Query().Get(name)
}

// signedIn wraps pages for signed-in visitors, and asks others to sign in.
func (d *Dashboard) signedIn(show handler) http.Handler {
	return d.public(func(v *visit) error {
		if v.who != nil {
			if err := v.admit(); err != nil {
				return err
			}
			return show(v)
		}
		if v.isFragment() {
			v.w.WriteHeader(http.StatusUnauthorized)
			return nil
		}
		next := "/"
		if v.Method == http.MethodGet || v.Method == http.MethodHead {
			next = v.URL.RequestURI()
		}
		return v.redirect(signInPath(next))
	})
}

// admit counts a visit of a signed-in visitor. A form is counted by the route
// of the API that receives it.
func (v *visit) admit() error {
	switch {
	case v.who.Suspended:
		return account.ErrSuspended
	case v.Method == http.MethodPost:
		return nil
	}
	return v.Throttle.Request(v.Context(), v.who.ID)
}

// isFragment reports whether the request comes from a script of ours, not a
// person.
func (v *visit) isFragment() bool {
	return v.Header.Get("Sec-Fetch-Mode") == "cors" || v.Header.Get(fragmentHeader) != ""
}

// fragmentHeader is sent by our scripts, because not every browser sends
// Sec-Fetch-Mode.
const fragmentHeader = "X-Fragment"

// refuse answers if the session could not be loaded or stored, and answers
// forms from other sites.
func (d *Dashboard) refuse(w http.ResponseWriter, r *http.Request, err error) {
	(&visit{Dashboard: d, Request: r, w: w}).fail(err)
}

// redirect redirects to a path of this service, by GET.
func (v *visit) redirect(path string) error {
	v.w.Header().Set("Cache-Control", "no-store")
	http.Redirect(v.w, v.Request, path, http.StatusSeeOther)
	return nil
}

func signInPath(next string) string {
	if next == "/" {
		return "/signin"
	}
	return "/signin?next=" + url.QueryEscape(next)
}

// localPath is next if that is a path of this service, otherwise "/". A link
// must not be able to send a visitor elsewhere after signing in.
func localPath(next string) string {
	u, err := url.Parse(next)
	foreign := err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != ""
	if foreign || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsFunc(next, isDropped) {
		return "/"
	}
	return next
}

// isDropped reports characters that browsers remove from an address or read as a
// slash.
func isDropped(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }
