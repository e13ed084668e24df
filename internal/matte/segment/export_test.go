package segment

// Doubts is doubts.
var Doubts = doubts
