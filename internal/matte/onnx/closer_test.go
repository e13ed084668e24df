package onnx

import (
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/bgremove/bgremove/internal/network/model"
)

// fakeEngine gives in each look what that finds at pixels, by their red, from 0 to 1. The last look
// is that of all others. A nil one fails.
type fakeEngine struct {
	looks []func(red uint8) float32
	seen  []image.Point
}

func (e *fakeEngine) provider() string { return "cpu" }
func (e *fakeEngine) refused() error   { return nil }
func (e *fakeEngine) close() error     { return nil }

func (e *fakeEngine) run(_ context.Context, in, out []*tensor) error {
	h, w := in[0].shape[1], in[0].shape[2]
	look := e.looks[min(len(e.seen), len(e.looks)-1)]
	e.seen = append(e.seen, image.Pt(int(w), int(h)))
	if look == nil {
		return errors.New("broken")
	}
	out[0].resize(float32Elem, 1, h, w, 1)
	for i := range out[0].f32 {
		out[0].f32[i] = look(in[0].u8[3*i])
	}
	return nil
}

// looking is a clip with a network that sees 64 pixels of the shorter side, and looks closer.
func looking(e engine, o ClipOptions) *Clip {
	n := &Network{
		engine: e, slots: make(chan *slot, 1), closed: make(chan struct{}),
		contract: contract{
			spec:    model.Spec{Input: model.Input{ShortSide: 64, Multiple: 32}, Closer: true},
			image:   port{elem: uint8Elem},
			nhwc:    true,
			outputs: []port{{}},
		},
	}
	n.slots <- &slot{value: n.contract.luts()}
	return n.NewClip(o)
}

// scene is a picture of 256×128 with a thing of red 200 on black, and one of red 90.
func scene() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 256, 128))
	draw.Draw(img, img.Rect, image.NewUniform(color.NRGBA{A: 255}), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(160, 40, 200, 80), image.NewUniform(color.NRGBA{R: 200, A: 255}), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(8, 8, 24, 24), image.NewUniform(color.NRGBA{R: 90, A: 255}), image.Point{}, draw.Src)
	return img
}

// The looks of a network.
func share(red uint8) float32 { return float32(red) / 255 }
func strong(red uint8) float32 {
	if red > 100 {
		return 1
	}
	return 0
}
func nothing(uint8) float32 { return 0 }

// TestCloser: the network looks at the surroundings of what it found. Nothing stays outside. Where
// both looks differ, a third one decides.
func TestCloser(t *testing.T) {
	t.Parallel()
	type look = func(uint8) float32
	for _, tt := range []struct {
		name        string
		looks       []look
		options     ClipOptions
		seen        []image.Point
		thing, rest uint8 // in the middle of the things
	}{
		{"both alike", []look{share, strong}, ClipOptions{}, []image.Point{{128, 64}, {64, 64}}, 255, 0},
		{"switched off", []look{share, strong}, ClipOptions{NoCloser: true}, []image.Point{{128, 64}}, 200, 90},
		{"nothing found", []look{nothing, strong}, ClipOptions{}, []image.Point{{128, 64}}, 0, 0},
		{"all found", []look{func(uint8) float32 { return 1 }, nothing}, ClipOptions{}, []image.Point{{128, 64}}, 255, 255},
		{"seen again from afar", []look{strong, nothing, share}, ClipOptions{}, []image.Point{{128, 64}, {64, 64}, {64, 64}}, 200, 0},
		{"a third look would be the first", []look{func(r uint8) float32 { return 3 * share(r) }, nothing}, ClipOptions{}, []image.Point{{128, 64}, {128, 64}}, 255, 255},
		{"not seen again", []look{strong, nothing, nothing}, ClipOptions{}, []image.Point{{128, 64}, {64, 64}, {64, 64}}, 0, 0},
	} {
		e := &fakeEngine{looks: tt.looks}
		r, err := looking(e, tt.options).Estimate(t.Context(), scene())
		if err != nil {
			t.Fatal(err)
		}
		if len(e.seen) != len(tt.seen) {
			t.Fatalf("%s: looks at %v, want %v", tt.name, e.seen, tt.seen)
		}
		for i, size := range tt.seen {
			if e.seen[i] != size {
				t.Errorf("%s: look %d has %v, want %v", tt.name, i, e.seen[i], size)
			}
		}
		if r.Matte.Rect != image.Rect(0, 0, 128, 64) || r.Picture.Rect != r.Matte.Rect {
			t.Errorf("%s: a matte of %v, a picture of %v", tt.name, r.Matte.Rect, r.Picture.Rect)
		}
		if thing, rest := r.Matte.AlphaAt(90, 30).A, r.Matte.AlphaAt(8, 8).A; thing != tt.thing || rest != tt.rest {
			t.Errorf("%s: %d and %d, want %d and %d", tt.name, thing, rest, tt.thing, tt.rest)
		}
	}
}

// TestCloserStays: what is seen closer lies where it was, to a pixel of the matte.
func TestCloserStays(t *testing.T) {
	t.Parallel()
	img := scene()
	far, err := looking(&fakeEngine{looks: []func(uint8) float32{strong}}, ClipOptions{NoCloser: true}).Estimate(t.Context(), img)
	if err != nil {
		t.Fatal(err)
	}
	part := image.NewNRGBA(image.Rect(0, 0, 300, 200)) // frames may be parts of larger pictures
	draw.Draw(part, image.Rect(30, 50, 286, 178), img, image.Point{}, draw.Src)
	sub := part.SubImage(image.Rect(30, 50, 286, 178)).(*image.NRGBA)
	near, err := looking(&fakeEngine{looks: []func(uint8) float32{strong}}, ClipOptions{}).Estimate(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := extent(far.Matte), extent(near.Matte); a != image.Rect(80, 20, 100, 40) || !b.In(a.Inset(-1)) || !a.In(b.Inset(-1)) {
		t.Errorf("%v, closer %v", a, b)
	}
}

// TestCloserOfThin: no part of a thin picture is empty where the network sees it in another shape.
func TestCloserOfThin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ img, matte image.Point }{
		{image.Pt(1, 239), image.Pt(1, 320)},
		{image.Pt(239, 1), image.Pt(320, 1)},
		{image.Pt(2, 400), image.Pt(1, 320)},
		{image.Pt(17, 90), image.Pt(32, 64)},
	} {
		c := looking(&fakeEngine{looks: []func(uint8) float32{strong}}, ClipOptions{})
		for k := range max(tt.matte.X, tt.matte.Y) {
			m := image.NewAlpha(image.Rectangle{Max: tt.matte})
			m.SetAlpha(min(k, tt.matte.X-1), min(k, tt.matte.Y-1), color.Alpha{A: 255})
			if _, err := c.look(t.Context(), image.NewNRGBA(image.Rectangle{Max: tt.img}), m, second); err != nil {
				t.Fatal(tt, k, err)
			}
		}
	}
}

// TestCloserReuse: frames that only look the same from afar have each their own matte.
func TestCloserReuse(t *testing.T) {
	t.Parallel()
	img := scene()
	for _, tt := range []struct {
		name    string
		change  func()
		options ClipOptions
		want    bool
	}{
		{"equal", func() {}, ClipOptions{}, true},
		{"nearly", func() { img.Pix[img.PixOffset(170, 50)]-- }, ClipOptions{}, false},
		{"nearly, from afar", func() { img.Pix[img.PixOffset(170, 50)]++ }, ClipOptions{NoCloser: true}, true},
	} {
		c := looking(&fakeEngine{looks: []func(uint8) float32{strong}}, tt.options)
		var again Estimated
		for k := range 2 {
			var err error
			if again, err = c.Estimate(t.Context(), img); err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				tt.change()
			}
		}
		if again.Reused != tt.want {
			t.Errorf("%s: reused is %v", tt.name, again.Reused)
		}
	}
}

// TestCloserFails: a look that fails fails the frame, which is not remembered.
func TestCloserFails(t *testing.T) {
	t.Parallel()
	for _, looks := range [][]func(uint8) float32{{strong, nil}, {strong, nothing, nil}} {
		c := looking(&fakeEngine{looks: looks}, ClipOptions{})
		for range 2 {
			var bad *ModelError
			if r, err := c.Estimate(t.Context(), scene()); !errors.As(err, &bad) || r.Reused {
				t.Errorf("%d looks: %+v, %v", len(looks), r, err)
			}
		}
	}
}

func TestSurroundings(t *testing.T) {
	t.Parallel()
	size := image.Pt(400, 200)
	for _, tt := range []struct {
		s             surroundings
		r             image.Rectangle
		least         float64
		width, height int
	}{
		{second, image.Rect(100, 50, 200, 150), smallest, 120, 120},
		{second, image.Rect(100, 95, 300, 105), smallest, 240, 120}, // half as high as wide
		{second, image.Rect(100, 95, 110, 105), smallest, 70, 70},   // .35 of the shorter side
		{second, image.Rect(100, 95, 110, 105), 0.6, 120, 120},
		{second, image.Rect(0, 0, 100, 100), smallest, 110, 110}, // at the corner
		{third, image.Rect(150, 50, 200, 150), smallest, 120, 160},
		{second, image.Rect(10, 10, 390, 190), smallest, 0, 0}, // nearly all
		{second, image.Rectangle{}, smallest, 0, 0},
	} {
		got := tt.s.around(tt.r, size, tt.least)
		if got.Dx() != tt.width || got.Dy() != tt.height || !got.Empty() && !tt.r.In(got) || !got.In(image.Rectangle{Max: size}) {
			t.Errorf("%v around %v: %v, want %d×%d", tt.s, tt.r, got, tt.width, tt.height)
		}
	}
}
