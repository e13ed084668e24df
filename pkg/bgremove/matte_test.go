package bgremove_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// A matte beside an output is the output's alpha in each frame and at its times, with an
// outline and on a canvas, too. What stands behind the subject does not change it.
func TestMatteBesideOutput(t *testing.T) {
	t.Parallel()
	in, dir := generate(t, "in.gif", movingSquare("-r", "10")...), t.TempDir()
	o := bgremove.Defaults()
	o.Method, o.CanvasW, o.Outline, o.Format = bgremove.Fast, 60, "#ffffff,2", bgremove.APNG
	both := func(name, background string) (colour, matte string, r *bgremove.Result) {
		o := o
		o.Background = background
		colour, matte = filepath.Join(dir, name+".apng"), filepath.Join(dir, name+"-matte.apng")
		r, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, colour, o, bgremove.Extras{Matte: matte})
		if err != nil {
			t.Fatal(err)
		}
		return colour, matte, r
	}
	colour, matte, r := both("clear", "")
	if stat, err := os.Stat(matte); err != nil || r.Matte == nil || *r.Matte != (bgremove.Matte{Output: matte, Format: bgremove.APNG, Size: stat.Size()}) {
		t.Errorf("the matte is %+v, %v", r.Matte, err)
	}
	_, opaque, _ := both("red", "#ff0000")
	pictures, mattes, same := pixels(t, colour, r.Width, r.Height), pixels(t, matte, r.Width, r.Height), pixels(t, opaque, r.Width, r.Height)
	if len(pictures) != r.Frames || len(mattes) != r.Frames || len(same) != r.Frames || !slices.Equal(ends(t, colour), ends(t, matte)) {
		t.Fatalf("%d frames, %d and %d mattes", len(pictures), len(mattes), len(same))
	}
	for i, m := range mattes {
		for k := 0; k < len(m.Pix); k += 4 {
			a := pictures[i].Pix[k+3]
			if p := [4]uint8(m.Pix[k:]); p != [4]uint8{a, a, a, 255} || p != [4]uint8(same[i].Pix[k:]) {
				t.Fatalf("frame %d: %v for alpha %d, on red %v", i, p, a, same[i].Pix[k:k+4])
			}
		}
	}
}

// Without the matte there is no output, and the other way round.
func TestMatteAllOrNothing(t *testing.T) {
	t.Parallel()
	in, dir := generate(t, "in.gif", movingSquare("-r", "10", "-t", "0.3")...), t.TempDir()
	o := bgremove.Options{Method: bgremove.Fast, Strict: true}
	for _, x := range []bgremove.Extras{{Matte: filepath.Join(dir, "absent", "m.gif")}, {Matte: filepath.Join(dir, "m.txt")}, {Matte: filepath.Join(dir, "c.gif")}} {
		_, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, filepath.Join(dir, "c.gif"), o, x)
		if !errors.As(err, new(*bgremove.Error)) {
			t.Errorf("%+v: %v", x, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v is left, %v", files, err)
	}
}

// Two outputs cannot have one name, not even by a link to its folder: the second would
// replace the first.
func TestOutputsOfOneName(t *testing.T) {
	t.Parallel()
	in, dir, link := generate(t, "in.gif", movingSquare("-r", "10", "-t", "0.3")...), t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	for output, x := range map[string]bgremove.Extras{"c.gif": {Matte: filepath.Join(link, "c.gif")}, "c.png": {Sheet: filepath.Join(link, "c.png")}} {
		x.Overwrite = true
		r, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, filepath.Join(dir, output), bgremove.Options{Method: bgremove.Fast, Format: bgremove.APNG}, x)
		if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.Invalid {
			t.Errorf("%s: %+v, %v", output, r, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%v is left, %v", files, err)
	}
}
