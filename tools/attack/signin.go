package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/pkg/api"
)

var signInAttacks = []attack{
	{name: "guessed passwords", what: "strangers guess an account's password from many addresses", run: guess},
	{name: "forged X-Forwarded-For", what: "100 wrong keys from one address that claims to be 100", run: forgedAddresses},
	{name: "reset link", what: "a link that was mailed before the password was changed, and one used twice", run: resetLink},
	{name: "invisible characters", what: "addresses that look like another one", run: invisible},
}

// guess checks that strangers are slowed down, and that they do not lock out a
// browser of the owner's earlier sign-in.
func guess(ctx context.Context, t *target) (string, error) {
	owner, err := t.browser(ctx, 0)
	if err != nil {
		return "", err
	}
	// One has an account of its own, and so a device cookie that is not the
	// owner's.
	forger, err := t.browser(ctx, 0)
	if err != nil {
		return "", err
	}
	strangers := []*visitor{forger, t.stranger(), t.stranger(), t.stranger()}
	statuses, _, err := atOnce(60, func(i int) (answer, error) {
		return strangers[i%len(strangers)].signIn(ctx, owner.email, fmt.Sprint("guess number ", i))
	})
	if tried := statuses[http.StatusUnauthorized]; tried > 30 || tried+statuses[http.StatusTooManyRequests] != 60 {
		err = errors.Join(err, fmt.Errorf("statuses %v", statuses))
	}
	for _, s := range []*visitor{forger, t.stranger()} {
		got, failure := s.signIn(ctx, owner.email, owner.password)
		err = errors.Join(err, failure, got.wantLater(http.StatusTooManyRequests, api.ErrorCodeRateLimited))
	}
	at, failure := url.Parse(t.URL)
	if failure != nil {
		return "", failure
	}
	known := false
	for _, c := range owner.http.Jar.Cookies(at) {
		known = known || c.Name == session.DeviceCookie
	}
	if !known {
		return "", errors.New("the owner's browser has no cookie " + session.DeviceCookie)
	}
	got, failure := owner.signIn(ctx, owner.email, owner.password)
	err = errors.Join(err, failure, got.want(http.StatusNoContent, ""))
	return fmt.Sprintf("%d times 401, %d times 429; the owner's browser 204, others 429", statuses[http.StatusUnauthorized], statuses[http.StatusTooManyRequests]), err
}

func forgedAddresses(ctx context.Context, t *target) (string, error) {
	s := t.stranger()
	statuses, _, err := atOnce(100, func(i int) (answer, error) {
		return s.get(ctx, "/api/v1/jobs/none", "X-API-Key", "bgr_wrong", "X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i))
	})
	if tried := statuses[http.StatusUnauthorized]; tried > 25 || tried+statuses[http.StatusTooManyRequests] != 100 {
		err = errors.Join(err, fmt.Errorf("statuses %v", statuses))
	}
	return fmt.Sprintf("%d times 401, %d times 429", statuses[http.StatusUnauthorized], statuses[http.StatusTooManyRequests]), err
}

// resetLink uses a server that sends mails.
func resetLink(ctx context.Context, t *target) (_ string, err error) {
	mails, err := receiveMails()
	if err != nil {
		return "", err
	}
	defer mails.Close()
	p, err := t.newDeployment(ctx)
	if err != nil {
		return "", err
	}
	p.Set("BGREMOVE_SMTP", "smtp://"+mails.address)
	if t, err = t.serve(ctx, p, p, "api", "--mail-from", "noreply@clips.example", "--public-url", "http://clips.example"); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, t.close(ctx)) }()
	v, err := t.browser(ctx, 0)
	if err != nil {
		return "", err
	}
	old, err := mails.resetToken(ctx, v)
	if err != nil {
		return "", err
	}
	changed, err := v.json(ctx, http.MethodPut, "/api/account/password", api.PasswordChange{Current: v.password, New: "four more random words"})
	if err := errors.Join(err, changed.want(http.StatusNoContent, "")); err != nil {
		return "", err
	}
	late, err := t.reset(ctx, old)
	if err := errors.Join(err, late.want(http.StatusNotFound, api.ErrorCodeNotFound)); err != nil {
		return "", fmt.Errorf("after the change: %w", err)
	}
	token, err := mails.resetToken(ctx, v)
	if err != nil {
		return "", err
	}
	first, err := t.reset(ctx, token)
	if err := errors.Join(err, first.want(http.StatusNoContent, "")); err != nil {
		return "", fmt.Errorf("a valid link: %w", err)
	}
	twice, err := t.reset(ctx, token)
	if err := errors.Join(err, twice.want(http.StatusNotFound, api.ErrorCodeNotFound)); err != nil {
		return "", fmt.Errorf("a second time: %w", err)
	}
	ended, err := v.get(ctx, "/api/account")
	return fmt.Sprintf("%v after the change; 204 and then %v; sessions end", late, twice), errors.Join(err, ended.want(http.StatusUnauthorized, api.ErrorCodeUnauthorized))
}

// reset sets a password by a link, as a stranger.
func (t *target) reset(ctx context.Context, token string) (answer, error) {
	return t.stranger().json(ctx, http.MethodPut, "/api/password-resets/"+token, api.NewPassword{Password: "a stranger's password"})
}

// resetToken requests a link and reads the token from the mail.
func (m *mailbox) resetToken(ctx context.Context, v *visitor) (string, error) {
	got, err := v.json(ctx, http.MethodPost, "/api/password-resets", api.PasswordResetRequest{Email: v.email})
	if err := errors.Join(err, got.want(http.StatusAccepted, "")); err != nil {
		return "", err
	}
	text, err := m.next(ctx)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "http://clips.example/reset/") {
			return path.Base(strings.TrimSpace(line)), nil
		}
	}
	return "", fmt.Errorf("the mail has no link: %s", text)
}

func invisible(ctx context.Context, t *target) (string, error) {
	s := t.stranger()
	emails := []string{"ann\u200b@example.com", "ann\u00ad@example.com", "\u202eann@example.com", "ann@exam\u2060ple.com", "ann\ufe0f@example.com", "ann\u3164@example.com"}
	for _, email := range emails {
		got, err := s.json(ctx, http.MethodPost, "/api/accounts", api.Credentials{Email: email, Password: "correct horse battery staple"})
		if err := errors.Join(err, got.want(http.StatusBadRequest, api.ErrorCodeBadRequest)); err != nil {
			return "", fmt.Errorf("%+q: %w", email, err)
		}
	}
	return fmt.Sprintf("%d times 400", len(emails)), nil
}
