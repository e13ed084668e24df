// Package dashboard serves the pages for people: a workbench, jobs, API keys,
// credits and the account. The server renders them. They work without a script;
// with one they are quicker.
//
// Pages read from account and job. Forms go through the routes of the API in
// this process. Refusals, counting and charges are thus decided in one place.
package dashboard

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/editor"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/internal/service/webhook"
)

// Config holds the services behind the pages. Sessions, Throttle, Keys, Ledger,
// Jobs, Webhooks, API, Editors, MaxFile and MaxFiles are required.
type Config struct {
	Sessions *session.Manager
	// Throttle bounds the rate at which an account requests pages.
	Throttle *session.Throttle
	Keys     *account.Keys
	Ledger   *account.Ledger
	Jobs     *job.Service
	Webhooks *webhook.Service
	// API answers the routes of pkg/api. It is without the outer handlers of
	// httpapi, which requests for pages have already passed.
	API http.Handler

	// Editors show what hints would make of clips.
	Editors *editor.Editors

	// MaxFile is the largest accepted file in bytes. MaxFiles is how many files a form may
	// send at once.
	MaxFile  int64
	MaxFiles int
	// SignUp lets everyone register; WithoutNetwork hides method rembg;
	// Unlimited means that jobs cost nothing.
	SignUp, WithoutNetwork, Unlimited bool
	// Models are the networks that a form may choose. Unguided are those that follow no
	// hints: pages offer no hints for them. "" is the network of forms that choose none.
	Models, Unguided []string
	// Local means that only the user of this machine uses the service, without
	// a password.
	Local bool
	// Finish, if set, lets the visitor end the work on a clip with the result of a job.
	Finish *Finish
	// Shop sells plans; nil sells nothing.
	Shop *billing.Service
	// Mail means that the service sends mails.
	Mail bool
	// PublicURL is the address of the service for browsers; nil takes it from
	// each request.
	PublicURL *url.URL
	// Log gets the errors of the service; nil discards them.
	Log *slog.Logger
}

// Finish takes the result that a visitor is content with.
type Finish struct {
	// Output is where it goes, in the words of a button.
	Output string
	// Take takes the result of a job. Its error is shown to the visitor.
	Take func(ctx context.Context, jobID string) error
}

// Dashboard serves the pages of one service. It is safe for concurrent use.
type Dashboard struct {
	Config
	assets    assets
	templates map[string]*template.Template
}

// New makes the pages. The error means that a template is broken.
func New(c Config) (*Dashboard, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
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

// publicPages are the pages for everybody.
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

// signedInPages are the pages for signed-in visitors.
func (d *Dashboard) signedInPages() map[string]handler {
	return map[string]handler{
		"GET /{$}":                    d.workbench,
		"GET /jobs":                   d.jobs,
		"POST /jobs":                  d.submit,
		"GET /jobs/{id}":              d.job,
		"GET /jobs/{id}/card":         d.card,
		"GET /jobs/{id}/view":         d.view,
		"POST /jobs/{id}/again":       d.again,
		"POST /jobs/{id}/cancel":      d.cancel,
		"POST /jobs/{id}/preview":     d.preview,
		"POST /jobs/{id}/finish":      d.finish,
		"GET /keys":                   d.keys,
		"POST /keys":                  d.createKey,
		"GET /keys/{id}/revoke":       d.confirmRevoke,
		"POST /keys/{id}/revoke":      d.revoke,
		"GET /webhooks":               d.webhooks,
		"POST /webhooks":              d.createWebhook,
		"POST /webhooks/{id}/remove":  d.removeWebhook,
		"POST /deliveries/{id}/again": d.redeliver,
		"GET /credits":                d.credits,
		"POST /credits/buy":           d.buy,
		"POST /credits/portal":        d.portal,
		"GET /account":                d.account,
		"POST /account/password":      d.changePassword,
		"POST /account/sessions":      d.signOutEverywhere,
		"POST /account/mail":          d.sendConfirmation,
	}
}

// NotFound answers requests for a page that does not exist.
func (d *Dashboard) NotFound() http.Handler {
	return d.public(func(*visit) error { return errNoPage })
}
