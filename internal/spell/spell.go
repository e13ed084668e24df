// Package spell finds the name that a mistyped one was meant to be.
package spell

import (
	"strings"

	"github.com/hbollon/go-edlib"
)

// shortName is the length, in bytes, up to which only one letter may differ:
// two of three letters are another word.
const shortName = 4

var joints = strings.NewReplacer("_", "", "-", "")

// Meant is the first of the known names that typed nearly is: in another case,
// with other _ or -, or at most two letters off (one in names of up to four).
// Swapped neighbours are one letter off. A name that is known, and one that is
// far from all, means none: the empty string.
func Meant(typed string, known []string) string {
	best, least := "", 3
	for _, name := range known {
		if name == typed {
			return ""
		}
		off := distance(typed, name)
		if off < least && (off < 2 || len(name) > shortName) {
			best, least = name, off
		}
	}
	return best
}

// distance counts letters; names too long to be near are not compared.
func distance(typed, name string) int {
	a, b := joints.Replace(strings.ToLower(typed)), joints.Replace(strings.ToLower(name))
	if len(a) > 4*len(b)+2 {
		return len(a)
	}
	return edlib.OSADamerauLevenshteinDistance(a, b)
}
