package httpapi_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/api"
)

// TestLedger checks the balance beside each entry, and the same data as a table
// that is safe in spreadsheets.
func TestLedger(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 100)
	c := s.signedIn("ada@example.com")
	for _, note := range []string{`=HYPERLINK("http://evil.example")`, "+1", "-1", "@SUM(A1)", "plan, \"light\""} {
		if _, err := s.ledger.Grant(t.Context(), who.ID, 5, note); err != nil {
			t.Fatal(err)
		}
	}
	made := decode[api.JobsCreated](t, c.submit(accountJobs, []field{fileField("a.gif", clip(t, 2, 10))}), http.StatusAccepted)
	page := decode[api.LedgerPage](t, c.get("/api/account/ledger?limit=3"), http.StatusOK)
	if page.Next == nil || *page.Next != page.Entries[2].ID {
		t.Fatalf("next is %v", page.Next)
	}
	rest := decode[api.LedgerPage](t, c.get("/api/account/ledger?before="+*page.Next), http.StatusOK)
	all := append(page.Entries, rest.Entries...)
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprint(e.Kind, e.Amount, " ", e.Balance, " ", e.Note))
	}
	want := []string{
		fmt.Sprintf("charge%d %d ", -price.Least, 125-price.Least), `grant5 125 plan, "light"`, "grant5 120 @SUM(A1)", "grant5 115 -1", "grant5 110 +1",
		`grant5 105 =HYPERLINK("http://evil.example")`, "grant100 100 test",
	}
	if diff := cmp.Diff(want, got); diff != "" || rest.Next != nil || all[0].Job == nil || *all[0].Job != made.Jobs[0].ID || all[1].Job != nil {
		t.Errorf("%+v (-want +got):\n%s", all, diff)
	}
	for _, query := range []string{"?limit=0", "?before="} {
		decode[api.Error](t, c.get("/api/account/ledger"+query), http.StatusBadRequest)
	}

	table := c.get("/api/account/ledger.csv")
	if table.status != http.StatusOK || table.header.Get("Content-Type") != "text/csv; charset=utf-8" ||
		table.header.Get("Content-Disposition") != `attachment; filename="bgremove-ledger.csv"` {
		t.Errorf("the table is %d %v", table.status, table.header)
	}
	var lines strings.Builder
	lines.WriteString("at,kind,amount,balance,job,note,id\r\n")
	for i, e := range all {
		job := ""
		if e.Job != nil {
			job = *e.Job
		}
		note := []string{"", `"plan, ""light"""`, "'@SUM(A1)", "'-1", "'+1", `"'=HYPERLINK(""http://evil.example"")"`, "test"}[i]
		fmt.Fprintf(&lines, "%s,%s,%d,%d,%s,%s,%s\r\n", e.At.Format(time.RFC3339Nano), e.Kind, e.Amount, e.Balance, job, note, e.ID)
	}
	if diff := cmp.Diff(lines.String(), table.body); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
}

// TestLongTable checks a table with more lines than one query reads.
func TestLongTable(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	who := s.user("ada@example.com", 1)
	if _, err := s.db.ExecContext(t.Context(), `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
		INSERT INTO ledger (id, account_id, kind, amount, job_id, note, created_at) SELECT printf('led_0%06d', i), $1, 'grant', 1, NULL, '', i FROM n`, who.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.ExecContext(t.Context(), "UPDATE accounts SET credits = 1201"); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(s.signedIn("ada@example.com").get("/api/account/ledger.csv").body), "\r\n")
	if len(lines) != 1202 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines[1:] {
		if got := strings.Split(line, ",")[3]; got != strconv.Itoa(1201-i) {
			t.Fatalf("line %d has the balance %s", i, got)
		}
	}
}
