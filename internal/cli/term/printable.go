package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is a text from elsewhere for a terminal: characters that would move
// the cursor, change colours or turn the direction of what follows are replaced.
func Printable(text string) string { return strings.Map(printable, text) }

// lines is Printable for text of ours, which may have lines.
func lines(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return printable(r)
	}, text)
}

func printable(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
		return utf8.RuneError
	}
	return r
}
