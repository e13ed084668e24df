package dashboard_test

import (
	"testing"

	"github.com/bgremove/bgremove/internal/service/dashboard"
)

func TestSentence(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"bad.gif: canvas side 70000 is over the limit":      "bad.gif: canvas side 70000 is over the limit.",
		"my clip.MP4: longer than 10m0s":                    "my clip.MP4: longer than 10m0s.",
		"outputformat: did you mean outputFormat?":          "outputformat: did you mean outputFormat?",
		"pad must be between 0 and 50":                      "Pad must be between 0 and 50.",
		"the service is not set up for it: nothing is sold": "The service is not set up for it: nothing is sold.",
		"": "",
	} {
		if got := dashboard.Sentence(message); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}
