package flags

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// AddTiming adds the flags for the part of a clip, its frames and how it plays, which the
// service has too. It takes some of the formats only.
func AddTiming(f *pflag.FlagSet, o *bgremove.Options, formats []bgremove.Format) {
	f.Var((*moment)(&o.Start), "start", "keep frames from this `time` on: 1.5, 90s or 1:30.5")
	f.Var((*moment)(&o.End), "end", "keep frames before this `time`")
	f.Float64Var(&o.FPS, "fps", 0, "drop frames so that at most `n` a second are left")
	f.IntVar(&o.Quality, "quality", 0, "fidelity against size, "+Bounds("quality")+" (default: "+qualities(formats)+")")
	f.Var(&optional{&o.Loop}, "loop", "play `n` times, "+Bounds("loop")+"; 0 is for ever (default: as the input)")
}

// AddFrame adds the flag for the time of one picture.
func AddFrame(f *pflag.FlagSet, o *bgremove.Options) {
	f.Var(&optionalMoment{&o.Frame}, "frame", "make one picture, of what is shown at this `time`; the rest of the clip is not looked at")
}

// Optional is a flag for a whole number that may be left unset.
func Optional(p **int) pflag.Value { return &optional{p} }

// qualities are the defaults of the formats that are not lossless.
func qualities(formats []bgremove.Format) string {
	var all []string
	for _, f := range formats {
		if q := f.Quality(); q > 0 {
			all = append(all, fmt.Sprintf("%s %d", f, q))
		}
	}
	return strings.Join(all, ", ")
}

// moment is a flag for a time in the clip, see option.ParseTime.
type moment time.Duration

func (s *moment) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (s *moment) Type() string { return "time" }

func (s *moment) Set(text string) error {
	d, err := option.ParseTime(text)
	if err == nil {
		*s = moment(d)
	}
	return err
}

// optionalMoment is a flag for a time that may be left unset.
type optionalMoment struct{ p **time.Duration }

func (t *optionalMoment) String() string {
	if t.p == nil || *t.p == nil {
		return ""
	}
	return (*t.p).String()
}

func (t *optionalMoment) Type() string { return "time" }

func (t *optionalMoment) Set(text string) error {
	var at moment
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
