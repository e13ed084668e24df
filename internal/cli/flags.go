package cli

import (
	"errors"
	"strconv"
	"time"

	"github.com/bgremove/bgremove/pkg/option"
)

// seconds is a flag for a time in the clip, see option.ParseTime.
type seconds time.Duration

func (s *seconds) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (s *seconds) Type() string { return "time" }

func (s *seconds) Set(text string) error {
	d, err := option.ParseTime(text)
	if err == nil {
		*s = seconds(d)
	}
	return err
}

// optionalTime is a flag for a time that may be left unset.
type optionalTime struct{ p **time.Duration }

func (t *optionalTime) String() string {
	if t.p == nil || *t.p == nil {
		return ""
	}
	return (*t.p).String()
}

func (t *optionalTime) Type() string { return "time" }

func (t *optionalTime) Set(text string) error {
	var at seconds
	if err := at.Set(text); err != nil {
		return err
	}
	*t.p = (*time.Duration)(&at)
	return nil
}

// optional is a flag for a whole number that may be left unset.
type optional struct{ p **int }

func (l *optional) String() string {
	if l.p == nil || *l.p == nil {
		return ""
	}
	return strconv.Itoa(**l.p)
}

func (l *optional) Type() string { return "int" }

func (l *optional) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return errors.New("must be a whole number")
	}
	*l.p = &n
	return nil
}
