package job_test

import (
	"errors"
	"testing"

	"github.com/bgremove/bgremove/internal/job"
)

func TestSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, good, bad, reason string }{
		{"method", "rembg", "AI", "must be one of auto, fast, rembg"},
		{"tolerance", "8", "7", "must be between 8 and 32"},
		{"tolerance", "32", "33", "must be between 8 and 32"},
		{"crop", "false", "no", "must be true or false"},
		{"pad", "0", "-1", "must be between 0 and 50"},
		{"pad", "50", "51", "must be between 0 and 50"},
		{"pad", "1", "1.5", "must be between 0 and 50"},
		{"canvasW", "16", "0", "must be between 16 and 4096"},
		{"canvasH", "4096", "4097", "must be between 16 and 4096"},
		{"anchor", "bottom", "top", "must be one of center, bottom"},
		{"outputFormat", "webm", "", "must be one of gif, apng, webm, mp4"},
		{"bgColor", "#AbCdEf", "#abc", "must be transparent or #rrggbb"},
		{"bgColor", "transparent", "#+12345", "must be transparent or #rrggbb"},
		{"bgColor", "#000000", "##12345", "must be transparent or #rrggbb"},
		{"trim", "true", "TRUE", "must be true or false"},
	} {
		o := job.DefaultOptions()
		if known, err := o.Set(c.field, c.good); !known || err != nil {
			t.Errorf("%s=%s: %v %v", c.field, c.good, known, err)
		}
		before := o
		known, err := o.Set(c.field, c.bad)
		var wrong *job.OptionError
		if !known || !errors.As(err, &wrong) || *wrong != (job.OptionError{Field: c.field, Reason: c.reason}) {
			t.Errorf("%s=%s: %v", c.field, c.bad, err)
		}
		if o != before {
			t.Errorf("%s=%s was taken", c.field, c.bad)
		}
	}
	o := job.DefaultOptions()
	if known, err := o.Set("file", "x"); known || err != nil {
		t.Errorf("%v %v", known, err)
	}
	_, _ = o.Set("bgColor", "#AbCdEf")
	if o.BgColor != "#abcdef" {
		t.Errorf("bgColor is %s", o.BgColor)
	}
}

func TestEffectiveFormat(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"gif", "transparent", "gif"}, {"mp4", "transparent", "gif"}, {"mp4", "#ffffff", "mp4"}, {"webm", "transparent", "webm"}} {
		if got := (job.Options{OutputFormat: c[0], BgColor: c[1]}).EffectiveFormat(); got != c[2] {
			t.Errorf("%s on %s is %s", c[0], c[1], got)
		}
	}
}
