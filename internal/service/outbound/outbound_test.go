package outbound_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/outbound"
)

// TestAddresses checks which addresses users may give.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://8.8.8.8/hook": "", "https://[2606:4700::1111]:8443/a?b=c": "",
		"http://8.8.8.8/": "https", "ftp://8.8.8.8/": "https", "8.8.8.8": "address", "https://": "address", "https:///hook": "address", "": "address",
		"https://user:pass@8.8.8.8/": "address", "https://8.8.8.8:99999/": "address", "https://8.8.8.8/#a": "address", "https://8.8.8.8/\x00": "address",
		"https://8.8.8.8/\xff": "address", "https://8.8.8.8/é": "",
		"https://8.8.8.8/" + strings.Repeat("a", 2000): "bytes",
		"https://127.0.0.1/":                           "private", "https://localhost/": "private", "https://10.1.2.3/": "private", "https://192.168.1.1/": "private",
		"https://172.16.0.1/": "private", "https://169.254.169.254/latest/meta-data": "private", "https://168.63.129.16/": "private",
		"https://100.100.100.200/": "private", "https://0.0.0.0/": "private", "https://224.0.0.1/": "private", "https://255.255.255.255/": "private",
		"https://[::1]/": "private", "https://[::]/": "private", "https://[fe80::1]/": "private", "https://[fd00:ec2::254]/": "private",
		"https://[ff02::1]/": "private", "https://[::ffff:127.0.0.1]/": "private", "https://[64:ff9b::7f00:1]/": "private", "https://[2002:7f00:1::]/": "private",
	} {
		err := outbound.Public().CheckURL(t.Context(), url)
		var bad *outbound.URLError
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || !strings.Contains(bad.Reason, want)) {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
	if err := outbound.Private().CheckURL(t.Context(), "http://127.0.0.1:1/"); err != nil {
		t.Errorf("a private guard: %v", err)
	}
}

// TestClient checks that a client reaches no private address by any name, and follows
// no redirect.
func TestClient(t *testing.T) {
	t.Parallel()
	reached := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer s.Close()
	for _, url := range []string{s.URL, strings.Replace(s.URL, "127.0.0.1", "localhost", 1)} {
		answer, err := outbound.Public().Client(time.Minute).Get(url)
		if err == nil {
			_ = answer.Body.Close()
		}
		if !outbound.Refused(err) || reached > 0 {
			t.Errorf("%s: %v, reached %d times", url, err, reached)
		}
	}
	answer, err := outbound.Private().Client(time.Minute).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusFound || reached != 1 {
		t.Errorf("%s, reached %d times", answer.Status, reached)
	}
}
