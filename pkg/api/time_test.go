package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
)

// TestTime checks that texts of times are in the order of the times, and come back.
func TestTime(t *testing.T) {
	t.Parallel()
	second := time.Date(2026, 11, 21, 10, 2, 11, 0, time.FixedZone("CET", 3600))
	var last string
	for _, after := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 417 * time.Millisecond, 500*time.Millisecond + 999*time.Microsecond} {
		text, err := json.Marshal(api.Time{Time: second.Add(after)})
		var back api.Time
		if err := json.Unmarshal(text, &back); err != nil || !back.Equal(second.Add(after).Truncate(time.Millisecond)) {
			t.Errorf("%s came back as %v: %v", text, back, err)
		}
		if err != nil || string(text) <= last || len(text) != len(`"2026-11-21T09:02:11.417Z"`) {
			t.Errorf("%s after %s: %v", text, last, err)
		}
		last = string(text)
	}
}
