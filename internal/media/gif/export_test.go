package gif

// Truncated reports, once Next has returned io.EOF, that the file was truncated
// or damaged: frames or pixels may be missing.
func (r *Reader) Truncated() bool { return r.parser.damaged }
