package price_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/price"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]int64{
		0: 3, time.Second: 3, 2 * time.Second: 3, 3 * time.Second: 3, 3001 * time.Millisecond: 4, 3*time.Second + 300*time.Microsecond: 3,
		9999 * time.Millisecond: 10, 10 * time.Second: 10, 10*time.Second + 600*time.Microsecond: 11, 10 * time.Minute: 600,
	} {
		if got := price.Of(d); got != want {
			t.Errorf("%v costs %d, not %d", d, got, want)
		}
	}
}

func TestOfSeconds(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]int64{0: 3, 3: 3, 3.0004: 3, 3.0006: 4, 9.999: 10, 10: 10} {
		if got := price.OfSeconds(seconds); got != want {
			t.Errorf("%v s cost %d, not %d", seconds, got, want)
		}
	}
}

// TestRule checks that hand-written texts state the same rule.
func TestRule(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../../../docs/api.md", "../../../pkg/api/openapi.yaml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), price.Rule) {
			t.Errorf("%s does not say %q", path, price.Rule)
		}
	}
}
