package webhook

import "time"

// SetTimeout changes how long an endpoint may take.
func (s *Service) SetTimeout(d time.Duration) { s.client.Timeout = d }

// Attempts is how often a delivery is tried.
var Attempts = len(pauses) + 1

// Pauses is the time between the first and the last try.
func Pauses() (sum time.Duration) {
	for _, p := range pauses {
		sum += p
	}
	return sum
}
