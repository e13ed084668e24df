// Package outbound makes requests to addresses that users give. It connects to public
// addresses alone, whatever a name resolves to, and follows no redirects, so that nobody
// reaches the service's own network through it.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"
	"unicode/utf8"

	"code.dny.dev/ssrf"
)

// MaxURL is how long an address may be, in bytes.
const MaxURL = 2000

const (
	resolveTimeout = 2 * time.Second
	connectTimeout = 5 * time.Second
	maxHeader      = 16 << 10 // bytes of an answer's header
)

// URLError is an address that no request is sent to; Reason is for users, after the
// name of the field.
type URLError struct{ Reason string }

func (e *URLError) Error() string { return e.Reason }

// Guard decides about the addresses that requests go to.
type Guard struct {
	private bool
	safe    func(network, address string, c syscall.RawConn) error
}

// azure answers virtual machines of Azure at an address that is public otherwise.
var azure = netip.MustParsePrefix("168.63.129.16/32")

// Public is a guard that lets https requests to public addresses pass.
func Public() *Guard {
	return &Guard{safe: ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azure)).Safe}
}

// Private is a guard that lets http and https requests to any address pass.
func Private() *Guard {
	return &Guard{private: true, safe: func(string, string, syscall.RawConn) error { return nil }}
}

// Client makes a client that connects only where the guard lets it, and follows no
// redirects. The timeout is of a whole request; 0 is none.
func (g *Guard) Client(timeout time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: connectTimeout, Control: g.safe}
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{ // without a proxy, whose address would be checked instead
			DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout, MaxResponseHeaderBytes: maxHeader,
			MaxIdleConns: 100, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, DisableCompression: true,
		},
	}
}

// CheckURL refuses an address that no request would be sent to; the error is a
// *URLError. A name that cannot be resolved now may be later.
func (g *Guard) CheckURL(ctx context.Context, text string) error {
	u, err := url.Parse(text)
	port := 0
	if err == nil && u.Port() != "" {
		port, err = strconv.Atoi(u.Port())
	}
	switch {
	case len(text) > MaxURL:
		return &URLError{fmt.Sprintf("must have at most %d bytes", MaxURL)}
	case err != nil, !utf8.ValidString(text), u.Hostname() == "", u.User != nil, u.Fragment != "", port < 0, port > 65535:
		return &URLError{"must be an address such as https://example.com/path"}
	case u.Scheme != "https" && (u.Scheme != "http" || !g.private):
		return &URLError{"must begin with https://"}
	case g.private:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil
	}
	for _, ip := range found {
		if !g.passes(ip.Unmap()) {
			return &URLError{"must not lead to a private or reserved address"}
		}
	}
	return nil
}

// passes reports whether requests may go to an address.
func (g *Guard) passes(ip netip.Addr) bool {
	network := "tcp6"
	if ip.Is4() {
		network = "tcp4"
	}
	return g.safe(network, netip.AddrPortFrom(ip, 443).String(), nil) == nil
}

// Refused reports whether a client's error is that of its guard.
func Refused(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) || errors.Is(err, ssrf.ErrInvalidHostPort)
}
