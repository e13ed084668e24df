package api

import "time"

// Time is a time of the API, in UTC. Its JSON always has three digits of milliseconds, so that
// texts of times are in the order of the times.
type Time struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Truncate(time.Millisecond).Format(`"2006-01-02T15:04:05.000Z07:00"`)), nil
}
