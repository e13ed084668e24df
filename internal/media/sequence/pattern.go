package sequence

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Pattern is the path of pictures that are written, with one number in its last part.
type Pattern struct {
	dir string
	names
}

// ParsePattern reads a path such as out/f%04d.png, as Find does.
func ParsePattern(path string) (Pattern, bool) {
	n, ok := parsePattern(filepath.Base(path))
	return Pattern{filepath.Dir(path), n}, ok
}

var numberForm = regexp.MustCompile(`%[0-9]*d`)

// HasNumber reports whether the last part of a path has a place for a number, or
// several: then it is meant as a pattern, and may be a wrong one.
func HasNumber(path string) bool { return numberForm.MatchString(filepath.Base(path)) }

// Name is the path of a picture.
func (p Pattern) Name(number int) string { return filepath.Join(p.dir, p.name(number)) }

// Matches reports whether a file's name, without its folder, is that of a picture.
func (p Pattern) Matches(name string) bool {
	_, ok := p.number(name)
	return ok
}

// Meets reports whether two patterns of one folder may make the same name: f%d.png and
// f%02d.png both make f10.png, and f%d.png and f1%d.png both make f11.png.
func (p Pattern) Meets(other Pattern) bool {
	return differByDigits(p.before, other.before, strings.CutPrefix) && differByDigits(p.behind, other.behind, strings.CutSuffix)
}

// differByDigits reports whether one text is the other with digits, if any, where cut
// leaves them.
func differByDigits(a, b string, cut func(text, part string) (string, bool)) bool {
	rest, ok := cut(a, b)
	if !ok {
		rest, ok = cut(b, a)
	}
	return ok && strings.Trim(rest, "0123456789") == ""
}

// Existing are the paths of the pictures that are there. Without the folder the error
// wraps fs.ErrNotExist.
func (p Pattern) Existing() ([]string, error) {
	found, err := matches(p.dir, p.number)
	paths := make([]string, len(found))
	for i, f := range found {
		paths[i] = filepath.Join(p.dir, f.name)
	}
	return paths, err
}
