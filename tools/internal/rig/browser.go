package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/pkg/api"
)

// Browser is signed in to an account, on all nodes of a deployment. It is safe for
// concurrent use.
type Browser struct {
	cookie *http.Cookie
	http   *http.Client
}

// Browser gives an account a new password and signs in with it at a node.
func (p *Deployment) Browser(ctx context.Context, url, email string) (*Browser, error) {
	password, err := p.Admin(ctx, "account", "reset", email)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(api.Credentials{Email: email, Password: strings.TrimSpace(string(password))})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/session", strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	b := &Browser{http: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	answer, err := b.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	for _, c := range answer.Cookies() {
		if c.Name == session.CookieName {
			b.cookie = c
			return b, nil
		}
	}
	return nil, fmt.Errorf("sign in as %s: %w", email, &StatusError{Code: answer.StatusCode})
}

// Webhook has the ends of all jobs of the account sent to an address.
func (b *Browser) Webhook(ctx context.Context, url, to string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/api/account/webhooks", strings.NewReader(`{"url":"`+to+`"}`))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.AddCookie(b.cookie)
	answer, err := b.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		return fmt.Errorf("create a webhook: %w", &StatusError{Code: answer.StatusCode})
	}
	return nil
}

// Events is an open stream of an account's events.
type Events struct {
	body  io.ReadCloser
	lines *bufio.Scanner
}

// Events opens a stream at a node, and waits until it is ready. The caller must
// close it.
func (b *Browser) Events(ctx context.Context, url string) (*Events, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/jobs/events", nil)
	if err != nil {
		return nil, err
	}
	r.AddCookie(b.cookie)
	answer, err := b.http.Do(r) //nolint:bodyclose // Events.Close does
	if err != nil {
		return nil, err
	}
	e := &Events{answer.Body, bufio.NewScanner(answer.Body)}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(&StatusError{Code: answer.StatusCode}, e.Close())
	}
	if name, _, err := e.next(); err != nil || name != "ready" {
		return nil, errors.Join(fmt.Errorf("a stream begins with %q: %w", name, err), e.Close())
	}
	return e, nil
}

// Job waits for the next change of a job.
func (e *Events) Job() (j api.AccountJob, err error) {
	name, data, err := e.next()
	if err != nil {
		return j, err
	}
	if name != "job" {
		return j, fmt.Errorf("an event %q", name)
	}
	return j, json.Unmarshal([]byte(data), &j)
}

// next returns the next event.
func (e *Events) next() (name, data string, err error) {
	for e.lines.Scan() {
		field, value, _ := strings.Cut(e.lines.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "data":
			return name, value, nil
		}
	}
	return "", "", errors.Join(io.ErrUnexpectedEOF, e.lines.Err())
}

// Close ends the stream.
func (e *Events) Close() error { return e.body.Close() }
