package job

import (
	"testing"
	"time"
)

// TestClockGuard follows a service with a database whose clock jumps and
// drifts.
func TestClockGuard(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	type reading struct {
		db, here time.Duration // since the beginning, by each clock
		believed bool
	}
	for name, tt := range map[string]struct {
		last     time.Duration // before the beginning; 0: never
		readings []reading
	}{
		"a new service":         {0, []reading{{0, 0, true}, {time.Hour, time.Hour, true}}},
		"a restart":             {5 * time.Minute, []reading{{0, 0, true}}},
		"after a week":          {7 * 24 * time.Hour, []reading{{0, 0, false}, {9 * time.Minute, 9 * time.Minute, false}, {10 * time.Minute, 10 * time.Minute, true}}},
		"a leap":                {0, []reading{{0, 0, true}, {100 * time.Hour, time.Minute, false}, {100*time.Hour + 59*time.Minute, time.Hour, false}, {101 * time.Hour, time.Hour + time.Minute, true}}},
		"a leap that is undone": {0, []reading{{0, 0, true}, {100 * time.Hour, time.Minute, false}, {2 * time.Minute, 2 * time.Minute, true}}},
		"two leaps":             {0, []reading{{0, 0, true}, {100 * time.Hour, time.Minute, false}, {200 * time.Hour, 30 * time.Minute, false}, {201 * time.Hour, 80 * time.Minute, false}, {201 * time.Hour, 95 * time.Minute, true}}},
		"backwards":             {time.Minute, []reading{{-100 * time.Hour, 0, true}, {-99 * time.Hour, time.Hour, true}}},
		"a little fast":         {time.Minute, []reading{{30 * time.Minute, 0, true}, {90 * time.Minute, 50 * time.Minute, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var (
				guard clockGuard
				last  time.Time
			)
			if tt.last != 0 {
				last = begin.Add(-tt.last)
			}
			for i, l := range tt.readings {
				if got := guard.trusts(begin.Add(l.db), last, begin.Add(l.here)); got != l.believed {
					t.Errorf("reading %d: %v", i, got)
				}
			}
		})
	}
}
