package httpapi

import (
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
)

// Bounds of bodies beside the files in them, in bytes.
const (
	maxJSON = 64 << 10
	maxForm = 1 << 20
	// maxEvent bounds Stripe's events, which hold an invoice at most.
	maxEvent = 1 << 20
)

// stripeWebhook receives Stripe's events. Stripe is not a browser, so sessions and
// cross-site checks do not apply.
const stripeWebhook = "/api/stripe/webhook"

// estimate takes a file, or JSON, which is kept in memory while it is read.
const estimate = "/api/v1/estimate"

// guard runs before every operation. It checks the client's identity, its rate
// and its volume, in the order of the refusals.
func (a *API) guard(next http.Handler) http.Handler {
	session := a.Sessions.Middleware(a.Refuse)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.authenticateBrowser(r); err != nil {
			a.Refuse(w, r, err)
			return
		}
		a.limitBody(next, a.maxBody(r)).ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case strings.HasPrefix(path, "/api/v1/"):
			if err := a.authenticateKey(w, r); err != nil {
				a.Refuse(w, r, err)
				return
			}
			a.limitBody(next, a.maxBody(r)).ServeHTTP(w, r)
		case path == stripeWebhook:
			w.Header().Set("Cache-Control", "no-store")
			a.limitBody(next, maxEvent).ServeHTTP(w, r)
		case strings.HasPrefix(path, "/api/"):
			w.Header().Set("Cache-Control", "no-store")
			session.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// limitBody refuses a body that is too large, at once if it says so itself.
func (a *API) limitBody(next http.Handler, most int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > most {
			a.Refuse(w, r, errTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(nil, r.Body, most)
		next.ServeHTTP(w, r)
	})
}

// maxBody is the longest body that a request can have.
func (a *API) maxBody(r *http.Request) int64 {
	switch path := r.URL.Path; {
	case path == "/api/v1/batches", path == "/api/jobs":
		return MaxFiles*a.MaxFile + maxForm
	case path == estimate && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		return maxJSON
	case strings.HasPrefix(path, "/api/v1/"):
		return a.MaxFile + maxForm
	case strings.HasPrefix(path, "/api/jobs/"):
		return maxForm
	}
	return maxJSON
}

// authenticateKey identifies the API key of a request and counts the request.
func (a *API) authenticateKey(w http.ResponseWriter, hr *http.Request) error {
	r := requestFrom(hr.Context())
	w.Header().Set("Cache-Control", "no-store")
	key, err := a.identify(hr)
	if isAny(errKey, account.ErrUnknownKey)(err) {
		if limited := a.Throttle.Attempt(hr); limited != nil {
			return limited
		}
	}
	if err != nil {
		return err
	}
	r.owner = job.Owner{AccountID: key.AccountID, KeyID: key.ID}
	d, err := a.Limiter.Take(hr.Context(), "key:"+key.ID, a.Rate)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(d.Limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(d.Remaining))
	h.Set("X-RateLimit-Reset", strconv.Itoa(seconds(d.Reset)))
	if !d.Allowed {
		return &account.LimitedError{RetryAfter: d.RetryAfter}
	}
	return a.Throttle.Request(hr.Context(), key.AccountID)
}

// identify is the key in the headers of a request.
func (a *API) identify(r *http.Request) (account.Key, error) {
	var secret string
	for _, given := range credentials(r.Header) {
		if secret != "" && subtle.ConstantTimeCompare([]byte(secret), []byte(given)) == 0 {
			return account.Key{}, errKey
		}
		secret = given
	}
	if secret == "" {
		return account.Key{}, errKey
	}
	return a.Keys.Identify(r.Context(), secret)
}

// credentials are the keys in both headers. Other ways to authenticate are for
// others.
func credentials(h http.Header) []string {
	var all []string
	for _, v := range h.Values("Authorization") {
		if scheme, secret, ok := strings.Cut(v, " "); ok && strings.EqualFold(scheme, "bearer") {
			all = append(all, strings.TrimSpace(secret))
		}
	}
	for _, v := range h.Values("X-Api-Key") {
		all = append(all, strings.TrimSpace(v))
	}
	return all
}

// authenticateBrowser finds the account that is signed in, if the operation is for
// one.
func (a *API) authenticateBrowser(hr *http.Request) error {
	if isPublic(hr.URL.Path) {
		return nil
	}
	signedIn, err := a.Sessions.Account(hr.Context())
	if err != nil {
		return err
	}
	r := requestFrom(hr.Context())
	r.account, r.owner = signedIn, job.Owner{AccountID: signedIn.ID}
	if signedIn.Suspended {
		return account.ErrSuspended
	}
	return a.Throttle.Request(hr.Context(), signedIn.ID)
}

// isPublic reports whether a browser operation is also for visitors who are
// not signed in: it signs in, or expects a mailed token.
func isPublic(path string) bool {
	switch path {
	case "/api/session", "/api/accounts", "/api/password-resets":
		return true
	}
	return strings.HasPrefix(path, "/api/password-resets/") || strings.HasPrefix(path, "/api/confirmations/")
}
