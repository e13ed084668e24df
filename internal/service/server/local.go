package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/session"
)

// LocalEmail is the one account of a local service. Its password is nobody's.
const LocalEmail = "local@localhost"

// localPath is where a browser signs in with the token.
const localPath = "/local"

// local lets the user of this machine sign in without an account of theirs, as
// notebook servers do: by a token in an address, which works once.
type local struct {
	accounts *account.Accounts
	sessions *session.Manager
	refuse   func(http.ResponseWriter, *http.Request, error)
	mu       sync.Mutex
	token    string // empty once used
}

// newToken is 256 random bits, as text.
func newToken() string { return rand.Text() + rand.Text() }

// account is the local account, which is created if it does not exist.
func (l *local) account(ctx context.Context) (account.Account, error) {
	found, err := l.accounts.ByEmail(ctx, LocalEmail)
	if !errors.Is(err, account.ErrNotFound) {
		return found, err
	}
	made, err := l.accounts.Register(ctx, LocalEmail, account.NewPassword())
	if errors.Is(err, account.ErrEmailTaken) { // by another process, just now
		return l.accounts.ByEmail(ctx, LocalEmail)
	}
	return made, err
}

// redeem reports whether a token is valid, and invalidates it.
func (l *local) redeem(token string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(l.token)) == 0 {
		return false
	}
	l.token = ""
	return true
}

// handler signs a browser in that has the token. One that is signed in needs
// none, so that the address can be opened again.
func (l *local) handler() http.Handler {
	return l.sessions.Middleware(l.refuse)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		if r.Method == http.MethodHead { // sent by clients that only check the link
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, err := l.sessions.Account(r.Context())
		if errors.Is(err, session.ErrNone) {
			if !l.redeem(r.URL.Query().Get("token")) {
				http.Error(w, tokenRefused, http.StatusForbidden)
				return
			}
			err = l.signIn(r.Context())
		}
		if err != nil {
			l.refuse(w, r, err)
			return
		}
		http.Redirect(w, r, firstPage(r.URL.Query().Get("job")), http.StatusSeeOther)
	}))
}

// firstPage is the page of a job, or the workbench without one.
func firstPage(jobID string) string {
	if job.IsID(jobID) {
		return "/jobs/" + jobID
	}
	return "/"
}

const tokenRefused = `This address has been used already, or is of an earlier start: it works once, in one browser.

For a new one, stop bgremove with Ctrl-C, start it again and open the address that it prints.
Your jobs stay.`

func (l *local) signIn(ctx context.Context) error {
	who, err := l.account(ctx)
	if err != nil {
		return err
	}
	return l.sessions.SignIn(ctx, who)
}

// signInURL is the address that a browser at this machine opens first.
func (l *local) signInURL(at net.Addr) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := url.URL{Scheme: "http", Host: at.String(), Path: localPath, RawQuery: url.Values{"token": {l.token}}.Encode()}
	return u.String()
}

// onlyLoopback refuses requests under names other than this machine's own. A
// foreign page with a name that leads here (DNS rebinding) must not reach a
// local service.
func onlyLoopback(h http.Handler, refuse func(http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopbackHost(r.Host) {
			refuse(w)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// loopbackHost reports whether a host, with or without a port, is this machine
// by name or address.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && at.Unmap().IsLoopback()
}

// CheckLocal refuses an address that a local service may not listen at.
func CheckLocal(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || !loopbackHost(host) {
		return fmt.Errorf("%q is not a loopback address such as 127.0.0.1:8080", addr)
	}
	return nil
}
