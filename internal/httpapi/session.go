package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/bgremove/bgremove/internal/account"
	"github.com/bgremove/bgremove/pkg/api"
)

// sessionLife is how long a browser stays signed in.
const sessionLife = 30 * 24 * time.Hour

// What a session holds.
const (
	sessionAccount = "account"
	sessionEpoch   = "epoch"
)

func (a *API) newSessions() *scs.SessionManager {
	m := scs.New()
	m.Store = a.Sessions
	m.Lifetime = sessionLife
	m.ErrorFunc = a.refuse
	m.Cookie.Name = "bgremove_session"
	m.Cookie.HttpOnly = true
	m.Cookie.SameSite = http.SameSiteLaxMode
	m.Cookie.Secure = a.PublicURL != nil && a.PublicURL.Scheme == "https"
	return m
}

// signedIn is the account of the session that a context belongs to, or
// errSession.
func (a *API) signedIn(ctx context.Context) (account.Account, error) {
	id := a.sessions.GetString(ctx, sessionAccount)
	if id == "" {
		return account.Account{}, errSession
	}
	found, err := a.Accounts.Get(ctx, id)
	if errors.Is(err, account.ErrNotFound) {
		return account.Account{}, errSession
	}
	if err != nil {
		return account.Account{}, err
	}
	if found.Epoch != a.sessions.GetInt64(ctx, sessionEpoch) {
		return account.Account{}, errSession
	}
	return found, nil
}

// begin signs an account in, under a new token.
func (a *API) begin(ctx context.Context, who account.Account) error {
	if err := a.sessions.RenewToken(ctx); err != nil {
		return err
	}
	a.sessions.Put(ctx, sessionAccount, who.ID)
	a.sessions.Put(ctx, sessionEpoch, who.Epoch)
	r := of(ctx)
	r.account, r.owner.AccountID = who, who.ID
	return nil
}

// attempt counts a try to sign in or to register, by address and, if there is
// one, by account: hashing passwords is dear, and guessing them is not for
// programs.
func (a *API) attempt(ctx context.Context, email string) error {
	if err := a.take(ctx, "auth:"+neighbourhood(a.address(of(ctx).Request)), a.Attempts); err != nil {
		return err
	}
	if email == "" {
		return nil
	}
	return a.take(ctx, "email:"+account.Normal(email), a.Attempts)
}

// maxEmail is the longest address that mail knows (RFC 5321), in bytes.
const maxEmail = 254

// CreateSession signs in.
func (o operations) CreateSession(ctx context.Context, in api.CreateSessionRequestObject) (api.CreateSessionResponseObject, error) {
	if in.Body.Email == "" || len(in.Body.Email) > maxEmail || !plain(in.Body.Email) {
		return nil, account.ErrCredentials
	}
	if err := o.attempt(ctx, in.Body.Email); err != nil {
		return nil, err
	}
	who, err := o.Accounts.SignIn(ctx, in.Body.Email, in.Body.Password)
	if err != nil {
		return nil, err
	}
	if err := o.begin(ctx, who); err != nil {
		return nil, err
	}
	return api.CreateSession204Response{}, nil
}

// DeleteSession signs out.
func (o operations) DeleteSession(ctx context.Context, _ api.DeleteSessionRequestObject) (api.DeleteSessionResponseObject, error) {
	if err := o.sessions.Destroy(ctx); err != nil {
		return nil, err
	}
	return api.DeleteSession204Response{}, nil
}

// CreateAccount registers and signs in.
func (o operations) CreateAccount(ctx context.Context, in api.CreateAccountRequestObject) (api.CreateAccountResponseObject, error) {
	if !o.SignUp {
		return nil, errForbidden
	}
	if err := o.attempt(ctx, ""); err != nil {
		return nil, err
	}
	who, err := o.Accounts.Register(ctx, in.Body.Email, in.Body.Password)
	if err != nil {
		return nil, err
	}
	if err := o.begin(ctx, who); err != nil {
		return nil, err
	}
	return api.CreateAccount201JSONResponse{Body: accountBody(who, nil)}, nil
}
