package job_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
)

// The queries by which deploy/kubernetes decides how many workers there are count what
// Stats counts: the jobs, with parts of long clips, and how long the oldest has waited; none of suspended accounts.
func TestScalingQueries(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/kubernetes/service/scaling.yaml")
	if err != nil {
		t.Fatal(err)
	}
	queries := regexp.MustCompile(`query: (SELECT .*)`).FindAllStringSubmatch(string(text), -1)
	if len(queries) != 2 {
		t.Fatalf("%d queries", len(queries))
	}
	each(t, job.Config{}, func(t *testing.T, x *fixture) {
		if !x.db.Shared() {
			t.Skip("the queries are for PostgreSQL")
		}
		asks := func(when string, jobs, minutes int) {
			t.Helper()
			var got [2]float64
			for i, q := range queries {
				if err := x.db.QueryRowContext(t.Context(), q[1]).Scan(&got[i]); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff([2]int{jobs, minutes}, [2]int{int(got[0]), int(got[1] / 60)}); diff != "" {
				t.Errorf("%s: %s", when, diff)
			}
		}
		asks("without jobs", 0, 0)
		x.submit(x.owner, x.input("a.gif", 1), x.input("b.gif", 1))
		x.exec("UPDATE jobs SET created_at = created_at - 200000")
		asks("with two", 2, 3)
		x.exec("INSERT INTO job_parts (job_id, step, n, task, state, attempt, lost) SELECT id, 'matte', 0, '{}', CASE WHEN original_name = 'a.gif' THEN 'done' ELSE 'waiting' END, 0, 0 FROM jobs")
		asks("with a part that is to be done", 3, 3)
		x.exec("DELETE FROM job_parts")
		x.exec("UPDATE accounts SET suspended_at = 1")
		asks("with a suspended account", 0, 0)
	})
}
