package cli

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// word is a flag for a string type; Validate checks its values.
func word[T ~string](p *T) pflag.Value { return &wordValue[T]{p} }

type wordValue[T ~string] struct{ p *T }

func (w *wordValue[T]) String() string {
	if w.p == nil {
		return ""
	}
	return string(*w.p)
}

func (w *wordValue[T]) Set(s string) error { *w.p = T(s); return nil }

func (w *wordValue[T]) Type() string { return "word" }

// sandboxValue is a flag for the sandbox of ffmpeg.
type sandboxValue struct{ p *bgremove.Sandbox }

func (v *sandboxValue) String() string {
	if v.p == nil {
		return ""
	}
	return string(*v.p)
}

func (v *sandboxValue) Type() string { return "sandbox" }

func (v *sandboxValue) Set(s string) error {
	if !slices.Contains(words["sandbox"], s) {
		return errors.New("must be one of " + strings.Join(words["sandbox"], ", "))
	}
	*v.p = bgremove.Sandbox(s)
	return nil
}

// seconds is a flag for a time in the clip: seconds (1.5), a duration (90s) or
// [hours:]minutes:seconds.
type seconds time.Duration

func (s *seconds) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (s *seconds) Type() string { return "time" }

func (s *seconds) Set(text string) error {
	if d, err := time.ParseDuration(text); err == nil {
		*s = seconds(d)
		return nil
	}
	total := 0.0
	parts := strings.Split(text, ":")
	for i, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || v < 0 || len(parts) > 3 || i > 0 && v >= 60 || v > 1e7 {
			return errors.New("must be a time such as 1.5, 90s or 1:30.5")
		}
		total = total*60 + v
	}
	*s = seconds(total * float64(time.Second))
	return nil
}

// loop is a flag for a number of plays that may be left unset.
type loop struct{ p **int }

func (l *loop) String() string {
	if l.p == nil || *l.p == nil {
		return ""
	}
	return strconv.Itoa(**l.p)
}

func (l *loop) Type() string { return "int" }

func (l *loop) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return errors.New("must be a whole number")
	}
	*l.p = &n
	return nil
}
