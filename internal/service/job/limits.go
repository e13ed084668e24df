package job

import (
	"fmt"
	"strconv"
	"time"

	"github.com/dustin/go-humanize/english"
)

// Limits bound the clips that are taken. Zero fields bound nothing.
type Limits struct {
	MaxDuration  time.Duration
	MaxDimension int   // pixels of a side
	MaxPixels    int64 // width × height × frames
	// MaxFPS is frames a second, counted over at least a second. One frame more
	// is let pass: durations are rounded, and a clip ends with a frame.
	MaxFPS int
	// PixelRate is the number of pixels, of all frames, that are processed in a
	// second. A clip that would need more time than an attempt may take is
	// refused. It is measured, see docs/operations.md.
	PixelRate int64
	// TimeLimit is Config.TimeLimit.
	TimeLimit time.Duration
}

// DefaultLimits are those of a service, without TimeLimit.
func DefaultLimits() Limits {
	return Limits{MaxDuration: 10 * time.Minute, MaxDimension: 4096, MaxPixels: 40e9, MaxFPS: 240, PixelRate: 16e6}
}

// LimitError is a clip beyond a limit; its message is for users.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

// Check names the first limit that a clip is over.
func (l Limits) Check(m Media) error {
	pixels := m.pixels()
	seconds := max(time.Second, m.Duration).Seconds()
	over := func(format string, a ...any) error { return &LimitError{fmt.Sprintf(format, a...)} }
	switch {
	case l.MaxDuration > 0 && m.Duration > l.MaxDuration:
		return over("the duration of %s is over the limit of %s", SpanText(m.Duration), SpanText(l.MaxDuration))
	case l.MaxDimension > 0 && max(m.Width, m.Height) > l.MaxDimension:
		return over("a picture of %d×%d is over the limit of %d pixels a side", m.Width, m.Height, l.MaxDimension)
	case l.MaxPixels > 0 && pixels > l.MaxPixels:
		return over("%d pixels in all frames are over the limit of %d", pixels, l.MaxPixels)
	case l.MaxFPS > 0 && float64(m.FrameCount-1) > float64(l.MaxFPS)*seconds:
		return over("%.1f frames a second are over the limit of %d", float64(m.FrameCount)/seconds, l.MaxFPS)
	}
	if l.PixelRate == 0 || l.TimeLimit == 0 {
		return nil
	}
	limit := timeLimit(l.TimeLimit, m.Duration)
	if most := limit.Seconds() * float64(l.PixelRate); float64(pixels) > most {
		return over("the clip would take too long: its frames have %d pixels in all, and the limit for its duration is %.0f", pixels, most)
	}
	return nil
}

// SpanText shows a time to people, in the largest unit that divides it: days from two on, then
// hours, minutes and seconds, or else in a part of seconds.
func SpanText(d time.Duration) string {
	for _, unit := range []struct {
		name        string
		size, least time.Duration
	}{{"day", 24 * time.Hour, 48 * time.Hour}, {"hour", time.Hour, time.Hour}, {"minute", time.Minute, time.Minute}, {"second", time.Second, 0}} {
		if d >= unit.least && d%unit.size == 0 {
			return english.Plural(int(d/unit.size), unit.name, "")
		}
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " seconds"
}

// TimePerDuration is the variable part of what bounds an attempt.
const TimePerDuration = 20

// timeLimit is how long an attempt at a clip of a duration may take.
func timeLimit(fixed, duration time.Duration) time.Duration { return fixed + TimePerDuration*duration }
