package segment

// Doubts is doubts, and KeepSure keepSure.
var (
	Doubts   = doubts
	KeepSure = keepSure
)
