package session_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/bgremove/bgremove/internal/service/session"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, test := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"direct":                 {"203.0.113.5:40000", nil, "203.0.113.5"},
		"direct and lying":       {"203.0.113.5:40000", []string{"198.51.100.7"}, "203.0.113.5"},
		"mapped":                 {"[::ffff:203.0.113.5]:40000", nil, "203.0.113.5"},
		"by a proxy":             {"10.1.1.1:40000", []string{"203.0.113.5"}, "203.0.113.5"},
		"by two":                 {"10.1.1.1:40000", []string{"203.0.113.5, 10.2.2.2"}, "203.0.113.5"},
		"by two with two":        {"10.1.1.1:40000", []string{"203.0.113.5", "10.2.2.2"}, "203.0.113.5"},
		"by a proxy, with a lie": {"10.1.1.1:40000", []string{"198.51.100.7, 203.0.113.5"}, "203.0.113.5"},
		"with a port":            {"10.1.1.1:40000", []string{"203.0.113.5:1234"}, "203.0.113.5"},
		"of IPv6":                {"[fd00::1]:40000", []string{"[2001:db8::7]:1234"}, "2001:db8::7"},
		"proxy alone":            {"10.1.1.1:40000", nil, "10.1.1.1"},
		"nonsense":               {"10.1.1.1:40000", []string{"203.0.113.5, me"}, "10.1.1.1"},
		"a socket":               {"@", nil, "invalid IP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &http.Request{RemoteAddr: test.peer, Header: http.Header{"X-Forwarded-For": test.forwarded}}
			if got := (&session.Throttle{Proxies: proxies}).Address(r).String(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestSubnet(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{"203.0.113.5": "203.0.113.5", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64"} {
		if got := session.Subnet(netip.MustParseAddr(at)); got != want {
			t.Errorf("%s is in %s, want %s", at, got, want)
		}
	}
}

// FuzzAddress checks that a header with any text is read, and trusted only from
// a trusted proxy.
func FuzzAddress(f *testing.F) {
	f.Add("10.1.1.1:40000", "198.51.100.7, 203.0.113.5:80")
	f.Add("203.0.113.5:40000", "[2001:db8::7%eth0]:1234,,")
	f.Add("@", "::ffff:1.2.3.4")
	throttle := &session.Throttle{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	f.Fuzz(func(t *testing.T, peer, forwarded string) {
		r := &http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {forwarded}}}
		got := throttle.Address(r)
		from, err := netip.ParseAddrPort(peer)
		if err != nil {
			if got.IsValid() {
				t.Errorf("%q without an address is %s", peer, got)
			}
			return
		}
		direct := from.Addr().Unmap().WithZone("")
		if !throttle.Trusts(direct) && got != direct {
			t.Errorf("%s says that it is %s", direct, got)
		}
		if !got.IsValid() || got.Is4In6() || got.Zone() != "" {
			t.Errorf("%q by %s is %s", forwarded, peer, got)
		}
	})
}
