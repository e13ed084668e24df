package simulation

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Day is the length of a simulated day.
const Day = 24 * time.Hour

// Peak is the busiest moment of a day, and PeakFactor its rate beside the mean.
const (
	Peak       = 14 * time.Hour
	PeakFactor = 1.8
)

// Kind is a kind of clip.
type Kind struct {
	Cost    int64 // in credits
	Service time.Duration
}

// spread is the standard deviation of the logarithm of service times within a kind.
const spread = 0.5

// Arrivals are clips that arrive at random over a day. Their rate follows a sine with
// its top at Peak. Each has a random account and a random kind; the mean of the
// service times is that of the kinds.
func Arrivals(random *rand.Rand, clips, accounts int, kinds []Kind) []Job {
	jobs := make([]Job, 0, clips)
	for len(jobs) < clips {
		at := random.Float64()
		angle := 2 * math.Pi * (at - float64(Peak)/float64(Day))
		if random.Float64()*PeakFactor > 1+(PeakFactor-1)*math.Cos(angle) {
			continue
		}
		k := kinds[random.IntN(len(kinds))]
		longer := math.Exp(spread*random.NormFloat64() - spread*spread/2)
		jobs = append(jobs, Job{
			Account: random.IntN(accounts), At: time.Duration(at * float64(Day)), Cost: k.Cost,
			Service: time.Duration(longer * float64(k.Service)),
		})
	}
	slices.SortFunc(jobs, byArrival)
	return jobs
}

// With adds clips that an account submits in one go.
func With(jobs []Job, random *rand.Rand, account int, at time.Duration, clips int, kinds []Kind) []Job {
	all := slices.Grow(slices.Clone(jobs), clips)
	for range clips {
		k := kinds[random.IntN(len(kinds))]
		all = append(all, Job{Account: account, At: at, Cost: k.Cost, Service: k.Service})
	}
	slices.SortStableFunc(all, byArrival)
	return all
}

func byArrival(a, b Job) int { return cmp.Compare(a.At, b.At) }

// Waits are the times from the submission to the first claim, in order, of the jobs that
// match.
func Waits(jobs []Job, outcomes []Outcome, match func(Job) bool) []time.Duration {
	var waits []time.Duration
	for i, o := range outcomes {
		if match(jobs[i]) {
			waits = append(waits, o.Started-jobs[i].At)
		}
	}
	slices.Sort(waits)
	return waits
}

// Quantile is the wait that the given share of sorted waits does not exceed; 0 of
// none.
func Quantile(waits []time.Duration, share float64) time.Duration {
	if len(waits) == 0 {
		return 0
	}
	return waits[min(len(waits)-1, int(share*float64(len(waits))))]
}
