package account_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

// TestStatement checks that the running balance is right on every page of any
// size, and that it includes nothing of other accounts.
func TestStatement(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ledger := account.NewLedger(db)
		a, other := register(t, db, "ann@example.com"), register(t, db, "bob@example.com")
		var want []account.Line // newest first
		note := func(balance int64, err error, e account.Entry) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			e.AccountID = a.ID
			want = append([]account.Line{{Entry: e, Balance: balance}}, want...)
		}
		grant := func(n int64) {
			t.Helper()
			balance, err := ledger.Grant(t.Context(), a.ID, n, fmt.Sprint("no. ", n))
			note(balance, err, account.Entry{Kind: account.Grant, Amount: n, Note: fmt.Sprint("no. ", n)})
		}
		grant(100)
		for i := range 6 {
			item := account.Item{JobID: fmt.Sprint("job_", i), Credits: int64(3 + i)}
			if _, err := ledger.Grant(t.Context(), other.ID, 7, ""); err != nil {
				t.Fatal(err)
			}
			balance, err := charge(t.Context(), db, a.ID, item)
			note(balance, err, account.Entry{Kind: account.Charge, Amount: -item.Credits, JobID: item.JobID})
			if i%2 == 0 {
				balance, err := refund(t.Context(), db, a.ID, item)
				note(balance, err, account.Entry{Kind: account.Refund, Amount: item.Credits, JobID: item.JobID})
			}
		}
		grant(5)
		var all []account.Line
		for line, err := range ledger.All(t.Context(), a.ID) {
			if err != nil {
				t.Fatal(err)
			}
			line.ID, line.CreatedAt = "", time.Time{}
			all = append(all, line)
		}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("all (-want +got):\n%s", diff)
		}
		for size := 1; size <= len(want)+1; size++ {
			var got []account.Line
			for before := ""; ; {
				page, err := ledger.Statement(t.Context(), a.ID, before, size)
				if err != nil {
					t.Fatal(err)
				}
				for _, line := range page {
					before = line.ID
					if line.CreatedAt.IsZero() {
						t.Errorf("%s is of no time", line.ID)
					}
					line.Entry = account.Entry{AccountID: line.AccountID, Kind: line.Kind, Amount: line.Amount, JobID: line.JobID, Note: line.Note}
					got = append(got, line)
				}
				if len(page) < size {
					break
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("by pages of %d (-want +got):\n%s", size, diff)
			}
		}
	})
}

// BenchmarkAll reads a ledger of 20,000 entries. It may take at most ten times
// as long as one of 2,000.
func BenchmarkAll(b *testing.B) {
	for _, n := range []int{2_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			db := storetest.Open(b, storetest.SQLite(b))
			who := register(b, db, "ann@example.com")
			_, err := db.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
				INSERT INTO ledger (id, account_id, kind, amount, note, created_at) SELECT 'led_' || (100000 + i), $2, 'grant', 1, '', 0 FROM n`, n, who.ID)
			if err != nil {
				b.Fatal(err)
			}
			ledger := account.NewLedger(db)
			for b.Loop() {
				rows := 0
				for _, err := range ledger.All(b.Context(), who.ID) {
					if err != nil {
						b.Fatal(err)
					}
					rows++
				}
				if rows != n {
					b.Fatalf("%d rows", rows)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		})
	}
}
