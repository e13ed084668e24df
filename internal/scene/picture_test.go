package scene_test

import (
	"image"
	"image/color"
	"testing"

	xdraw "golang.org/x/image/draw"

	"github.com/bgremove/bgremove/internal/scene"
	"github.com/bgremove/bgremove/pkg/option"
)

var (
	red   = color.NRGBA{255, 0, 0, 255}
	blue  = color.NRGBA{0, 0, 255, 255}
	black = color.NRGBA{A: 255}
)

// halves is red on the left and blue on the right.
func halves(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		c := red
		if i%w >= w/2 {
			c = blue
		}
		img.SetNRGBA(i%w, i/w, c)
	}
	return img
}

// A strip that is enlarged far beyond the canvas looks as if all of it were scaled, and takes no
// more memory than its part on the canvas.
func TestStrip(t *testing.T) {
	t.Parallel()
	canvas := image.Pt(40, 20)
	for _, c := range []struct{ strip, scaled image.Point }{
		{image.Pt(1, 200), image.Pt(40, 8000)}, {image.Pt(300, 1), image.Pt(6000, 20)}, {image.Pt(2, 99), image.Pt(40, 1980)},
	} {
		picture := noise(c.strip, grey, 100)
		for i := 3; i < len(picture.Pix); i += 4 {
			picture.Pix[i] = 255
		}
		whole := image.NewRGBA(image.Rectangle{Max: c.scaled})
		xdraw.CatmullRom.Scale(whole, whole.Rect, picture, picture.Rect, xdraw.Src, nil)
		at := image.Pt((c.scaled.X-canvas.X)>>1, (c.scaled.Y-canvas.Y)>>1)
		s, err := scene.Picture(picture, option.Cover)
		if err != nil {
			t.Fatal(err)
		}
		got := image.NewNRGBA(image.Rectangle{Max: canvas})
		under(t, s, scene.Plain(canvas), nil, got)
		for i := range canvas.X * canvas.Y {
			p := image.Pt(i%canvas.X, i/canvas.X)
			want := whole.RGBAAt(p.X+at.X, p.Y+at.Y)
			if !near(got.NRGBAAt(p.X, p.Y), color.NRGBA(want)) {
				t.Fatalf("%v: %v is %v, want %v", c.strip, p, got.NRGBAAt(p.X, p.Y), want)
			}
		}
	}
	for _, strip := range []image.Point{{1, 16000}, {16000, 1}} {
		if scaled := scene.ScaledTo(strip, canvas); scaled.X*scaled.Y > 100*canvas.X*canvas.Y {
			t.Errorf("%v is scaled to %v", strip, scaled)
		}
	}
}

func TestPictureFit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fit     option.Fit
		picture image.Image
		want    map[image.Point]color.NRGBA // of a canvas of 40×20
	}{
		"cover, wide":    {option.Cover, halves(80, 20), map[image.Point]color.NRGBA{{0, 0}: red, {19, 9}: red, {20, 9}: blue, {39, 19}: blue}},
		"cover, default": {"", halves(20, 20), map[image.Point]color.NRGBA{{0, 0}: red, {10, 9}: red, {30, 9}: blue, {39, 19}: blue}},
		"contain":        {option.Contain, halves(20, 20), map[image.Point]color.NRGBA{{9, 9}: black, {10, 0}: red, {29, 19}: blue, {30, 9}: black}},
		"contain, large": {option.Contain, halves(200, 200), map[image.Point]color.NRGBA{{9, 9}: black, {12, 9}: red, {27, 19}: blue, {30, 9}: black}},
		"tile":           {option.Tile, halves(6, 4), map[image.Point]color.NRGBA{{0, 0}: red, {3, 3}: blue, {6, 4}: red, {36, 16}: red, {39, 19}: blue}},
		"transparent":    {option.Cover, image.NewNRGBA(image.Rect(0, 0, 40, 20)), map[image.Point]color.NRGBA{{0, 0}: black}},
	} {
		s, err := scene.Picture(c.picture, c.fit)
		if err != nil {
			t.Fatal(err)
		}
		img := image.NewNRGBA(image.Rect(0, 0, 40, 20))
		img.SetNRGBA(5, 5, color.NRGBA{1, 2, 3, 255})
		under(t, s, scene.Plain(img.Rect.Size()), nil, img)
		if got := img.NRGBAAt(5, 5); got != (color.NRGBA{1, 2, 3, 255}) {
			t.Errorf("%s: the subject is %v", name, got)
		}
		for at, want := range c.want {
			if got := img.NRGBAAt(at.X, at.Y); got != want {
				t.Errorf("%s: %v is %v, want %v", name, at, got, want)
			}
		}
	}
	if _, err := scene.Picture(halves(2, 2), "stretch"); err == nil {
		t.Error("an unknown fit is taken")
	}
}
