package httpapi

import (
	"context"
	"errors"
	"log/slog"
	"net/url"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/mailer"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/api"
)

// Mail is what sends mails, and where the links in them lead.
type Mail struct {
	Mailer *mailer.Mailer
	// Outbox sends mail after the answer. Its creator runs it.
	Outbox *mailer.Outbox
	// PublicURL is where browsers reach the service.
	PublicURL *url.URL
}

// errNoMail answers where no mails are sent.
var errNoMail = &notOffered{"this service sends no mail; its operator can set a new password"}

// mayCauseCosts reports whether an account may cause costs: its address is
// confirmed, or the service cannot confirm addresses.
func (a *API) mayCauseCosts(who account.Account) bool { return who.Confirmed || a.Mail == nil }

// register creates an account. Its address must be confirmed if the service
// sends mail.
func (a *API) register(ctx context.Context, email, password string) (account.Account, error) {
	if a.Mail == nil {
		return a.Accounts.Register(ctx, email, password)
	}
	who, err := a.Accounts.SignUp(ctx, email, password)
	if err != nil {
		return account.Account{}, err
	}
	if !a.Mail.Outbox.Add(func(ctx context.Context) (mailer.Message, error) { return a.confirmation(ctx, who) }) {
		// It can be asked for again.
		a.Log.LogAttrs(ctx, slog.LevelError, "mail queue full", requestFrom(ctx).attrs()...)
	}
	return who, nil
}

// confirmation is the mail by which an address is confirmed.
func (a *API) confirmation(ctx context.Context, who account.Account) (mailer.Message, error) {
	return a.tokenMail(ctx, who, account.ConfirmToken, mailer.Confirmation)
}

// tokenMail is a mail with a link that holds a token, which goes with a mail that
// is not sent. Its path begins with the token's purpose.
func (a *API) tokenMail(ctx context.Context, who account.Account, p account.Purpose, write func(to, site, link, valid string) mailer.Message) (mailer.Message, error) {
	token, err := a.Accounts.NewToken(ctx, who.ID, p)
	if err != nil {
		return mailer.Message{}, err
	}
	site := a.Mail.PublicURL
	msg := write(who.Email, site.String(), site.JoinPath(string(p), token).String(), p.Validity())
	msg.Unsent = func(ctx context.Context) error { return a.Accounts.DropToken(ctx, token) }
	return msg, nil
}

// passwordReset is the mail with the link to set a new password. There is none
// if the account does not exist or has had too many.
func (a *API) passwordReset(ctx context.Context, email string) (mailer.Message, error) {
	who, err := a.Accounts.ByEmail(ctx, email)
	if errors.Is(err, account.ErrNotFound) {
		return mailer.Message{}, nil
	}
	if err != nil {
		return mailer.Message{}, err
	}
	msg, err := a.tokenMail(ctx, who, account.ResetToken, mailer.Reset)
	if isType[*account.LimitedError](err) {
		return mailer.Message{}, nil
	}
	return msg, err
}

// CreatePasswordReset has a mail sent after the answer, which reveals nothing.
func (o operations) CreatePasswordReset(ctx context.Context, in api.CreatePasswordResetRequestObject) (api.CreatePasswordResetResponseObject, error) {
	if o.Mail == nil {
		return nil, errNoMail
	}
	email := in.Body.Email
	if err := o.Throttle.AttemptAs(requestFrom(ctx).Request, email); err != nil {
		return nil, err
	}
	if !store.ValidText(email) {
		return nil, &formError{field: "email", reason: "must be an address such as name@example.com"}
	}
	if !o.Mail.Outbox.Add(func(ctx context.Context) (mailer.Message, error) { return o.passwordReset(ctx, email) }) {
		return nil, errNotReady
	}
	return api.CreatePasswordReset202Response{}, nil
}

// ResetPassword sets a new password.
func (o operations) ResetPassword(ctx context.Context, in api.ResetPasswordRequestObject) (api.ResetPasswordResponseObject, error) {
	if o.Mail == nil {
		return nil, errNoMail
	}
	if err := o.Throttle.Attempt(requestFrom(ctx).Request); err != nil {
		return nil, err
	}
	if _, err := o.Accounts.ResetPassword(ctx, in.Token, in.Body.Password); err != nil {
		return nil, err
	}
	return api.ResetPassword204Response{}, nil
}

// CreateConfirmation sends the mail once more. The account is known, so the
// answer may wait for it and tell.
func (o operations) CreateConfirmation(ctx context.Context, _ api.CreateConfirmationRequestObject) (api.CreateConfirmationResponseObject, error) {
	if o.Mail == nil {
		return nil, errNoMail
	}
	r := requestFrom(ctx)
	if r.account.Confirmed {
		return api.CreateConfirmation202Response{}, nil
	}
	if err := o.Throttle.AttemptSignedIn(r.Request, r.account.ID); err != nil {
		return nil, err
	}
	msg, err := o.confirmation(ctx, r.account)
	if err != nil {
		return nil, err
	}
	if err := o.Mail.Mailer.Send(ctx, msg); err != nil {
		return nil, errors.Join(errNotReady, err)
	}
	return api.CreateConfirmation202Response{}, nil
}

// ConfirmAddress notes that a mail has arrived.
func (o operations) ConfirmAddress(ctx context.Context, in api.ConfirmAddressRequestObject) (api.ConfirmAddressResponseObject, error) {
	if o.Mail == nil {
		return nil, errNoMail
	}
	if err := o.Throttle.Attempt(requestFrom(ctx).Request); err != nil {
		return nil, err
	}
	if err := o.Accounts.Confirm(ctx, in.Token); err != nil {
		return nil, err
	}
	return api.ConfirmAddress204Response{}, nil
}
