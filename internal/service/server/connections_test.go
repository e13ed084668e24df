package server_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/id"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// A node of all roles has a pool of connections to PostgreSQL, and one for each topic that it
// listens to. The documentation has the sum.
func TestConnections(t *testing.T) {
	t.Parallel()
	database, name := storetest.Postgres(t), id.New("test_")
	start(t, configuration(t, database+"&application_name="+url.QueryEscape(name)))
	ada := newCustomer(t, database, 0)
	topics := []string{"job_events", "jobs", "jobs_cancelled", "webhooks"}
	listening := "FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND application_name = '" + name + "'"
	ada.until("it listens to each topic", func() bool {
		return ada.number("SELECT COUNT(*) "+listening) >= int64(len(topics))
	})
	if n := ada.number(`SELECT COUNT(*) ` + listening + ` AND query NOT IN ('LISTEN "` + strings.Join(topics, `"', 'LISTEN "`) + `"')`); n > 0 {
		t.Errorf("it listens to %d other topics", n)
	}
	want := fmt.Sprintf("A node opens at most %d", ada.db.Stats().MaxOpenConnections+len(topics))
	for _, file := range []string{"operations.md", "scale.md"} {
		if text, err := os.ReadFile("../../../docs/" + file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q: %v", file, want, err)
		}
	}
}
