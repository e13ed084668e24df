package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// partOf is a part of a walk, with its mattes saved.
func partOf(t *testing.T, c *clip, e matte.Estimator, timing pipeline.Timing, margin time.Duration) (*pipeline.Prepared, *bytes.Buffer) {
	t.Helper()
	p, err := pipeline.Prepare(t.Context(), pipeline.Job{Clip: c, Estimator: e, Keep: true, Tidy: true, Timing: timing, Margin: margin, Canvas: canvas.Spec{Crop: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	saved := new(bytes.Buffer)
	if err := p.Save(saved); err != nil {
		t.Fatal(err)
	}
	return p, saved
}

// tinted is a tally whose frames have foregrounds, of a colour that tells the time.
type tinted struct{ tally }

func (e *tinted) Steps() []matte.Step {
	tint := matte.Step{Name: "tint", Run: func(_ context.Context, w *matte.Estimate) error {
		w.Foreground = image.NewNRGBA(image.Rect(0, 0, width/2, height/2))
		for i := range w.Foreground.Pix {
			w.Foreground.Pix[i] = uint8(w.Time / tenth)
		}
		return nil
	}}
	return append([]matte.Step{tint}, e.tally.Steps()...)
}

// Decontaminate shows the foreground in the first pixels.
func (e *tinted) Decontaminate(img *image.NRGBA, m *image.Alpha, foreground *image.NRGBA) {
	copy(img.Pix, foreground.Pix)
	m.Pix[0] = 255
}

// The estimator sees a margin on both sides of a part, which is not written. Its saved
// mattes make the same pictures, without another estimate, cropped as the whole clip is.
func TestPart(t *testing.T) {
	t.Parallel()
	c, timing, e := walk(20), pipeline.Timing{Start: 5 * tenth, End: 12 * tenth}, &tinted{}
	p, saved := partOf(t, c, e, timing, 3*tenth)
	if n := e.mattes.Load(); n != 13 {
		t.Errorf("%d frames were seen, want 7 and 3 on each side", n)
	}
	restored, err := pipeline.Restore(pipeline.Job{Clip: c, Estimator: e, Timing: timing, Canvas: canvas.Spec{Crop: true}}, saved)
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	box := image.Rect(0, 0, width, 20)
	var shelves [2]shelf
	var reports [2]pipeline.Report
	for i, p := range []*pipeline.Prepared{p, restored} {
		if reports[i], err = p.Render(t.Context(), pipeline.Variant{Box: box, Open: shelves[i].open}); err != nil {
			t.Fatal(err)
		}
		reports[i].Busy = nil
	}
	if n := e.mattes.Load(); n != 13 {
		t.Errorf("%d frames were estimated again", n-13)
	}
	if diff := cmp.Diff(shelves[0].frames, shelves[1].frames); diff != "" {
		t.Error(diff)
	}
	for i, f := range shelves[1].frames {
		if got := f.Image.Pix[0]; got != uint8(5+i) {
			t.Errorf("frame %d has the foreground of frame %d", 5+i, got)
		}
	}
	r := reports[1]
	if r.Frames != 7 || r.Start != 5*tenth || r.Duration != 7*tenth || r.Layout.Size != box.Size() || r.Trimmed != 0 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(reports[0].Quality, r.Quality); diff != "" {
		t.Error(diff)
	}
}

// Parts have the times of the whole, though its end cuts a frame, and though they meet within one.
func TestPartsAreCutAsTheWhole(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	c, start, middle, end := walk(20), 500*ms, 830*ms, 1150*ms
	crop := func(timing pipeline.Timing) func(*pipeline.Job) {
		return func(j *pipeline.Job) { j.Timing, j.Canvas.Crop = timing, true }
	}
	for name, timings := range map[string][]pipeline.Timing{
		"one": {{Start: start, End: end}},
		"two": {{Start: start, End: middle}, {Start: middle, End: end}},
	} {
		var reports []pipeline.Report
		for _, timing := range timings {
			want, _ := run(t, c, crop(timing))
			_, saved := partOf(t, c, &tally{}, timing, 3*tenth)
			restored, err := pipeline.Restore(pipeline.Job{Clip: c, Estimator: &tally{}, Timing: timing}, saved)
			if err != nil {
				t.Fatal(err)
			}
			var got shelf
			report, err := restored.Render(t.Context(), pipeline.Variant{Open: got.open})
			if err := errors.Join(err, restored.Close()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.times(), got.times()); diff != "" {
				t.Errorf("%s, %v: %s", name, timing, diff)
			}
			reports = append(reports, report)
		}
		_, whole := run(t, c, crop(pipeline.Timing{Start: start, End: end}))
		if got := pipeline.Joined(reports); got.Start != whole.Start || got.Duration != whole.Duration || got.Frames != whole.Frames {
			t.Errorf("%s: %d frames for %v from %v, want %d for %v from %v", name, got.Frames, got.Duration, got.Start, whole.Frames, whole.Duration, whole.Start)
		}
	}
}

// Mattes of another clip, and a file that is cut off, are refused.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	_, saved := partOf(t, walk(5), &tally{}, pipeline.Timing{}, 0)
	for name, data := range map[string][]byte{"nothing": nil, "half": saved.Bytes()[:saved.Len()/2], "other": []byte("other")} {
		p, err := pipeline.Restore(pipeline.Job{Clip: walk(5), Estimator: &tally{}}, bytes.NewReader(data))
		if !errors.Is(err, pipeline.ErrSaved) {
			t.Errorf("%s: %v", name, err)
		}
		if p != nil {
			t.Errorf("%s: there is a clip", name)
		}
	}
}

// A part without a frame is an error, whatever its margin has.
func TestEmptyPart(t *testing.T) {
	t.Parallel()
	job := pipeline.Job{Clip: walk(5), Estimator: &tally{}, Keep: true, Timing: pipeline.Timing{Start: 42 * tenth / 10, End: 45 * tenth / 10}, Margin: 2 * tenth}
	if _, err := pipeline.Prepare(t.Context(), job); !errors.Is(err, pipeline.ErrNoFrames) {
		t.Error(err)
	}
}

// The report of parts is that of the clip.
func TestJoined(t *testing.T) {
	t.Parallel()
	report := func(start, duration time.Duration, frames int, kept float64) pipeline.Report {
		return pipeline.Report{Frames: frames, Start: start, Duration: duration, Dropped: 1, Empty: kept == 0, Quality: pipeline.Quality{
			Kept: kept, Haze: kept / 2, Pops: kept / 3, TouchesEdge: kept / 4, Halo: kept / 5, Fragments: frames,
		}}
	}
	got := pipeline.Joined([]pipeline.Report{report(tenth, 3*tenth, 3, 0.4), report(5*tenth, tenth, 1, 0)})
	want := pipeline.Report{Frames: 4, Start: tenth, Duration: 5 * tenth, Dropped: 2, Busy: map[string]time.Duration{}, Quality: pipeline.Quality{
		Kept: 0.3, Haze: 0.15, Pops: 0.1, TouchesEdge: 0.075, Halo: 0.06, Fragments: 3,
	}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }), cmp.AllowUnexported(canvas.Layout{})); diff != "" {
		t.Error(diff)
	}
}
