package pipeline

import (
	"context"
	"image"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/scene"
)

// tones are the tones of a clip's subject and of what stands behind it, as far as the
// first pass has seen them, and the harmony between them.
type tones struct {
	subject, behind scene.Tone
	harmony         *scene.Harmony // nil while there is no subject
}

// lookSteps are the steps of the first pass that take down a frame's tones. Each frame
// is harmonised with what was seen so far, so that a palette has nearly the colours of
// the last pass, in which one harmony is for all frames.
func (r *runner) lookSteps(t *tones) []step {
	if !r.Harmonise {
		return nil
	}
	return []step{{name: "harmonise", run: func(_ context.Context, it *item) error {
		it.see()
		it.subject = scene.ToneOfSubject(it.Image, it.Matte)
		it.behind.Light()
		return nil
	}}, {name: "harmonise", inOrder: true, run: func(_ context.Context, it *item) error {
		t.subject.Add(it.subject)
		t.behind.Add(it.behind.Light().Tone())
		t.harmony = scene.Harmonise(t.subject, t.behind, t.harmony)
		it.harmony = t.harmony
		return nil
	}}}
}

// lookLayout is the layout of what stands behind the frames of the first pass: theirs,
// or a smaller one where they are not cut out.
func (r *runner) lookLayout() canvas.Layout {
	if r.prepares() {
		return scene.Plain(r.source)
	}
	return scene.Small(r.source)
}

// harmonise makes the cut-out on the canvas more like what stands behind it. Light
// comes around the subject's edge where no outline is.
func (r *runner) harmonise(it *item, img *image.NRGBA) {
	if it.harmony == nil {
		return
	}
	var light *scene.Light
	if r.Canvas.Rim.Outline == nil {
		light = it.behind.Light()
	}
	it.harmony.Apply(img, light)
}
