package job_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
)

// TestUsage checks that jobs are counted on their day, and what of those that were
// refunded.
func TestUsage(t *testing.T) {
	t.Parallel()
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		today := time.Now().UTC().Truncate(24 * time.Hour)
		ids := x.submit(x.owner, x.input("a.gif", 5), x.input("b.gif", 6), x.input("c.gif", 7), x.input("d.gif", 8)).Jobs
		x.remove(ids[1].ID)
		for i, at := range []time.Time{today, today.Add(24*time.Hour - 1), today.Add(-time.Millisecond), today.Add(24 * time.Hour)} {
			x.exec("UPDATE jobs SET created_at = $1 WHERE id = $2", at.UnixMilli(), ids[i].ID)
		}
		x.submit(x.account("bob", 100), x.input("e.gif", 9))
		days, total, err := x.Usage(context.Background(), x.owner.AccountID, today, today)
		sum := job.Usage{Jobs: 2, Frames: 50, Duration: 5 * time.Second, Credits: cost(5)}
		if diff := cmp.Diff([]job.DayUsage{{Day: today, Usage: sum}}, days) + cmp.Diff(sum, total); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		days, total, err = x.Usage(context.Background(), x.owner.AccountID, today.AddDate(0, 0, -1), today.AddDate(0, 0, 1))
		if err != nil || len(days) != 3 || total.Jobs != 4 || total.Credits != cost(5)+cost(7)+cost(8) {
			t.Errorf("three days: %+v, %+v, %v", days, total, err)
		}
	})
}
