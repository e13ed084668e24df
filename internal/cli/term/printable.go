package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes foreign text safe for a terminal. It replaces characters that
// would move the cursor, change colours or reverse the text direction.
func Printable(text string) string { return strings.Map(printable, text) }

// printableLines is Printable for our own text, which may have several lines.
func printableLines(text string) string {
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
