package canvas

import (
	"image"
	"image/color"
	"image/draw"
	"sync"

	xdraw "golang.org/x/image/draw"

	"github.com/bgremove/bgremove/internal/media"
)

// Renderer draws frames into a Layout. It is safe for concurrent use.
type Renderer struct {
	layout    Layout
	source    image.Point
	scaler    xdraw.Scaler // nil when nothing is scaled
	uncovered bool         // the source leaves some of the canvas uncovered
	pool      *media.Pool
	window    sync.Pool // *image.NRGBA of the window's size, empty where the source does not reach
	scaled    sync.Pool // *image.RGBA of the target's size
}

// NewRenderer prepares a layout for source pictures of the given size. The
// renderer takes new pictures from pool.
func NewRenderer(l Layout, source image.Point, pool *media.Pool) *Renderer {
	r := &Renderer{layout: l, source: source, pool: pool}
	r.uncovered = l.Target != image.Rectangle{Max: l.Size} || !l.Window.In(image.Rectangle{Max: source})
	if from, to := l.Window.Size(), l.Target.Size(); from != to {
		// Catmull-Rom, on premultiplied colour: x/image premultiplies NRGBA
		// sources itself.
		r.scaler = xdraw.CatmullRom.NewScaler(to.X, to.Y, from.X, from.Y)
		if l.nearest {
			r.scaler = xdraw.NearestNeighbor
		}
		r.window.New = func() any { return image.NewNRGBA(image.Rectangle{Max: from}) }
		r.scaled.New = func() any { return image.NewRGBA(image.Rectangle{Max: to}) }
	}
	return r
}

// Render returns img laid out on the canvas, on its background. It takes ownership of img: the
// result may be img itself; otherwise img goes back to the pool.
func (r *Renderer) Render(img *image.NRGBA) *image.NRGBA {
	out := r.place(img)
	r.flatten(out)
	return out
}

// RenderSubject is Render for a cut-out. change, which may be nil, sees it on the canvas
// before the rim is drawn around it.
func (r *Renderer) RenderSubject(img *image.NRGBA, change func(*image.NRGBA)) *image.NRGBA {
	out := r.place(img)
	if change != nil {
		change(out)
	}
	r.layout.rim.Draw(out)
	r.flatten(out)
	return out
}

func (r *Renderer) place(img *image.NRGBA) *image.NRGBA {
	l := &r.layout
	out := img
	if r.scaler != nil || l.Window != img.Rect || l.Size != r.source {
		out = r.pool.Get(l.Size.X, l.Size.Y)
		if r.uncovered {
			clear(out.Pix)
		}
		if r.scaler != nil {
			r.scale(out, img)
		} else {
			copyWindow(out, l.Target.Min, img, l.Window)
		}
		r.pool.Put(img)
	}
	return out
}

func (r *Renderer) flatten(img *image.NRGBA) {
	if bg := r.layout.background; bg != nil {
		Flatten(img, *bg)
	}
}

// scale draws the window of img, resampled, onto the target.
func (r *Renderer) scale(dst, img *image.NRGBA) {
	window := img
	if r.layout.Window != img.Rect {
		w := r.window.Get().(*image.NRGBA)
		defer r.window.Put(w)
		copyWindow(w, image.Point{}, img, r.layout.Window)
		window = w
	}
	scaled := r.scaled.Get().(*image.RGBA)
	defer r.scaled.Put(scaled)
	r.scaler.Scale(scaled, scaled.Rect, window, window.Rect, draw.Src, nil)
	unpremultiply(dst, r.layout.Target.Min, scaled)
}

// copyWindow copies the part of img within window to dst; the window's corner goes
// to at.
func copyWindow(dst *image.NRGBA, at image.Point, img *image.NRGBA, window image.Rectangle) {
	part := window.Intersect(img.Rect)
	to := part.Min.Sub(window.Min).Add(at)
	for y := range part.Dy() {
		d := dst.PixOffset(to.X, to.Y+y)
		s := img.PixOffset(part.Min.X, part.Min.Y+y)
		copy(dst.Pix[d:d+4*part.Dx()], img.Pix[s:s+4*part.Dx()])
	}
}

// unpremultiply copies src to dst at the given place and divides colour by
// alpha.
func unpremultiply(dst *image.NRGBA, at image.Point, src *image.RGBA) {
	for y := range src.Rect.Dy() {
		d := dst.Pix[dst.PixOffset(at.X, at.Y+y):]
		s := src.Pix[y*src.Stride:][:4*src.Rect.Dx()]
		for i := 0; i < len(s); i += 4 {
			switch a := uint32(s[i+3]); a {
			case 0:
				d[i], d[i+1], d[i+2], d[i+3] = 0, 0, 0, 0
			case 255:
				copy(d[i:i+4], s[i:i+4])
			default:
				d[i] = uint8(min(255, (uint32(s[i])*255+a/2)/a))
				d[i+1] = uint8(min(255, (uint32(s[i+1])*255+a/2)/a))
				d[i+2] = uint8(min(255, (uint32(s[i+2])*255+a/2)/a))
				d[i+3] = uint8(a)
			}
		}
	}
}

// Flatten composites img on a solid colour, in place; the result is opaque.
func Flatten(img *image.NRGBA, on color.NRGBA) {
	p := img.Pix
	for i := 0; i+4 <= len(p); i += 4 {
		a := uint32(p[i+3])
		if a == 255 {
			continue
		}
		p[i] = Mix(p[i], on.R, a)
		p[i+1] = Mix(p[i+1], on.G, a)
		p[i+2] = Mix(p[i+2], on.B, a)
		p[i+3] = 255
	}
}

// Mix is a·c + (1−a)·on, rounded; a is in 1/255.
func Mix(c, on uint8, a uint32) uint8 {
	v := uint32(c)*a + uint32(on)*(255-a) + 127
	return uint8(v / 255)
}
