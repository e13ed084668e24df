package pipeline

import (
	"context"
	"encoding/binary"
	"fmt"
	"image"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/scene"
)

// item is a frame on its way through the stages of a pass.
type item struct {
	index int
	frame *media.Frame
	matte.Estimate
	box image.Rectangle // the subject's, where it was asked for
	cut bool            // whether another scene begins, where it was asked for
	// before is the source picture, kept only until there is a preview.
	before *image.NRGBA
	stats  frameStats   // of the last pass
	grey   *image.NRGBA // the matte laid out, for OpenMatte
	behind scene.Shot   // nil without a Scene
	seen   bool         // behind has seen the frame
	// subject is the subject's tone, and harmony what it is changed by, with Harmonise.
	subject scene.Tone
	harmony *scene.Harmony
}

// step is one stage's work on each frame.
type step struct {
	name    string
	inOrder bool // frames come one by one and in order
	run     func(context.Context, *item) error
}

// chain sends items through the steps and delivers them in order. Steps that
// stand side by side and take frames in any order share a stage.
func (r *runner) chain(ctx context.Context, g *errgroup.Group, in <-chan *item, steps []step) <-chan *item {
	for len(steps) > 0 {
		n, workers := 1, 1
		if !steps[0].inOrder {
			workers = r.Workers
			for n < len(steps) && !steps[n].inOrder {
				n++
			}
		}
		stage := steps[:n]
		steps = steps[n:]
		in = ordered(ctx, g, in, workers, cap(r.flight), func(ctx context.Context, it *item) error { return r.runStage(ctx, it, stage) })
	}
	return in
}

func (r *runner) runStage(ctx context.Context, it *item, stage []step) error {
	for _, s := range stage {
		stop := r.clock.start(s.name)
		err := s.run(ctx, it)
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}

// estimateSteps is the steps of the estimator.
func (r *runner) estimateSteps() []step { return r.steps(r.Estimator.Steps(), true) }

// steps are some of the estimator's, the last of which writes the matte if so.
func (r *runner) steps(all []matte.Step, writes bool) (steps []step) {
	for i, s := range all {
		steps = append(steps, step{s.Name, s.InOrder, func(ctx context.Context, it *item) error {
			if writes && i == len(all)-1 {
				it.Matte = r.newMatte()
			}
			if err := s.Run(ctx, &it.Estimate); err != nil {
				return fmt.Errorf("matte of frame %d: %w", it.index, err)
			}
			return nil
		}})
	}
	return steps
}

// read takes the next frame from src, once there is a seat for it.
func (r *runner) read(ctx context.Context, src *timedSource, index int) (*item, error) {
	if err := r.flight.enter(ctx); err != nil {
		return nil, err
	}
	defer r.clock.start("decode")()
	f, err := src.Next(ctx)
	if err != nil {
		r.flight.leave()
		return nil, err
	}
	if f.Image.Rect.Size() != r.source {
		return nil, fmt.Errorf("frame %d is %v, not %v", index, f.Image.Rect.Size(), r.source)
	}
	return &item{index: index, frame: f, Estimate: matte.Estimate{Image: f.Image, Time: src.first + f.PTS}}, nil
}

func (r *runner) newMatte() *image.Alpha {
	if m, ok := r.mattePool.Get().(*image.Alpha); ok {
		return m
	}
	return image.NewAlpha(image.Rectangle{Max: r.source})
}

// cutOut makes the cut-out of a frame in place: colours freed of the backdrop,
// alpha multiplied by the matte. With MaskOnly it is the matte's picture.
func (r *runner) cutOut(it *item) {
	it.see()
	r.decontaminate(it)
	r.multiply(it)
}

func (r *runner) decontaminate(it *item) {
	if !r.MaskOnly && !r.KeepColours {
		r.Estimator.Decontaminate(it.Image, it.Matte, it.Foreground)
	}
}

func (r *runner) multiply(it *item) {
	matte.Multiply(it.Image, it.Matte)
	if r.MaskOnly {
		alphaToGrey(it.Image)
	}
}

// alphaToGrey turns alpha into grey, opaque.
func alphaToGrey(img *image.NRGBA) {
	p := img.Pix
	for i := 0; i+4 <= len(p); i += 4 {
		a := p[i+3]
		p[i], p[i+1], p[i+2], p[i+3] = a, a, a, 255
	}
}

// visibleAlpha is the alpha from which a pixel belongs to the subject's box and counts
// in Quality.
const visibleAlpha = 8

// subjectBox is the smallest rectangle around the pixels that are visible
// once img is multiplied by the matte.
func subjectBox(img *image.NRGBA, m *image.Alpha) image.Rectangle {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	box := image.Rectangle{Min: image.Pt(w, h)}
	for y := range h {
		row, alpha := img.Pix[y*img.Stride:][:4*w], m.Pix[y*w:][:w]
		left := firstVisible(row, alpha)
		if left == w {
			continue
		}
		box.Min.Y, box.Max.Y = min(box.Min.Y, y), y+1
		box.Min.X = min(box.Min.X, left)
		for x := w - 1; x >= max(left, box.Max.X); x-- {
			if isVisible(row, alpha, x) {
				box.Max.X = x + 1
				break
			}
		}
	}
	if box.Max.Y == 0 {
		return image.Rectangle{}
	}
	return box
}

// firstVisible is the first pixel of a row that is visible, or its length.
func firstVisible(row, alpha []uint8) int {
	for x := 0; x < len(alpha); x++ {
		for x+8 <= len(alpha) && binary.LittleEndian.Uint64(alpha[x:]) == 0 {
			x += 8
		}
		if x < len(alpha) && isVisible(row, alpha, x) {
			return x
		}
	}
	return len(alpha)
}

func isVisible(row, alpha []uint8, x int) bool {
	return alpha[x] >= visibleAlpha && (uint32(row[4*x+3])*uint32(alpha[x])+127)/255 >= visibleAlpha
}

// layOutMatte makes the matte's picture of a frame, and then puts the background behind
// the frame.
func (r *runner) layOutMatte(it *item) {
	size := it.frame.Image.Rect.Size()
	it.grey = r.pool.Get(size.X, size.Y)
	copy(it.grey.Pix, it.frame.Image.Pix)
	alphaToGrey(it.grey)
	for _, img := range []*image.NRGBA{it.frame.Image, it.before} {
		if bg := r.Canvas.Background; bg != nil && img != nil {
			canvas.Flatten(img, *bg)
		}
	}
}

// layOut puts the cut-out on the canvas and readies it for the codec.
func (r *runner) layOut(it *item, renderer *canvas.Renderer) {
	it.frame.Image = renderer.RenderSubject(it.Image, func(img *image.NRGBA) { r.harmonise(it, img) })
	it.Image = nil
	if it.before != nil {
		it.before = renderer.Render(it.before)
	}
	if r.OpenMatte != nil {
		r.layOutMatte(it)
	}
	if it.behind != nil {
		it.behind.Under(it.frame.Image)
	}
	if r.BleedReach > 0 && r.Canvas.Background == nil && r.Scene == nil {
		canvas.Bleed(it.frame.Image, r.BleedReach)
	}
}
