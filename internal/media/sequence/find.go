// Package sequence reads numbered pictures as a clip: those of a folder, or those
// that a pattern such as f%04d.png names. It also names those that are written.
package sequence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bgremove/bgremove/internal/media"
)

// names are a pattern's parts: what is before and behind the number.
type names struct {
	before, behind string
	digits         int // at least, 0 for any
}

var patternForm = regexp.MustCompile(`^([^%]*)%(?:0([1-9]))?d([^%]*)$`)

// parsePattern reads the last part of a path.
func parsePattern(base string) (names, bool) {
	m := patternForm.FindStringSubmatch(base)
	if m == nil {
		return names{}, false
	}
	digits, _ := strconv.Atoi(m[2])
	return names{m[1], m[3], digits}, true
}

// name is that of a picture.
func (n names) name(number int) string {
	return fmt.Sprintf("%s%0*d%s", n.before, n.digits, number, n.behind)
}

// number is that of a name as name makes it.
func (n names) number(name string) (int, bool) {
	middle, ok := strings.CutPrefix(name, n.before)
	middle, ok2 := strings.CutSuffix(middle, n.behind)
	number, err := strconv.Atoi(middle)
	return number, ok && ok2 && err == nil && n.name(number) == name
}

// read is the number of a picture that is read. One of any number of digits may begin with
// zeros.
func (n names) read(name string) (int, bool) {
	if n.digits > 0 {
		return n.number(name)
	}
	middle, ok := strings.CutPrefix(name, n.before)
	middle, ok2 := strings.CutSuffix(middle, n.behind)
	number, err := strconv.ParseUint(middle, 10, 31) // which takes no sign
	return int(number), ok && ok2 && err == nil
}

// Is reports whether an input is a sequence: a pattern that is no file's name, or a
// folder with numbered pictures.
func Is(input string) bool {
	stat, err := os.Stat(input)
	switch {
	case err != nil:
		_, ok := parsePattern(filepath.Base(input))
		return ok
	case !stat.IsDir():
		return false
	}
	found, err := inFolder(input)
	return len(found) > 0 || errors.As(err, new(*media.UnreadableError))
}

// Stem is an input's path without the number and the extension, for the name of an
// output. It is beside the folder where there is no other name.
func Stem(input string) (stem string, ok bool) {
	if !Is(input) {
		return "", false
	}
	n, pattern := parsePattern(filepath.Base(input))
	name := strings.TrimRight(n.before, "-_. ")
	if !pattern || name == "" {
		folder := input
		if pattern {
			folder = filepath.Dir(input)
		}
		if abs, err := filepath.Abs(folder); err == nil && filepath.Base(folder) == "." {
			folder = abs
		}
		return filepath.Clean(folder), true
	}
	return filepath.Join(filepath.Dir(input), name), true
}

// numbered is a picture and its number.
type numbered struct {
	name   string
	number int
}

// Find returns the pictures of a sequence in the order of their numbers. Without one
// the error wraps fs.ErrNotExist; a *media.UnreadableError says what is wrong with
// their numbers.
func Find(input string) ([]string, error) {
	dir, find := input, func() ([]numbered, error) { return inFolder(input) }
	if n, ok := parsePattern(filepath.Base(input)); ok {
		dir, find = filepath.Dir(input), func() ([]numbered, error) { return matches(filepath.Dir(input), n.read) }
	}
	found, err := find()
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no picture: %w", fs.ErrNotExist)
	}
	slices.SortFunc(found, func(a, b numbered) int { return a.number - b.number })
	paths := make([]string, len(found))
	for i, f := range found {
		if i > 0 && f.number == found[i-1].number {
			return nil, &media.UnreadableError{Reason: fmt.Sprintf("%s and %s have the same number", found[i-1].name, f.name)}
		}
		if i > 0 && f.number != found[i-1].number+1 {
			return nil, &media.UnreadableError{Reason: fmt.Sprintf("a picture is missing: %s is followed by %s", found[i-1].name, f.name)}
		}
		paths[i] = filepath.Join(dir, f.name)
	}
	return paths, nil
}

// matches are the files of a folder that have a number by their names.
func matches(dir string, number func(name string) (int, bool)) ([]numbered, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []numbered
	for _, e := range entries {
		if n, ok := number(e.Name()); ok && !e.IsDir() {
			found = append(found, numbered{e.Name(), n})
		}
	}
	return found, nil
}

// numberedForm prefers no name before the number: digits alone are all number.
var numberedForm = regexp.MustCompile(`(?i)^(|[^.].*?)(\d{1,9})(\.(?:png|jpe?g|webp))$`)

// inFolder are a folder's numbered pictures, which must have one name but for the
// number. Other files are left out.
func inFolder(dir string) ([]numbered, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []numbered
	var first []string
	for _, e := range entries {
		m := numberedForm.FindStringSubmatch(e.Name())
		if m == nil || e.IsDir() {
			continue
		}
		if first == nil {
			first = m
		}
		if m[1] != first[1] || m[3] != first[3] {
			return nil, &media.UnreadableError{Reason: fmt.Sprintf("pictures of different names: %s and %s; a pattern such as %s names some of them",
				first[0], m[0], filepath.Join(dir, first[1]+"%d"+first[3]))}
		}
		number, _ := strconv.Atoi(m[2])
		found = append(found, numbered{e.Name(), number})
	}
	return found, nil
}
