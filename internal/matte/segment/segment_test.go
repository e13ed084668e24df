package segment_test

import (
	"context"
	"image"
	"image/color"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/matte/segment"
	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/internal/synth"
)

var _ matte.Estimator = (*segment.Estimator)(nil)

// green is the backdrop that distance.onnx measures from.
var green = color.NRGBA{0, 177, 64, 255}

func open(t *testing.T, name string) *onnx.Network {
	t.Helper()
	return openAs(t, name, model.Spec{})
}

// openAs opens a network by another Spec than its own.
func openAs(t *testing.T, name string, spec model.Spec) *onnx.Network {
	t.Helper()
	library := os.Getenv("BGREMOVE_ONNXRUNTIME")
	if library == "" {
		t.Skip("BGREMOVE_ONNXRUNTIME does not name ONNX Runtime's shared library")
	}
	n, err := onnx.Open(onnx.Config{Library: library, Model: "../../../testdata/onnx/" + name, Spec: spec,
		Reviser: model.BundledReviser, Chooser: model.BundledChooser, Guide: model.BundledGuide})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

var _ matte.Studier = (*segment.Estimator)(nil)

// study takes a clip through the pass before the first matte, if e wants one.
func study(t *testing.T, e *segment.Estimator, clip []*image.NRGBA) {
	t.Helper()
	steps := e.Study()
	if len(steps) == 0 {
		return
	}
	for i, img := range clip {
		w := &matte.Estimate{Image: img, Time: moment(i)}
		for _, s := range steps {
			if err := s.Run(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := e.Conclude(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// moment is when frame i is shown.
func moment(i int) time.Duration { return time.Duration(i) * 40 * time.Millisecond }

// estimate takes the next frame of a clip through all steps.
func estimate(t *testing.T, e matte.Estimator, img *image.NRGBA) *matte.Estimate {
	t.Helper()
	w := &matte.Estimate{Image: img, Matte: image.NewAlpha(img.Rect)}
	for _, s := range e.Steps() {
		if err := s.Run(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// A network of 64×64 gives a matte of full size whose edges are the
// picture's, and nothing of the backdrop is left in the colours. Each part can
// be switched off.
func TestEstimate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options segment.Options
		iou     float64
	}{
		"all":       {segment.Options{}, 0.97},
		"colours":   {segment.Options{}, 0.97},
		"no steady": {segment.Options{NoSteady: true, NoReuse: true}, 0.97},
		"no refine": {segment.Options{NoRefine: true}, 0.9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clip := synth.Clip{Width: 320, Height: 240, Frames: 20, Backdrop: green, Subject: synth.Discs}
			n := open(t, "distance.onnx")
			if name == "colours" {
				n = openAs(t, "distance.onnx", model.Spec{Colours: 1})
			}
			e := segment.New(n, c.options)
			var frames []*image.NRGBA
			for i := range 6 {
				frames = append(frames, clip.Frame(i/2).Image)
			}
			study(t, e, frames)
			for i := range 6 {
				p := clip.Frame(i / 2) // each twice
				m := estimate(t, e, p.Image).Matte
				if iou := synth.IoU(m, p.Alpha); iou < c.iou {
					t.Errorf("frame %d: IoU %.3f", i, iou)
				}
				e.Decontaminate(p.Image, m, nil)
				if e := synth.ColourError(p.Image, m, p); !c.options.NoRefine && e > 25 {
					t.Errorf("frame %d: colour error %.1f", i, e)
				}
			}
		})
	}
}

// The steps that need frames in order are those that know of other frames.
func TestSteps(t *testing.T) {
	t.Parallel()
	doubting, plated := model.Spec{Colours: 1}, model.Spec{Plate: true}
	for _, c := range []struct {
		network string
		spec    model.Spec
		options segment.Options
		study   string // the steps; those in brackets are in order
		steps   string
	}{
		{"distance.onnx", doubting, segment.Options{NoSteady: true}, "", "network (colours) walk refine"},
		{"distance.onnx", doubting, segment.Options{NoSteady: true, Subject: subject.Moving}, "see (motion) network (keep)", "see (recall) choose walk refine"},
		{"distance.onnx", doubting, segment.Options{NoMotion: true}, "", "network (colours) (steady) walk refine"},
		{"distance.onnx", doubting, segment.Options{NoMotion: true, NoSteady: true, NoColours: true}, "", "network refine"},
		{"distance.onnx", plated, segment.Options{}, "see (motion) network (keep)", "see (recall) choose fit (plate) revise (steady) refine"},
		{"distance.onnx", plated, segment.Options{Subject: subject.Salient}, "see network (keep)", "see (recall) fit (plate) revise (steady) refine"},
		{"distance.onnx", doubting, segment.Options{NoSteady: true, Previews: true}, "see (motion) network (keep)", "see (recall) choose walk refine"},
		{"distance.onnx", plated, segment.Options{NoMotion: true}, "see network (keep)", "see (recall) fit (plate) revise (steady) refine"},
		{"distance.onnx", plated, segment.Options{NoPlate: true, NoMotion: true}, "", "network (steady) refine"},
		{"distance.onnx", model.Spec{}, segment.Options{}, "", "network (steady) refine"},
		{"averager.onnx", model.Spec{}, segment.Options{}, "", "(network) refine"},
	} {
		e := segment.New(openAs(t, c.network, c.spec), c.options)
		if got := names(e.Study()); got != c.study {
			t.Errorf("%s, %+v: the study's steps are %q, want %q", c.network, c.options, got, c.study)
		}
		if got := names(e.Steps()); got != c.steps {
			t.Errorf("%s, %+v: the steps are %q, want %q", c.network, c.options, got, c.steps)
		}
	}
}

func names(steps []matte.Step) string {
	var all []string
	for _, s := range steps {
		name := s.Name
		if s.InOrder {
			name = "(" + name + ")"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

// Two red squares look alike to the network. One goes past, and the other is part of
// the backdrop.
func TestMotion(t *testing.T) {
	t.Parallel()
	plain, plated := openAs(t, "distance.onnx", model.Spec{}), openAs(t, "distance.onnx", model.Spec{Plate: true})
	const frames = 16
	for name, c := range map[string]struct {
		network *onnx.Network
		options segment.Options
		still   bool // whether the still one stays
	}{
		"auto":                      {plated, segment.Options{}, false},
		"moving":                    {plated, segment.Options{Subject: subject.Moving}, false},
		"salient":                   {plated, segment.Options{Subject: subject.Salient}, true},
		"no motion":                 {plated, segment.Options{NoMotion: true}, true},
		"auto, without a chooser":   {plain, segment.Options{}, true},
		"moving, without a chooser": {plain, segment.Options{Subject: subject.Moving}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := segment.New(c.network, c.options)
			var clip []*image.NRGBA
			for i := range frames {
				clip = append(clip, alike(i))
			}
			study(t, e, clip)
			for i, img := range clip {
				m := estimate(t, e, img).Matte
				if a := m.AlphaAt(24+8*i, 44).A; a < 230 {
					t.Errorf("frame %d: the moving square has alpha %d", i, a)
				}
				if a := m.AlphaAt(150, 94).A; (a > 128) != c.still {
					t.Errorf("frame %d: the still square has alpha %d", i, a)
				}
			}
		})
	}
}

// The study does not run the network on frames that are much like the one before, unless it is told to. A
// network that has been called off fails where it is run.
func TestStudyRunsNetworkWhereDue(t *testing.T) {
	t.Parallel()
	n := openAs(t, "distance.onnx", model.Spec{Plate: true})
	off, stop := context.WithCancel(t.Context())
	stop()
	for want, o := range map[string]segment.Options{
		"run kept kept kept run kept": {},
		"run run run run run run":     {NoReuse: true},
	} {
		e := segment.New(n, o)
		t.Cleanup(func() { _ = e.Close() })
		var got []string
		for i := range 6 {
			w := &matte.Estimate{Image: alike(8 + i/3), Time: moment(i)}
			how := "kept"
			for _, s := range e.Study() {
				if s.Name == "network" && s.Run(off, w) != nil {
					how = "run"
				}
				if err := s.Run(t.Context(), w); err != nil {
					t.Fatal(err)
				}
			}
			got = append(got, how)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%+v: %s, want %s", o, g, want)
		}
	}
}

// alike is a frame with two red squares on a green backdrop with some texture, of which
// one moves.
func alike(i int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 192, 128))
	moving, still := image.Rect(8+8*i, 28, 40+8*i, 60), image.Rect(134, 78, 166, 110)
	for y := range 128 {
		for x := range 192 {
			c := green
			c.G += uint8((x*x/7 + y*y/5 + x*y/3) % 12)
			switch p := image.Pt(x, y); {
			case p.In(moving):
				c = color.NRGBA{210 + uint8((x-8*i)%5*6), 30, 40, 255}
			case p.In(still):
				c = color.NRGBA{210 + uint8(x%5*6), 30, 40, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// The network misses the half of a subject that is nearly as green as the backdrop. More of it
// is found once the clip has shown what lies behind.
func TestPlate(t *testing.T) {
	t.Parallel()
	n := openAs(t, "distance.onnx", model.Spec{Plate: true})
	const frames = 16
	iou := map[bool]float64{}
	for _, on := range []bool{false, true} {
		e := segment.New(n, segment.Options{NoPlate: !on, NoMotion: true})
		var clip []*image.NRGBA
		for i := range frames {
			img, _ := camouflaged(i)
			clip = append(clip, img)
		}
		study(t, e, clip)
		for i := range frames {
			img, truth := camouflaged(i)
			iou[on] += synth.IoU(estimate(t, e, img).Matte, truth) / frames
		}
	}
	if iou[true] < iou[false]+0.1 || iou[false] > 0.6 {
		t.Errorf("IoU %.3f with the plate, %.3f without", iou[true], iou[false])
	}
}

// camouflaged is a frame in which a square, half of it of nearly the backdrop's
// green, goes past a backdrop with brighter spots.
func camouflaged(i int) (*image.NRGBA, *image.Alpha) {
	r := image.Rect(0, 0, 192, 128)
	img, truth := image.NewNRGBA(r), image.NewAlpha(r)
	square := image.Rect(0, 0, 48, 48).Add(image.Pt(8+8*i, 40))
	for y := range r.Dy() {
		for x := range r.Dx() {
			c := green
			c.G += uint8(5 * ((x/8 + y/8) % 2))
			if image.Pt(x, y).In(square) {
				c = color.NRGBA{220, 30, 40, 255}
				if y >= 64 {
					c = color.NRGBA{24, 177, 92, 255}
				}
				truth.SetAlpha(x, y, color.Alpha{A: 255})
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img, truth
}

// A recurrent network, which averages what it sees, forgets at a cut.
func TestRecurrentForgetsAtCuts(t *testing.T) {
	t.Parallel()
	n := open(t, "averager.onnx")
	dark, light := fill(color.NRGBA{10, 10, 10, 255}), fill(color.NRGBA{240, 240, 240, 255})
	fresh := estimate(t, segment.New(n, segment.Options{}), light).Matte.Pix[0]
	e := segment.New(n, segment.Options{})
	estimate(t, e, dark)
	if got := estimate(t, e, fill(color.NRGBA{20, 20, 20, 255})).Matte.Pix[0]; got == fresh {
		t.Error("nothing is remembered")
	}
	if got := estimate(t, e, light).Matte.Pix[0]; got != fresh {
		t.Errorf("after the cut %d, a fresh clip gives %d", got, fresh)
	}
}

func fill(c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 96, 64))
	for i := range 96 * 64 {
		copy(img.Pix[4*i:], []uint8{c.R, c.G, c.B, c.A})
	}
	return img
}

// Edges get the subject's colour as a recurrent network tells it.
func TestForeground(t *testing.T) {
	t.Parallel()
	e := segment.New(open(t, "averager.onnx"), segment.Options{})
	img := fill(color.NRGBA{128, 128, 128, 255}) // half covered, says the averager
	w := estimate(t, e, img)
	if w.Foreground == nil {
		t.Fatal("no foreground")
	}
	want := w.Foreground.Pix[:3]
	e.Decontaminate(img, w.Matte, w.Foreground)
	if a := w.Matte.Pix[0]; a == 0 || a == 255 {
		t.Fatalf("matte %d is not partial", a)
	}
	for c, v := range want {
		if img.Pix[c] != v {
			t.Errorf("channel %d is %d, want %d", c, img.Pix[c], v)
		}
	}
	if w := estimate(t, segment.New(open(t, "averager.onnx"), segment.Options{NoForeground: true}), img); w.Foreground != nil {
		t.Error("foreground although it is switched off")
	}
}
