package media

// RecordedMost is recordedMost.
const RecordedMost = recordedMost
