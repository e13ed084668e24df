package subject

// NewChoice is newChoice.
var NewChoice = newChoice
