package pipeline

import (
	"context"
	"fmt"
	"image"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
)

// item is a frame on its way through the stages of a pass.
type item struct {
	index int
	frame *media.Frame
	matte *image.Alpha
	box   image.Rectangle // the subject's, where it was asked for
	// before is the source picture, kept only until there is a preview.
	before *image.NRGBA
}

// read takes the next frame from src.
func (r *runner) read(ctx context.Context, src *timed, index int) (*item, error) {
	defer r.clock.start("decode")()
	f, err := src.Next(ctx)
	if err != nil {
		return nil, err
	}
	if f.Image.Rect.Size() != r.source {
		return nil, fmt.Errorf("frame %d is %v, not %v", index, f.Image.Rect.Size(), r.source)
	}
	return &item{index: index, frame: f, matte: r.newMatte()}, nil
}

func (r *runner) newMatte() *image.Alpha {
	if m, ok := r.mattes.Get().(*image.Alpha); ok {
		return m
	}
	return image.NewAlpha(image.Rectangle{Max: r.source})
}

// estimate is the stage that fills in mattes. Only stateless estimators take
// several frames at once.
func (r *runner) estimate(ctx context.Context, g *errgroup.Group, in <-chan *item) <-chan *item {
	workers := r.Workers
	if !r.Estimator.Stateless() {
		workers = 1
	}
	return ordered(ctx, g, in, workers, func(ctx context.Context, it *item) error {
		defer r.clock.start("matte")()
		if err := r.Estimator.Estimate(ctx, it.frame.Image, it.matte); err != nil {
			return fmt.Errorf("matte of frame %d: %w", it.index, err)
		}
		return nil
	})
}

// cut makes the cut-out of a frame in place: colours freed of the backdrop,
// alpha multiplied by the matte. With MaskOnly it is the matte's picture.
func (r *runner) cut(it *item, measureBox bool) {
	defer r.clock.start("cut out")()
	img := it.frame.Image
	if !r.MaskOnly {
		r.Estimator.Decontaminate(img, it.matte)
	}
	multiply(img, it.matte)
	if measureBox {
		it.box = subjectBox(img)
	}
	if r.MaskOnly {
		picture(img)
	}
}

// multiply scales the alpha of img by the matte.
func multiply(img *image.NRGBA, m *image.Alpha) {
	for i, v := range m.Pix {
		a := &img.Pix[4*i+3]
		switch {
		case v == 0:
			*a = 0
		case v != 255:
			*a = uint8((uint32(*a)*uint32(v) + 127) / 255)
		}
	}
}

// picture turns alpha into grey, opaque.
func picture(img *image.NRGBA) {
	p := img.Pix
	for i := 0; i+4 <= len(p); i += 4 {
		a := p[i+3]
		p[i], p[i+1], p[i+2], p[i+3] = a, a, a, 255
	}
}

// visible is the alpha from which a pixel belongs to the subject's box.
const visible = 8

// subjectBox is the smallest rectangle around the visible pixels.
func subjectBox(img *image.NRGBA) image.Rectangle {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	box := image.Rectangle{Min: image.Pt(w, h)}
	for y := range h {
		row := img.Pix[y*img.Stride:][:4*w]
		left := firstVisible(row)
		if left < 0 {
			continue
		}
		box.Min.Y, box.Max.Y = min(box.Min.Y, y), y+1
		box.Min.X = min(box.Min.X, left)
		for x := w - 1; x >= max(left, box.Max.X); x-- {
			if row[4*x+3] >= visible {
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

func firstVisible(row []uint8) int {
	for i := 3; i < len(row); i += 4 {
		if row[i] >= visible {
			return i / 4
		}
	}
	return -1
}

// lay puts the cut-out on the canvas and readies it for the codec.
func (r *runner) lay(it *item, renderer *canvas.Renderer) {
	defer r.clock.start("lay out")()
	it.frame.Image = renderer.Render(it.frame.Image)
	if it.before != nil {
		it.before = renderer.Render(it.before)
	}
	if r.BleedReach > 0 && r.Canvas.Background == nil {
		canvas.Bleed(it.frame.Image, r.BleedReach)
	}
}
