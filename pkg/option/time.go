package option

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var errTime = errors.New("must be a time such as 1.5, 90s or 1:30.5")

// ParseTime reads a time in a clip: seconds (1.5), a duration (90s) or
// [hours:]minutes:seconds.
func ParseTime(text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	total := 0.0
	parts := strings.Split(text, ":")
	for i, part := range parts {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0) || len(parts) > 3 || i > 0 && v >= 60 {
			return 0, errTime
		}
		total = total*60 + v
	}
	if total > longest.Seconds() {
		return 0, errTime
	}
	return Seconds(total), nil
}

// longest is a time after the end of all clips.
const longest = 1e7 * time.Second

// Seconds is a time of a number of seconds, to the nanosecond.
func Seconds(v float64) time.Duration { return time.Duration(math.Round(v * float64(time.Second))) }

// secondsText is the number of seconds of a time.
func secondsText(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// Kept is how much Start and End keep of a clip of a duration, which decides the price.
func (o Options) Kept(clip time.Duration) time.Duration {
	if o.End > 0 && o.End < clip {
		clip = o.End
	}
	return max(0, clip-o.Start)
}

// CheckPart refuses, by an *Error, a Start that leaves nothing of a clip of a duration.
func (o Options) CheckPart(clip time.Duration) error {
	if o.Start > 0 && o.Start >= clip {
		return &Error{Field: "start", Reason: fmt.Sprintf("must come before the end of the clip at %s s", secondsText(clip))}
	}
	return nil
}
