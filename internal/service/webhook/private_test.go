package webhook_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/internal/service/webhook"
)

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
