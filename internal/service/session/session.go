// Package session manages the sign-in of browsers: it keeps the cookie's
// session, protects it from other sites, and limits attempts to sign in. The
// API's handlers and the pages share it.
package session

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/bgremove/bgremove/internal/service/account"
)

// Errors without further facts.
var (
	// ErrNone is a browser in which nobody is signed in, or not any more.
	ErrNone = errors.New("nobody is signed in")
	// ErrCrossSite is a change that a page of another site asks for.
	ErrCrossSite = errors.New("the request comes from another site")
)

// CookieName is the cookie of a session, unless Config says otherwise.
const CookieName = "bgremove_session"

// lifetime is how long a browser stays signed in.
const lifetime = 30 * 24 * time.Hour

// The keys of a session's values.
const (
	keyAccount = "account"
	keyEpoch   = "epoch"
)

// Config is what sessions work on. Store and Accounts are needed.
type Config struct {
	Store    *account.Sessions
	Accounts *account.Accounts
	// PublicURL is where browsers reach the service; nil is not known. With
	// https, cookies are Secure.
	PublicURL *url.URL
	// CookieName is for services that share a host, because browsers do not
	// separate cookies by port. Empty means the constant of that name.
	CookieName string
}

// Manager is the sessions of a service. Its methods but Middleware want the
// context of a request that has passed it. It is safe for concurrent use.
type Manager struct {
	scs      *scs.SessionManager
	store    *account.Sessions
	accounts *account.Accounts
	origins  *http.CrossOriginProtection
}

// New makes a Manager. The error is a PublicURL that is not an origin.
func New(c Config) (*Manager, error) {
	m := &Manager{store: c.Store, accounts: c.Accounts, origins: http.NewCrossOriginProtection()}
	if c.PublicURL != nil {
		if err := m.origins.AddTrustedOrigin(c.PublicURL.Scheme + "://" + c.PublicURL.Host); err != nil {
			return nil, err
		}
	}
	// Not scs.New, which starts a store in memory that nobody would stop.
	m.scs = &scs.SessionManager{
		Store: c.Store, Codec: scs.GobCodec{}, Lifetime: lifetime,
		Cookie: scs.SessionCookie{
			Name: cmp.Or(c.CookieName, CookieName), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure(c.PublicURL), Persist: true,
		},
	}
	return m, nil
}

// Middleware loads the session of a request and saves its changes. It calls
// refuse if that fails, and for requests that other sites make a browser send;
// the error then wraps ErrCrossSite.
func (m *Manager) Middleware(refuse func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	own := *m.scs
	own.ErrorFunc = refuse
	return func(next http.Handler) http.Handler {
		loaded := own.LoadAndSave(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := m.origins.Check(r); err != nil {
				refuse(w, r, errors.Join(ErrCrossSite, err))
				return
			}
			loaded.ServeHTTP(w, r)
		})
	}
}

// SignIn binds the session to an account, under a new token. After a change of
// password the session continues when it signs in with the account's new Epoch.
func (m *Manager) SignIn(ctx context.Context, who account.Account) error {
	if err := m.scs.RenewToken(ctx); err != nil {
		return err
	}
	m.scs.Put(ctx, keyAccount, who.ID)
	m.scs.Put(ctx, keyEpoch, who.Epoch)
	return nil
}

// SignOut ends the session, if there is one.
func (m *Manager) SignOut(ctx context.Context) error { return m.scs.Destroy(ctx) }

// Account is the signed-in account, or ErrNone.
func (m *Manager) Account(ctx context.Context) (account.Account, error) {
	id := m.scs.GetString(ctx, keyAccount)
	if id == "" {
		return account.Account{}, ErrNone
	}
	found, err := m.accounts.Get(ctx, id)
	if errors.Is(err, account.ErrNotFound) {
		return account.Account{}, ErrNone
	}
	if err != nil {
		return account.Account{}, err
	}
	if found.Epoch != m.scs.GetInt64(ctx, keyEpoch) {
		return account.Account{}, ErrNone
	}
	return found, nil
}

// Check is for answers that take long: ErrNone once the session has ended,
// here or elsewhere.
func (m *Manager) Check(ctx context.Context) error {
	if _, err := m.Account(ctx); err != nil {
		return err
	}
	_, found, err := m.store.FindCtx(ctx, m.scs.Token(ctx))
	if err == nil && !found {
		err = ErrNone
	}
	return err
}
