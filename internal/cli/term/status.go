package term

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"
)

// StatusLine is a changing line on a terminal that describes current work. A
// nil StatusLine shows nothing.
type StatusLine struct {
	s     *Streams
	shown int // characters
}

// NewStatusLine returns a line on standard error, or nil if that is not a
// terminal.
func (s *Streams) NewStatusLine() *StatusLine {
	if !IsTerminal(s.Err) {
		return nil
	}
	return &StatusLine{s: s}
}

// Set replaces the shown text, which may contain text from a stranger.
func (l *StatusLine) Set(text string) {
	if l == nil {
		return
	}
	text = Printable(text)
	n := utf8.RuneCountInString(text)
	fmt.Fprintf(l.s.Err, "\r%s%s", text, strings.Repeat(" ", max(0, l.shown-n)))
	l.shown = n
}

// Clear removes the line from the screen.
func (l *StatusLine) Clear() {
	if l != nil && l.shown > 0 {
		l.Set("")
		fmt.Fprint(l.s.Err, "\r")
		l.shown = 0
	}
}

// CanAsk reports whether somebody can answer a question.
func (s *Streams) CanAsk() bool { return IsTerminal(s.In) && IsTerminal(s.Err) }

// Ask asks a question and reports whether the answer was yes.
func (s *Streams) Ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(s.Err, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() { // reading from a terminal cannot be cancelled
		line, _ := bufio.NewReader(s.In).ReadString('\n')
		answered <- line
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.Err)
		return false, context.Cause(ctx)
	case line := <-answered:
		word := strings.ToLower(strings.TrimSpace(line))
		return word == "y" || word == "yes", nil
	}
}
