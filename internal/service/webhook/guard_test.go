package webhook_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/internal/service/webhook"
)

// TestAddresses checks which addresses a webhook may have.
func TestAddresses(t *testing.T) {
	t.Parallel()
	x := newFixture(t, storetest.Open(t, storetest.SQLite(t)), false)
	for url, want := range map[string]string{
		"https://8.8.8.8/hook": "", "https://[2606:4700::1111]:8443/a?b=c": "",
		"http://8.8.8.8/": "https", "ftp://8.8.8.8/": "https", "8.8.8.8": "address", "https://": "address", "https:///hook": "address", "": "address",
		"https://user:pass@8.8.8.8/": "address", "https://8.8.8.8:99999/": "address", "https://8.8.8.8/#a": "address", "https://8.8.8.8/\x00": "address",
		"https://8.8.8.8/" + strings.Repeat("a", 2000): "bytes",
		"https://127.0.0.1/":                           "private", "https://localhost/": "private", "https://10.1.2.3/": "private", "https://192.168.1.1/": "private",
		"https://172.16.0.1/": "private", "https://169.254.169.254/latest/meta-data": "private", "https://168.63.129.16/": "private",
		"https://100.100.100.200/": "private", "https://0.0.0.0/": "private", "https://224.0.0.1/": "private", "https://255.255.255.255/": "private",
		"https://[::1]/": "private", "https://[::]/": "private", "https://[fe80::1]/": "private", "https://[fd00:ec2::254]/": "private",
		"https://[ff02::1]/": "private", "https://[::ffff:127.0.0.1]/": "private", "https://[64:ff9b::7f00:1]/": "private", "https://[2002:7f00:1::]/": "private",
	} {
		err := x.CheckURL(t.Context(), url)
		var bad *webhook.URLError
		if want == "" && err != nil || want != "" && (!errors.As(err, &bad) || !strings.Contains(bad.Reason, want)) {
			t.Errorf("%q: %v, want %q", url, err, want)
		}
	}
}

// TestRefusedAtConnection checks that no message goes to a private address, whatever
// was believed of it before.
func TestRefusedAtConnection(t *testing.T) {
	t.Parallel()
	x := newFixture(t, storetest.Open(t, storetest.SQLite(t)), false)
	r := receive(t, always(http.StatusOK))
	x.exec("INSERT INTO webhook_endpoints (id, account_id, url, secret, created_at) VALUES ('whe_1', $1, $2, 'whsec_AAAA', 0)", ann,
		strings.Replace(r.URL, "127.0.0.1", "localhost", 1))
	id := x.end(ann, "")
	x.run(x.Service)
	if d := x.until(id, "error IS NOT NULL"); d.Error != "it leads to a private or reserved address" || d.State != webhook.Waiting {
		t.Errorf("%+v", d)
	}
	if len(r.got) > 0 {
		t.Error("it was sent")
	}
}
