package pipeline

import "image"

// Seats is how many frames may be in flight.
func Seats(size image.Point, workers int, memory int64) int {
	return cap(newFlight(size, workers, memory))
}
