package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/store/storetest"
)

// TestMetricsNearby wants the numbers to be shown to this machine alone, and
// not to those for whom a proxy on it asks.
func TestMetricsNearby(t *testing.T) {
	t.Parallel()
	c := configuration(t, storetest.SQLite(t))
	n := start(t, c)
	ada := newCustomer(t, c.Database, 0)
	if got := ada.get(n.url + "/metrics"); got.status != http.StatusOK || !strings.Contains(got.body, `bgremove_jobs{state="queued"} 0`) {
		t.Errorf("got %d %s", got.status, got.body)
	}
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"} {
		if got := ada.get(n.url+"/metrics", header, "203.0.113.5"); got.status != http.StatusNotFound || strings.Contains(got.body, "bgremove_") {
			t.Errorf("with %s: %d %s", header, got.status, got.body)
		}
	}
}
