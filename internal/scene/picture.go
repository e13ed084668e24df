package scene

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"

	xdraw "golang.org/x/image/draw"

	"github.com/bgremove/bgremove/pkg/option"
)

// Picture is a picture, fitted to the canvas. It is black where the picture is
// transparent or does not reach. The error is for an unknown fit.
func Picture(img image.Image, fit option.Fit) (Scene, error) {
	if err := checkFit(fit); err != nil {
		return nil, err
	}
	return drawn(func(size image.Point) *image.NRGBA {
		return newFitter(fit, img.Bounds().Size(), size).fit(img)
	}), nil
}

func checkFit(fit option.Fit) error {
	switch fit {
	case option.Cover, option.Contain, option.Tile, "":
		return nil
	}
	return fmt.Errorf("nothing fits a picture by %s", fit)
}

// fitter fits pictures of one size to a canvas. It is safe for concurrent use.
type fitter struct {
	source, size image.Point
	part         image.Rectangle // of the picture, counted from its first pixel, that is drawn
	target       image.Rectangle // of the part on the canvas; it may reach beyond
	scaler       xdraw.Scaler    // nil where nothing is scaled
	tile         bool
}

func newFitter(fit option.Fit, source, size image.Point) *fitter {
	f := &fitter{source: source, size: size, tile: fit == option.Tile}
	if f.tile {
		return f
	}
	x, y := float64(size.X)/float64(source.X), float64(size.Y)/float64(source.Y)
	scale := max(x, y)
	if fit == option.Contain {
		scale = min(x, y)
	}
	to := image.Pt(max(1, int(math.Round(float64(source.X)*scale))), max(1, int(math.Round(float64(source.Y)*scale))))
	at := image.Pt(half(size.X-to.X), half(size.Y-to.Y))
	f.part, f.target = image.Rectangle{Max: source}, image.Rectangle{Min: at, Max: at.Add(to)}
	if to.X > beyond*size.X || to.Y > beyond*size.Y {
		f.part.Min.X, f.part.Max.X, f.target.Min.X, f.target.Max.X = shown(source.X, size.X, at.X, scale)
		f.part.Min.Y, f.part.Max.Y, f.target.Min.Y, f.target.Max.Y = shown(source.Y, size.Y, at.Y, scale)
	}
	if f.target.Size() != f.part.Size() {
		f.scaler = xdraw.CatmullRom.NewScaler(f.target.Dx(), f.target.Dy(), f.part.Dx(), f.part.Dy())
	}
	return f
}

// beyond is how many times a picture may be longer than the canvas before it is cut. A scaler
// needs memory for all of it: a strip of 1×1080 pixels would be two million rows.
const beyond = 8

// shown is the part of a side of a picture, at a place and a scale, that a canvas shows, and where
// it lies on the canvas, to a pixel: whole pixels of the picture, with those that the scaler
// mixes in.
func shown(source, size, at int, scale float64) (first, last, from, to int) {
	const reach = 2 // of Catmull-Rom's kernel
	first = max(0, int(math.Floor(float64(-at)/scale))-reach)
	last = min(source, int(math.Ceil(float64(size-at)/scale))+reach)
	place := func(n int) int { return at + int(math.Round(float64(n)*scale)) }
	return first, last, place(first), place(last)
}

// half is a half, rounded down, of a number that may be negative.
func half(n int) int { return n >> 1 }

// fit returns the picture on the canvas, opaque.
func (f *fitter) fit(img image.Image) *image.NRGBA {
	out := image.NewRGBA(image.Rectangle{Max: f.size})
	draw.Draw(out, out.Rect, image.NewUniform(color.Black), image.Point{}, draw.Src)
	from := f.part.Add(img.Bounds().Min)
	switch {
	case f.tile:
		for y := 0; y < f.size.Y; y += f.source.Y {
			for x := 0; x < f.size.X; x += f.source.X {
				draw.Draw(out, image.Rectangle{Min: image.Pt(x, y), Max: image.Pt(x, y).Add(f.source)}, img, from.Min, draw.Over)
			}
		}
	case f.scaler != nil:
		f.scaler.Scale(out, f.target, img, from, draw.Over, nil)
	default:
		draw.Draw(out, f.target, img, from.Min, draw.Over)
	}
	return &image.NRGBA{Pix: out.Pix, Stride: out.Stride, Rect: out.Rect} // opaque: straight and premultiplied are the same
}
