package term

// NewTestStatusLine is a line on any stream.
func NewTestStatusLine(s *Streams) *StatusLine { return &StatusLine{s: s} }
