// Package dashboard is the service's pages for people: a workbench, jobs, API
// keys, credits and the account. They are made on the server and work without
// a script; with one they are quicker.
//
// Pages read from account and job. What a form changes goes through the routes
// of the API in this process, so that what is refused, counted and charged is
// decided in one place.
package dashboard

import (
	"html/template"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/bgremove/bgremove/internal/account"
	"github.com/bgremove/bgremove/internal/billing"
	"github.com/bgremove/bgremove/internal/job"
	"github.com/bgremove/bgremove/internal/session"
)

// Config is what the pages work on. Sessions, Throttle, Keys, Ledger, Jobs and
// API are needed.
type Config struct {
	Sessions *session.Manager
	// Throttle bounds how often an account asks for pages.
	Throttle *session.Throttle
	Keys     *account.Keys
	Ledger   *account.Ledger
	Jobs     *job.Service
	// API answers the routes of pkg/api. Requests for pages have passed what
	// httpapi puts around them, and reach it inside of that.
	API http.Handler

	// MaxFile is the largest file that is taken, in bytes; 0 is 200 × 10^6.
	MaxFile int64
	// SignUp lets everyone register; WithoutNetwork hides method rembg;
	// Unlimited says that jobs cost nothing.
	SignUp, WithoutNetwork, Unlimited bool
	// Local is a service for the user of this machine alone, who has no password.
	Local bool
	// Shop sells plans; nil: nothing is sold here.
	Shop *billing.Service
	// Mail says that the service sends mails.
	Mail bool
	// PublicURL is where browsers reach the service; nil is as they say.
	PublicURL *url.URL
	// Log gets the errors of the service; nil discards them.
	Log *slog.Logger
}

// Dashboard is the pages of one service. It is safe for concurrent use.
type Dashboard struct {
	Config
	assets    assets
	templates map[string]*template.Template
}

// New makes the pages. The error is of a template.
func New(c Config) (*Dashboard, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.MaxFile == 0 {
		c.MaxFile = 200e6
	}
	a, err := newAssets()
	if err != nil {
		return nil, err
	}
	d := &Dashboard{Config: c, assets: a}
	d.templates, err = d.parse()
	return d, err
}

// Register adds the pages to mux.
func (d *Dashboard) Register(mux *http.ServeMux) {
	mux.Handle("GET "+d.assets.prefix, d.assets)
	for pattern, show := range d.publicPages() {
		mux.Handle(pattern, d.public(show))
	}
	for pattern, show := range d.signedInPages() {
		mux.Handle(pattern, d.signedIn(show))
	}
}

// publicPages are for everybody.
func (d *Dashboard) publicPages() map[string]handler {
	return map[string]handler{
		"GET /signin":           d.showSignIn,
		"POST /signin":          d.signIn,
		"POST /signout":         d.signOut,
		"GET /signup":           d.showSignUp,
		"POST /signup":          d.signUp,
		"GET /reset":            d.showReset,
		"POST /reset":           d.reset,
		"GET /reset/{token}":    d.showNewPassword,
		"POST /reset/{token}":   d.newPassword,
		"GET /confirm/{token}":  d.showConfirm,
		"POST /confirm/{token}": d.confirm,
	}
}

// signedInPages are for who is signed in.
func (d *Dashboard) signedInPages() map[string]handler {
	return map[string]handler{
		"GET /{$}":               d.workbench,
		"GET /jobs":              d.jobs,
		"POST /jobs":             d.submit,
		"GET /jobs/{id}":         d.job,
		"GET /jobs/{id}/card":    d.card,
		"GET /jobs/{id}/view":    d.view,
		"POST /jobs/{id}/again":  d.again,
		"GET /keys":              d.keys,
		"POST /keys":             d.createKey,
		"GET /keys/{id}/revoke":  d.askRevoke,
		"POST /keys/{id}/revoke": d.revoke,
		"GET /credits":           d.credits,
		"POST /credits/buy":      d.buy,
		"POST /credits/portal":   d.portal,
		"GET /account":           d.account,
		"POST /account/password": d.changePassword,
		"POST /account/sessions": d.signOutEverywhere,
		"POST /account/mail":     d.sendConfirmation,
	}
}

// NotFound answers people who ask for a page that does not exist.
func (d *Dashboard) NotFound() http.Handler {
	return d.public(func(*visit) error { return errNoPage })
}
