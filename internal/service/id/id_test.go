package id_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/id"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = id.New("job_")
	}
	if !slices.IsSorted(ids) {
		t.Error("ids do not sort by the order they were made")
	}
	if n := len(slices.Compact(ids)); n != 10_000 {
		t.Errorf("%d different ids", n)
	}
	if got := ids[0]; !strings.HasPrefix(got, "job_") || len(got) != len("job_")+26 {
		t.Errorf("id %q", got)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	var (
		all  sync.Map
		wait sync.WaitGroup
	)
	for range 8 {
		wait.Go(func() {
			for range 1000 {
				if _, twice := all.LoadOrStore(id.New(""), true); twice {
					t.Error("an id came twice")
				}
			}
		})
	}
	wait.Wait()
}

// TestValid tells ids from other texts.
func TestValid(t *testing.T) {
	t.Parallel()
	good := id.New("job_")
	for text, want := range map[string]bool{
		good: true, id.Least("job_", time.Now()): true, "": false, "job_": false, "led_" + good[4:]: false, good[:len(good)-1]: false,
		good + "0": false, strings.ToUpper(good): false, "job_" + strings.Repeat("u", 26): false, "job_" + strings.Repeat("\x00", 26): false,
		good[:len(good)-1] + "\n": false, "job_" + strings.Repeat("0", 25) + "z": false,
	} {
		if id.Valid("job_", text) != want {
			t.Errorf("Valid(%q) is %v", text, !want)
		}
	}
}

// TestLeast checks that it is before the ids of its time and after earlier ones.
func TestLeast(t *testing.T) {
	t.Parallel()
	before := time.Now()
	made := id.New("job_")
	if least := id.Least("job_", before); least > made {
		t.Errorf("%s was made after %s", made, least)
	}
	if later := id.Least("job_", before.Add(time.Minute)); later < made {
		t.Errorf("%s was made a minute before %s", made, later)
	}
	if early, epoch := id.Least("job_", time.Unix(-1, 0)), id.Least("job_", time.Unix(0, 0)); early != epoch || epoch != "job_"+strings.Repeat("0", 26) {
		t.Errorf("the beginning is %s and %s", early, epoch)
	}
}
