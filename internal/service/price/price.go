// Package price is the price of a job in credits.
package price

import (
	"fmt"
	"math"
	"time"
)

// perSecond is the price of a started second of a clip.
const perSecond = 1

// Least is the price of the shortest clip, and of an unreadable file of a batch until
// it is refunded.
const Least = 3

// Rule states the price in words.
var Rule = fmt.Sprintf("%s for each started second of the clip, at least %d", credits(perSecond), Least)

func credits(n int) string {
	if n == 1 {
		return "1 credit"
	}
	return fmt.Sprintf("%d credits", n)
}

// Of is the price of a job on a clip of a duration. Milliseconds count, fractions of
// them do not.
func Of(duration time.Duration) int64 {
	ms := duration.Round(time.Millisecond).Milliseconds()
	return max(Least, perSecond*((ms+999)/1000))
}

// OfSeconds is Of a duration in seconds.
func OfSeconds(seconds float64) int64 {
	return Of(time.Duration(math.Round(1000*seconds)) * time.Millisecond)
}
