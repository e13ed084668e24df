package subject

// NewChoice is newChoice, and Logarithm is logarithm.
var (
	NewChoice = newChoice
	Logarithm = logarithm
)
