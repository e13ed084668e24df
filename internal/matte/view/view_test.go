package view_test

import (
	"image"
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
	source, err := os.ReadFile("view.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(program), "PLANES = (")
	list, _, _ = strings.Cut(list, ")")
	var theirs []string
	for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(list, -1) {
		theirs = append(theirs, m[1])
	}
	_, block, _ := strings.Cut(string(source), "const (")
	block, _, _ = strings.Cut(block, "\n\tCount\n")
	var ours []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+)( Plane = iota)?$`).FindAllStringSubmatch(block, -1) {
		ours = append(ours, m[1])
	}
	if len(ours) != int(view.Count) || !slices.Equal(ours, theirs) {
		t.Errorf("%d planes: %v\nin training: %v", view.Count, ours, theirs)
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

// Only the part around what may be subject is undecided: a matte, a difference from the
// plate, or a place where the plate is not known.
func TestUndecided(t *testing.T) {
	t.Parallel()
	const w, h = 200, 120
	at := 60*w + 100
	for name, c := range map[string]struct {
		plane view.Plane
		value uint8
	}{
		"matte":      {view.Coverage, 20},
		"difference": {view.Unusual, 200},
		"no plate":   {view.Frames, 0},
	} {
		v := view.New(w, h)
		for i := range v.Plane(view.Frames) {
			v.Plane(view.Frames)[i] = 100
		}
		if part := v.Undecided(); !part.Empty() {
			t.Fatalf("%v of a picture like its plate", part)
		}
		for y := range 16 {
			for x := range 16 {
				v.Plane(c.plane)[at+y*w+x] = c.value
			}
		}
		part := v.Undecided()
		if part.Dx() > 112 || part.Dy() > 120 || !image.Rect(100, 60, 116, 76).In(part) {
			t.Errorf("%s: %v", name, part)
		}
		crop := v.Crop(part)
		if crop.W != part.Dx() || crop.H != part.Dy() || crop.Plane(c.plane)[(60-part.Min.Y)*crop.W+100-part.Min.X] != c.value {
			t.Errorf("%s: the part of %v is another", name, part)
		}
	}
}
