package httpapi

import (
	"context"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/pkg/api"
)

// signIn signs an account in.
func (a *API) signIn(ctx context.Context, who account.Account) error {
	if err := a.Sessions.SignIn(ctx, who); err != nil {
		return err
	}
	r := requestFrom(ctx)
	r.account, r.owner.AccountID = who, who.ID
	a.Throttle.Devices.Remember(r.writer, who.Email)
	return nil
}

// CreateSession signs in.
func (o operations) CreateSession(ctx context.Context, in api.CreateSessionRequestObject) (api.CreateSessionResponseObject, error) {
	if err := o.Throttle.AttemptAs(requestFrom(ctx).Request, in.Body.Email); err != nil {
		return nil, err
	}
	who, err := o.Accounts.SignIn(ctx, in.Body.Email, in.Body.Password)
	if err != nil {
		return nil, err
	}
	if err := o.signIn(ctx, who); err != nil {
		return nil, err
	}
	return api.CreateSession204Response{}, nil
}

// DeleteSession signs out.
func (o operations) DeleteSession(ctx context.Context, _ api.DeleteSessionRequestObject) (api.DeleteSessionResponseObject, error) {
	if err := o.Sessions.SignOut(ctx); err != nil {
		return nil, err
	}
	return api.DeleteSession204Response{}, nil
}

// CreateAccount registers and signs in.
func (o operations) CreateAccount(ctx context.Context, in api.CreateAccountRequestObject) (api.CreateAccountResponseObject, error) {
	if !o.SignUp {
		return nil, errForbidden
	}
	if err := o.Throttle.Attempt(requestFrom(ctx).Request); err != nil {
		return nil, err
	}
	who, err := o.register(ctx, in.Body.Email, in.Body.Password)
	if err != nil {
		return nil, err
	}
	if err := o.signIn(ctx, who); err != nil {
		return nil, err
	}
	return api.CreateAccount201JSONResponse{Body: o.accountBody(who, nil)}, nil
}

// DeleteSessions signs out everywhere.
func (o operations) DeleteSessions(ctx context.Context, _ api.DeleteSessionsRequestObject) (api.DeleteSessionsResponseObject, error) {
	if err := o.Accounts.EndSessions(ctx, requestFrom(ctx).account.ID); err != nil {
		return nil, err
	}
	if err := o.Sessions.SignOut(ctx); err != nil {
		return nil, err
	}
	return api.DeleteSessions204Response{}, nil
}
