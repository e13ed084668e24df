package flags_test

import (
	"testing"

	"github.com/bgremove/bgremove/internal/cli/flags"
)

// An option's name in JSON, and that of a header, become those of their flags.
func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"canvasW": "canvas-w", "bgColor": "bg", "outputFormat": "format", "pad": "pad",
		"Idempotency-Key": "idempotency-key", "webhook-url": "webhook-url",
	} {
		if got := flags.Name(name); got != want {
			t.Errorf("%s is --%s, want --%s", name, got, want)
		}
	}
}
