package dashboard_test

import (
	"testing"

	"github.com/bgremove/bgremove/internal/service/dashboard"
)

func TestSentence(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"bad.gif: canvas side 70000 is over the limit":      "bad.gif: canvas side 70000 is over the limit.",
		"my clip.MP4: longer than 10 minutes":               "my clip.MP4: longer than 10 minutes.",
		"outputformat: did you mean outputFormat?":          "outputformat: did you mean outputFormat?",
		"pad must be between 0 and 50":                      "Pad must be between 0 and 50.",
		"the service is not set up for it: nothing is sold": "The service is not set up for it: nothing is sold.",
		"öl im meer cannot be read":                         "Öl im meer cannot be read.",
		"":                                                  "",
	} {
		if got := dashboard.Sentence(message); got != want {
			t.Errorf("%q becomes %q, want %q", message, got, want)
		}
	}
}

func TestRetryText(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[string]string{
		"1": "a second", "2": "2 seconds", "60": "60 seconds", "120": "120 seconds", "121": "3 minutes", "3599": "1 hour",
		"3600": "1 hour", "7200": "2 hours", "7201": "3 hours", "86399": "24 hours", "172801": "49 hours",
	} {
		if got := dashboard.RetryText(seconds); got != "Try again in "+want+"." {
			t.Errorf("%s: %q, want %q", seconds, got, want)
		}
	}
	if got := dashboard.RetryText(""); got != "Try again later." {
		t.Errorf("without seconds: %q", got)
	}
}
