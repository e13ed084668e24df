// Package testlog keeps what tests log, to look at while it is still written.
package testlog

import (
	"strings"
	"sync"
)

// Lines is a log in memory. The zero value is empty; it is safe for concurrent
// use.
type Lines struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String is all that was written so far.
func (l *Lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
