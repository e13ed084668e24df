package pipeline_test

import (
	"image"
	"image/color"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/internal/scene"
)

var night = color.NRGBA{16, 24, 60, 255}

// harmonised runs a clip before a dark colour, with and without Harmonise.
func harmonised(t *testing.T, c *clip, change func(*pipeline.Job)) (with, without *shelf) {
	t.Helper()
	do := func(harmonise bool) *shelf {
		s, _ := run(t, c, func(j *pipeline.Job) {
			j.Scene, j.Harmonise = scene.Colour(night), harmonise
			if change != nil {
				change(j)
			}
		})
		return s
	}
	return do(true), do(false)
}

// A subject that moves has one colour in all frames, and a still clip is still. What
// stands behind stays as it is.
func TestHarmoniseIsSteady(t *testing.T) {
	t.Parallel()
	places := []image.Point{{6, 7}, {6, 7}, {20, 10}, {30, 20}, {6, 7}}
	var surveyed []color.NRGBA
	with, without := harmonised(t, &clip{places: places}, func(j *pipeline.Job) {
		if j.Harmonise {
			j.Survey = func(img *image.NRGBA) {
				surveyed = append(surveyed, img.NRGBAAt(places[len(surveyed)].X+2, places[len(surveyed)].Y+2))
			}
		}
	})
	first := with.frames[0].Image.NRGBAAt(8, 9)
	if first == (color.NRGBA{200, 0, 0, 255}) || first.R > 200 || first.A != 255 {
		t.Errorf("the subject is %v", first)
	}
	for i, at := range places {
		on, off := with.frames[i].Image, without.frames[i].Image
		if got := on.NRGBAAt(at.X+2, at.Y+2); got != first || surveyed[i] != first {
			t.Errorf("frame %d: the subject is %v, and %v in the survey, not %v", i, got, surveyed[i], first)
		}
		for p := range width * height {
			if x, y := p%width, p/width; !image.Pt(x, y).In(image.Rect(at.X, at.Y, at.X+square, at.Y+square)) && on.NRGBAAt(x, y) != off.NRGBAAt(x, y) {
				t.Fatalf("frame %d: %d,%d is %v, without harmony %v", i, x, y, on.NRGBAAt(x, y), off.NRGBAAt(x, y))
			}
		}
	}
	if !slices.Equal(with.frames[0].Image.Pix, with.frames[1].Image.Pix) {
		t.Error("a still subject changes")
	}
}

// Frames without a subject, and clips without any, are as they would be; so is a matte,
// and a clip before nothing.
func TestHarmoniseChangesTheSubjectOnly(t *testing.T) {
	t.Parallel()
	empty := &clip{places: []image.Point{{width, height}, {width, height}}}
	for name, c := range map[string]struct {
		clip   *clip
		change func(*pipeline.Job)
	}{
		"no subject":       {empty, nil},
		"cropped, empty":   {empty, func(j *pipeline.Job) { j.Canvas = canvas.Spec{Crop: true} }},
		"mask":             {walk(3), func(j *pipeline.Job) { j.MaskOnly = true }},
		"nothing behind":   {walk(3), func(j *pipeline.Job) { j.Scene = nil }},
		"the frame itself": {&clip{places: []image.Point{{0, 0}, {width, height}}}, func(j *pipeline.Job) { j.Scene = scene.Blur{}; j.Timing.Start = 100e6 }},
	} {
		with, without := harmonised(t, c.clip, c.change)
		if len(with.frames) != len(without.frames) || len(with.frames) == 0 {
			t.Fatalf("%s: %d frames, without harmony %d", name, len(with.frames), len(without.frames))
		}
		for i, f := range with.frames {
			if !slices.Equal(f.Image.Pix, without.frames[i].Image.Pix) {
				t.Errorf("%s: frame %d is changed", name, i)
			}
		}
	}
}

// An outline keeps its colour.
func TestHarmoniseLeavesTheOutline(t *testing.T) {
	t.Parallel()
	white := color.NRGBA{255, 255, 255, 255}
	with, _ := harmonised(t, &clip{places: []image.Point{{10, 10}}}, func(j *pipeline.Job) {
		j.Canvas.Rim.Outline = &canvas.Outline{Colour: white, Width: 3}
	})
	at := with.frames[0].Image.Rect.Max.Sub(image.Pt(width, height)).Div(2).Add(image.Pt(10, 12))
	if got := with.frames[0].Image.NRGBAAt(at.X-1, at.Y); got != white {
		t.Errorf("the line is %v", got)
	}
}
