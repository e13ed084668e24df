package webhook

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

	"code.dny.dev/ssrf"
)

// URLError is an address that no message is sent to; Reason is for users, after the
// name of the field.
type URLError struct{ Reason string }

func (e *URLError) Error() string { return e.Reason }

// guard decides about the addresses that messages go to.
type guard struct {
	private bool // let all addresses pass
	safe    func(network, address string, c syscall.RawConn) error
}

// azure answers virtual machines of Azure at an address that is public otherwise.
var azure = netip.MustParsePrefix("168.63.129.16/32")

func newGuard(private bool) guard {
	if private {
		return guard{private: true, safe: func(string, string, syscall.RawConn) error { return nil }}
	}
	return guard{safe: ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(azure)).Safe}
}

// Bounds of an attempt. An endpoint should take a message at once and work on it
// later.
const (
	maxURL         = 2000 // bytes
	resolveTimeout = 2 * time.Second
	sendTimeout    = 10 * time.Second
	connectTimeout = 5 * time.Second
	maxHeader      = 16 << 10 // bytes of an answer's header
	maxAnswer      = 16 << 10 // bytes of an answer's body that are read
)

// newClient makes a client that connects to public addresses alone, whatever a name
// resolves to, and follows nobody elsewhere.
func newClient(g guard) *http.Client {
	dialer := &net.Dialer{Timeout: connectTimeout, Control: g.safe}
	return &http.Client{
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{ // without a proxy, whose address would be checked instead
			DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTimeout, MaxResponseHeaderBytes: maxHeader,
			MaxIdleConns: 100, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, DisableCompression: true,
		},
	}
}

// CheckURL refuses an address that no message would be sent to; the error is a
// *URLError. A name that cannot be resolved now may be later.
func (s *Service) CheckURL(ctx context.Context, text string) error {
	u, err := url.Parse(text)
	port := 0
	if err == nil && u.Port() != "" {
		port, err = strconv.Atoi(u.Port())
	}
	switch {
	case len(text) > maxURL:
		return &URLError{fmt.Sprintf("must have at most %d bytes", maxURL)}
	case err != nil, u.Hostname() == "", u.User != nil, u.Fragment != "", port < 0, port > 65535:
		return &URLError{"must be an address such as https://example.com/hook"}
	case u.Scheme != "https" && (u.Scheme != "http" || !s.guard.private):
		return &URLError{"must begin with https://"}
	case s.guard.private:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return nil
	}
	for _, ip := range found {
		if !s.guard.passes(ip.Unmap()) {
			return &URLError{"must not lead to a private or reserved address"}
		}
	}
	return nil
}

// passes reports whether messages may go to an address.
func (g guard) passes(ip netip.Addr) bool {
	network := "tcp6"
	if ip.Is4() {
		network = "tcp4"
	}
	return g.safe(network, netip.AddrPortFrom(ip, 443).String(), nil) == nil
}

// refusedAddress reports whether an error is that of the guard.
func refusedAddress(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedNetwork) || errors.Is(err, ssrf.ErrInvalidHostPort)
}
