package option_test

import (
	"testing"
	"time"

	"github.com/bgremove/bgremove/pkg/option"
)

// Times are read to the nanosecond, though most are no binary fraction of a second.
func TestParseTime(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for text, want := range map[string]time.Duration{
		"1.001": 1001 * ms, "2.01": 2010 * ms, "4.1": 4100 * ms, "8.2": 8200 * ms, "0:08.2": 8200 * ms,
		"90s": 90 * time.Second, "1:30.5": 90500 * ms, "1:00:01": 3601 * time.Second, "1e7": 1e7 * time.Second,
	} {
		if got, err := option.ParseTime(text); got != want || err != nil {
			t.Errorf("%s is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "NaN", "Inf", "1:60", "1:2:3:4", "1e8", "9000000:0:0"} {
		if got, err := option.ParseTime(text); err == nil {
			t.Errorf("%q is taken: %v", text, got)
		}
	}
}
