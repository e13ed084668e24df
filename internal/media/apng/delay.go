package apng

import (
	"math"
	"time"
)

const centisecond = 10 * time.Millisecond

// delayRounder turns durations into fractions of seconds. Its rounding errors do not
// add up.
type delayRounder struct {
	carry time.Duration // time that frames so far should have taken, but do not
}

// next returns the next frame's delay in seconds as num/den, both 16 bit.
//
// A whole number of centiseconds up to 655.35 s is kept to the letter, as
// num/100. Anything else is rounded, together with the error carried over, to
// 1/10000 s below 6.5 s (1/1000 s where that is exact), 1/1000 s below 65 s,
// 1/100 s below 655 s, and so on; the sum of all delays is never off by more
// than half of the coarsest unit used. Negative delays are taken as 0, and
// those over 65535 s (18 hours) as that long.
func (c *delayRounder) next(d time.Duration) (num, den uint16) {
	d = max(d, 0)
	if d%centisecond == 0 && d/centisecond <= math.MaxUint16 {
		return uint16(d / centisecond), 100
	}
	want := max(d+c.carry, 0)
	den = 1
	for _, unit := range [...]uint16{10000, 1000, 100, 10} {
		if inUnits(want, unit) <= math.MaxUint16 {
			den = unit
			break
		}
	}
	if den == 10000 && want%time.Millisecond == 0 {
		den = 1000
	}
	n := min(inUnits(want, den), math.MaxUint16)
	if c.carry += d - time.Duration(n)*time.Second/time.Duration(den); n == math.MaxUint16 && den == 1 {
		c.carry = 0
	}
	return uint16(n), den
}

// inUnits is d in units of 1/den seconds, rounded to the nearest.
func inUnits(d time.Duration, den uint16) int64 {
	unit := time.Second / time.Duration(den)
	return int64((d + unit/2) / unit)
}
