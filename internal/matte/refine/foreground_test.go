package refine_test

import (
	"fmt"
	"image"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/synth"
)

// TestDecontaminate: with the true matte, the colour of edges is at most a
// third as wrong as that of the plain cut-out, also where it is estimated from
// every second or fourth pixel.
func TestDecontaminate(t *testing.T) {
	t.Parallel()
	var f refine.Foreground
	for _, s := range synth.Subjects {
		for kind, name := range textures {
			for _, size := range [][2]int{{480, 270}, {1440, 810}, {3360, 1890}} {
				if size[1] > 270 && s != synth.Discs && s != synth.Soft && kind != noise {
					continue // drawing takes long
				}
				t.Run(fmt.Sprint(s, "/", name, "/", size[1]), func(t *testing.T) {
					t.Parallel()
					p := synth.Clip{Width: size[0], Height: size[1], Frames: 8, Backdrop: synth.Blue, Subject: s}.Frame(1)
					img := onto(p, texture(size[0], size[1], kind))
					before := synth.ColourError(img, p.Alpha, p)
					f.Decontaminate(img, p.Alpha)
					after := synth.ColourError(img, p.Alpha, p)
					t.Logf("colour error %.2f, cut-out %.2f: %.3f of it", after, before, after/before)
					if after > before/3 {
						t.Error("more than a third")
					}
				})
			}
		}
	}
}

// TestDecontaminateEstimated: the same with an upsampled matte, which is wrong
// in places.
func TestDecontaminateEstimated(t *testing.T) {
	t.Parallel()
	var u refine.Upsampler
	var f refine.Foreground
	for kind, name := range textures {
		p := synth.Clip{Width: 480, Height: 270, Frames: 8, Backdrop: synth.Blue, Subject: synth.Discs}.Frame(1)
		img, m := onto(p, texture(480, 270, kind)), image.NewAlpha(p.Alpha.Rect)
		u.Upsample(m, img, shrink(p.Alpha, 120, 68, 1), nil)
		before := synth.ColourError(img, m, p)
		f.Decontaminate(img, m)
		after := synth.ColourError(img, m, p)
		t.Logf("%s: colour error %.2f, cut-out %.2f: %.3f of it", name, after, before, after/before)
		if after > before/3 {
			t.Errorf("%s: more than a third", name)
		}
	}
}

// TestDecontaminateOnlyEdges: full and empty pixels and all source alpha stay.
func TestDecontaminateOnlyEdges(t *testing.T) {
	t.Parallel()
	p := synth.Clip{Width: 161, Height: 93, Frames: 8, Backdrop: synth.Green, Subject: synth.Soft}.Frame(1)
	img := onto(p, texture(161, 93, noise))
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = uint8(i)
	}
	before := slices.Clone(img.Pix)
	new(refine.Foreground).Decontaminate(img, p.Alpha)
	for i, a := range p.Alpha.Pix {
		got, was := [4]uint8(img.Pix[4*i:]), [4]uint8(before[4*i:])
		switch {
		case (a == 0 || a == 255) && got != was:
			t.Fatalf("pixel %d of matte %d changed from %v to %v", i, a, was, got)
		case got[3] != was[3]:
			t.Fatalf("alpha of pixel %d changed", i)
		}
	}
}
