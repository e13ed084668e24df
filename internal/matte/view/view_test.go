package view_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// Training names the planes in the same order.
func TestTraining(t *testing.T) {
	t.Parallel()
	program, err := os.ReadFile("../../../tools/train/planes.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, list, last string
		count            int
	}{{"view.go", "\nPLANES = (", "Count", int(view.Count)}, {"cells.go", "\nCELLS = (", "CellCount", int(view.CellCount)}, {"marked.go", "\nMARKED = (", "MarkCount", int(view.MarkCount)}} {
		source, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(program), c.list)
		list, _, _ = strings.Cut(list, ")")
		var theirs []string
		for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(list, -1) {
			theirs = append(theirs, m[1])
		}
		block, _, _ := strings.Cut(string(source), "\n\t"+c.last+"\n")
		block = block[strings.LastIndex(block, "const ("):]
		var ours []string
		for _, m := range regexp.MustCompile(`(?m)^\t(\w+)( \w+ = iota( \+ \w+)?)?$`).FindAllStringSubmatch(block, -1) {
			ours = append(ours, m[1])
		}
		if len(ours) != c.count || !slices.Equal(ours, theirs) {
			t.Errorf("%s: %d planes: %v\nin training: %v", c.file, c.count, ours, theirs)
		}
	}
}

func TestPlane(t *testing.T) {
	t.Parallel()
	v := view.New(3, 2)
	for p := range view.Count {
		plane := v.Plane(p)
		for i := range plane {
			plane[i] += uint8(p) + 1
		}
	}
	for i, b := range v.Pix {
		if want := uint8(i/6 + 1); b != want {
			t.Fatalf("byte %d is of plane %d, want %d", i, b-1, want-1)
		}
	}
}
