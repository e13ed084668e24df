// Package canvas places the subject on the output picture: crop, padding,
// scaling, anchor and background. It is pure geometry and compositing.
package canvas

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/bgremove/bgremove/pkg/option"
)

// Sampling is a way to scale a picture.
type Sampling int

// The kinds of sampling.
const (
	// Smooth is Catmull-Rom's spline.
	Smooth Sampling = iota
	// Nearest repeats or drops pixels.
	Nearest
	// Crisp is Nearest if the picture is enlarged, otherwise Smooth.
	Crisp
)

// Spec says how the output picture is made from the source picture. The zero
// value leaves the picture unchanged.
type Spec struct {
	// Crop cuts to the subject's box plus Pad pixels on each side, even beyond
	// the picture's edge. Pad counts only with Crop.
	Crop bool
	Pad  int
	// Width and Height are the canvas in pixels. If one is 0 it follows the
	// aspect ratio; if both are 0 nothing is scaled.
	Width, Height int
	Anchor        option.Anchor
	Sampling      Sampling
	// Rim is drawn around the subject. The output has room for it beside the window.
	Rim Rim
	// Background fills the output; nil leaves it transparent.
	Background *color.NRGBA
	// Even adds a column or row of background where the size is odd, because
	// H.264 with 4:2:0 chroma needs even sizes.
	Even bool
}

// Layout is a Spec computed for one clip. It is the same for all frames, so
// that nothing jumps.
type Layout struct {
	// Size is the size of the output picture.
	Size image.Point
	// Window is the visible part of the source. It may reach beyond the source,
	// where there is only background.
	Window image.Rectangle
	// Target is the place of Window on the output.
	Target image.Rectangle

	background *color.NRGBA
	rim        Rim
	nearest    bool
}

// Plan computes the layout for source pictures of the given size. The subject
// lies within box over the whole clip. An empty box is not cropped to. The error
// is ErrNoRoom, or for an unknown anchor.
func (s Spec) Plan(source image.Point, box image.Rectangle) (Layout, error) {
	l := Layout{Window: image.Rectangle{Max: source}, background: s.Background, rim: s.Rim}
	if s.Crop && !box.Empty() {
		l.Window = box.Inset(-s.Pad)
	}
	var err error
	if l.Size, l.Target, err = s.fit(l.Window.Size()); err != nil {
		return Layout{}, err
	}
	l.nearest = s.Sampling == Nearest || s.Sampling == Crisp && l.Target.Dx() > l.Window.Dx()
	if s.Even {
		l.Size.X += l.Size.X & 1
		l.Size.Y += l.Size.Y & 1
	}
	return l, nil
}

// ErrNoRoom says that the rim is wider than the canvas.
var ErrNoRoom = errors.New("the outline and the shadow leave no room on the canvas")

// fit returns the canvas for a window of size w, and the window's place on it.
func (s Spec) fit(w image.Point) (size image.Point, target image.Rectangle, err error) {
	before, after := s.Rim.Margins()
	margins := before.Add(after)
	if s.Width == 0 && s.Height == 0 {
		return w.Add(margins), image.Rectangle{Max: w}.Add(before), nil
	}
	size = image.Pt(s.Width, s.Height).Sub(margins) // of what the rim leaves
	if s.Width > 0 && size.X < 1 || s.Height > 0 && size.Y < 1 {
		return size, target, ErrNoRoom
	}
	if s.Width == 0 {
		size.X = proportional(size.Y, w.X, w.Y)
	}
	if s.Height == 0 {
		size.Y = proportional(size.X, w.Y, w.X)
	}
	scale := min(float64(size.X)/float64(w.X), float64(size.Y)/float64(w.Y))
	scaled := image.Pt(scaledSide(w.X, scale, size.X), scaledSide(w.Y, scale, size.Y))
	at, err := anchorOffset(s.Anchor, size.Sub(scaled))
	return size.Add(margins), image.Rectangle{Min: at, Max: at.Add(scaled)}.Add(before), err
}

// anchorOffset is where the subject's top left corner lies, of the room that it leaves.
func anchorOffset(a option.Anchor, room image.Point) (image.Point, error) {
	switch a {
	case option.Center, "":
		return image.Pt(room.X/2, room.Y/2), nil
	case option.Bottom:
		return image.Pt(room.X/2, room.Y), nil
	}
	return image.Point{}, fmt.Errorf("nothing is placed at anchor %s", a)
}

// proportional returns the side that goes with the given side at the ratio num:den.
func proportional(side, num, den int) int {
	return min(max(1, int(math.Round(float64(side)*float64(num)/float64(den)))), option.Canvas.Max)
}

func scaledSide(side int, scale float64, limit int) int {
	return min(max(1, int(math.Round(float64(side)*scale))), limit)
}
