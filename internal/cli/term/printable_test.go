package term_test

import (
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/cli/term"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"clip.gif": "clip.gif", "Überraschung 🐱.gif": "Überraschung 🐱.gif",
		"\x1b[31mred": "�[31mred", "a\rb\nc\td": "a�b�c�d", "gif.\u202eexe": "gif.�exe", "\u009b2J": "�2J", "a\u2028b": "a�b",
		"not UTF-8: \xff": "not UTF-8: �",
	} {
		if got := term.Printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// A message may contain text from a stranger.
func TestMessage(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	s := &term.Streams{Err: &out}
	s.Message("%s: no such file\nand more", "\x1b]0;title\x07.gif")
	s.Hint("try \x1b[2J")
	if want := "bgremove: �]0;title�.gif: no such file\nand more\nhint: try �[2J\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// So may a line about the work: the state of a job, for one.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	line := term.NewTestStatusLine(&term.Streams{Err: &out})
	line.Set("job_7: \x1b[2J")
	line.Set("job_7")
	if want := "\rjob_7: �[2J\rjob_7      "; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
