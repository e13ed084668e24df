package batch

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Always is one format for all inputs.
func Always(f bgremove.Format) func(string) bgremove.Format {
	return func(string) bgremove.Format { return f }
}

// CollisionError is of inputs that would have one output.
type CollisionError struct {
	Output string
	Inputs []string
}

func (e *CollisionError) Error() string {
	return fmt.Sprintf("%s: the output of %s", e.Output, strings.Join(e.Inputs, " and of "))
}

// Name gives every input its output below dir: its stem, "-nobg." and the
// extension of its format. If outputs of one folder would collide, the inputs'
// extensions are added (a-gif-nobg.gif, a-mp4-nobg.gif). Names that differ only
// in case collide as well, because many file systems treat them as equal. Each
// remaining collision is a *CollisionError.
func Name(dir string, format func(input string) bgremove.Format, inputs []Input) ([]Item, error) {
	n := naming{dir: dir, format: format, inputs: inputs, long: make([]bool, len(inputs)), canonical: canonicalPaths{}}
	for n.lengthen() {
	}
	items := make([]Item, len(inputs))
	for i, in := range inputs {
		items[i] = Item{Input: in, Output: n.output(i)}
	}
	return items, n.collisions()
}

// naming is the names so far; long are those that have their extension.
type naming struct {
	dir       string
	format    func(input string) bgremove.Format
	inputs    []Input
	long      []bool
	canonical canonicalPaths
}

func (n *naming) output(i int) string {
	in := n.inputs[i]
	return join(n.dir, in.Folder, outputName(in.Path, n.format(in.Path), n.long[i]))
}

// join is a file below a folder, which may be in a bucket.
func join(dir, folder, name string) string {
	if bucket.IsAddress(dir) {
		return dir + path.Join(filepath.ToSlash(folder), name)
	}
	return filepath.Join(dir, folder, name)
}

func outputName(input string, format bgremove.Format, long bool) string {
	if !bucket.IsAddress(input) && bgremove.IsSequence(input) {
		return filepath.Base(bgremove.OutputPath(input, format))
	}
	name := filepath.Base(input)
	if ext := filepath.Ext(name); long && ext != "" {
		name = strings.TrimSuffix(name, ext) + "-" + strings.ToLower(ext[1:]) + ext
	}
	return format.OutputName(strings.TrimSuffix(name, filepath.Ext(name)))
}

// groups are the inputs by their outputs, in the order of the inputs.
func (n *naming) groups() [][]int {
	var groups [][]int
	at := map[string]int{}
	for i := range n.inputs {
		key := foldCase(n.output(i))
		g, ok := at[key]
		if !ok {
			g = len(groups)
			at[key] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// foldCase is the same for what some file system may take for one name. Bytes that are no
// UTF-8 stay: all of them would become one character.
func foldCase(path string) string {
	var folded strings.Builder
	for path != "" {
		r, n := utf8.DecodeRuneInString(path)
		if r == utf8.RuneError && n == 1 {
			folded.WriteString(path[:1])
		} else {
			folded.WriteRune(unicode.ToLower(r))
		}
		path = path[n:]
	}
	return folded.String()
}

// lengthen adds extensions where there are collisions, and reports whether it
// added any: a longer name may collide with another file's.
func (n *naming) lengthen() bool {
	added := false
	for _, group := range n.groups() {
		for _, i := range group {
			sibling := slices.ContainsFunc(group, func(j int) bool { return j != i && n.siblings(i, j) })
			if sibling && !n.long[i] {
				n.long[i], added = true, true
			}
		}
	}
	return added
}

func (n *naming) siblings(i, j int) bool {
	return filepath.Dir(n.canonical.file(n.inputs[i].Path)) == filepath.Dir(n.canonical.file(n.inputs[j].Path))
}

func (n *naming) collisions() error {
	var errs []error
	for _, group := range n.groups() {
		if len(group) < 2 {
			continue
		}
		e := &CollisionError{Output: n.output(group[0])}
		for _, i := range group {
			e.Inputs = append(e.Inputs, n.inputs[i].Path)
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// Names names inputs that come up after the others were named.
type Names struct {
	dir    string
	format func(input string) bgremove.Format
	items  map[string]Item   // by the input's path
	inputs map[string]string // the input of an output
}

// NewNames knows the items of Name.
func NewNames(dir string, format func(input string) bgremove.Format, items []Item) *Names {
	n := &Names{dir: dir, format: format, items: map[string]Item{}, inputs: map[string]string{}}
	for _, item := range items {
		n.items[item.Path], n.inputs[foldCase(item.Output)] = item, item.Path
	}
	return n
}

// Name is the same for an input whenever it comes. The input's extension is
// added where the output of another has the name already; where that does not
// help the item has a *CollisionError.
func (n *Names) Name(in Input) Item {
	if item, ok := n.items[in.Path]; ok {
		return item
	}
	item := Item{Input: in}
	for _, long := range []bool{false, true} {
		item.Output = join(n.dir, in.Folder, outputName(in.Path, n.format(in.Path), long))
		other, used := n.inputs[foldCase(item.Output)]
		if !used {
			n.items[in.Path], n.inputs[foldCase(item.Output)] = item, in.Path
			return item
		}
		if long {
			item.Err = &CollisionError{Output: item.Output, Inputs: []string{other, in.Path}}
		}
	}
	return item
}
