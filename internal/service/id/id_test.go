package id_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

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
