// Package price is the price of a job in credits.
package price

import (
	"fmt"
	"math"
	"time"
)

// Least is the price of the shortest clip, and of an unreadable file of a batch until
// it is refunded.
const Least = 3

// Rule states the price in words.
var Rule = fmt.Sprintf("1 credit for each started second of the clip, at least %d", Least)

// Of is the price of a job on a clip of a duration: a credit for each started
// second, at least Least. Milliseconds count, fractions of them do not.
func Of(duration time.Duration) int64 {
	ms := duration.Round(time.Millisecond).Milliseconds()
	return max(Least, (ms+999)/1000)
}

// OfSeconds is Of a duration in seconds.
func OfSeconds(seconds float64) int64 {
	return Of(time.Duration(math.Round(1000*seconds)) * time.Millisecond)
}
