package session

import (
	"net/http"
	"net/netip"
	"strings"
)

// Address is the sender of a request: the peer, or, if that is a trusted proxy,
// the last untrusted address in X-Forwarded-For. It is invalid for a peer
// without an address, such as a Unix socket.
func (t *Throttle) Address(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := peer.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && t.Trusts(at); i-- {
		hop, err := parseHop(hops[i])
		if err != nil {
			break // a forged value that a trusted proxy passed on
		}
		at = hop
	}
	return at
}

// Trusts reports whether an address is that of a trusted proxy.
func (t *Throttle) Trusts(at netip.Addr) bool {
	for _, p := range t.Proxies {
		if p.Contains(at) {
			return true
		}
	}
	return false
}

// parseHop reads an address, with or without a port.
func parseHop(s string) (netip.Addr, error) {
	s = strings.TrimSpace(s)
	if withPort, err := netip.ParseAddrPort(s); err == nil {
		return withPort.Addr().Unmap().WithZone(""), nil
	}
	at, err := netip.ParseAddr(strings.Trim(s, "[]"))
	return at.Unmap().WithZone(""), err
}

// subnet is what limits by address count together: of IPv6 the /64,
// within which everyone chooses addresses freely.
func subnet(at netip.Addr) string {
	if !at.Is6() {
		return at.String()
	}
	p, err := at.Prefix(64)
	if err != nil {
		return at.String()
	}
	return p.String()
}
