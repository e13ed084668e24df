package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/pkg/api"
)

// defaultKeyName is the name of a key without a name.
const defaultKeyName = "API key"

// GetAccount is the account that is signed in.
func (o operations) GetAccount(ctx context.Context, _ api.GetAccountRequestObject) (api.GetAccountResponseObject, error) {
	who := requestFrom(ctx).account
	keys, err := o.Keys.List(ctx, who.ID)
	if err != nil {
		return nil, err
	}
	return api.GetAccount200JSONResponse(o.accountBody(who, keys)), nil
}

// ListKeys is the active keys.
func (o operations) ListKeys(ctx context.Context, _ api.ListKeysRequestObject) (api.ListKeysResponseObject, error) {
	keys, err := o.Keys.List(ctx, requestFrom(ctx).account.ID)
	if err != nil {
		return nil, err
	}
	return api.ListKeys200JSONResponse{Keys: bodies(keys, keyBody)}, nil
}

// CreateKey makes a key and shows it, this once.
func (o operations) CreateKey(ctx context.Context, in api.CreateKeyRequestObject) (api.CreateKeyResponseObject, error) {
	if !o.mayCauseCosts(requestFrom(ctx).account) {
		return nil, errUnconfirmed
	}
	name := defaultKeyName
	if in.Body.Name != nil {
		name = *in.Body.Name
	}
	key, secret, err := o.Keys.Create(ctx, requestFrom(ctx).account.ID, name)
	if err != nil {
		return nil, err
	}
	b := keyBody(key)
	return api.CreateKey201JSONResponse{
		ID: b.ID, Name: b.Name, Prefix: b.Prefix, CreatedAt: b.CreatedAt, LastUsedAt: b.LastUsedAt, Key: secret,
	}, nil
}

// RevokeKey ends a key.
func (o operations) RevokeKey(ctx context.Context, in api.RevokeKeyRequestObject) (api.RevokeKeyResponseObject, error) {
	if err := o.Keys.Revoke(ctx, requestFrom(ctx).account.ID, in.ID); err != nil {
		return nil, err
	}
	return api.RevokeKey204Response{}, nil
}

func (a *API) accountBody(who account.Account, keys []account.Key) api.Account {
	b := api.Account{Email: who.Email, Confirmed: a.mayCauseCosts(who), Credits: int(who.Credits), Keys: bodies(keys, keyBody)}
	if who.Plan != "" {
		b.Plan = &who.Plan
	}
	return b
}

func keyBody(k account.Key) api.Key {
	b := api.Key{ID: k.ID, Name: k.Name, Prefix: k.Prefix, CreatedAt: milliseconds(k.CreatedAt)}
	if !k.LastUsedAt.IsZero() {
		used := milliseconds(k.LastUsedAt)
		b.LastUsedAt = &used
	}
	return b
}

// milliseconds is a time as the API writes it.
func milliseconds(t time.Time) api.Time { return api.Time{Time: t.UTC().Truncate(time.Millisecond)} }

// ChangePassword sets another password. All other sessions end, and this one is
// renewed.
func (o operations) ChangePassword(ctx context.Context, in api.ChangePasswordRequestObject) (api.ChangePasswordResponseObject, error) {
	r := requestFrom(ctx)
	if err := o.Throttle.AttemptSignedIn(r.Request, r.account.ID); err != nil {
		return nil, err
	}
	changed, err := o.Accounts.ChangePassword(ctx, r.account, in.Body.Current, in.Body.New)
	var field *account.FieldError
	if errors.As(err, &field) && field.Field == "password" {
		return nil, &account.FieldError{Field: "new", Reason: field.Reason}
	}
	if err != nil {
		return nil, err
	}
	if err := o.Sessions.SignIn(ctx, changed); err != nil {
		return nil, err
	}
	return api.ChangePassword204Response{}, nil
}
