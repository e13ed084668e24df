// Package view names what the reviser, the network that improves small mattes, is
// shown of a frame.
package view

import "image"

// Plane is one byte of each pixel.
type Plane int

// The planes. Where the plate is not known the differences are 128 and the other four
// of it 0. Those of motion are 0 where nothing is known of it.
const (
	Red Plane = iota
	Green
	Blue
	// Coverage is the matte so far.
	Coverage
	// RedOff, GreenOff and BlueOff are the picture's differences from the plate in the
	// picture's light, halved, from 128.
	RedOff
	GreenOff
	BlueOff
	// Unusual is 16 times the root mean square of the differences, in Deviations.
	Unusual
	// Deviation is the plate's standard deviation over its frames, in 1/1020 of full scale.
	Deviation
	// Frames is the number of frames in the plate's mean, times 16.
	Frames
	// Claim is the share of frames in which the place was taken for the subject while having
	// the plate's colour. A subject that stands still and is missed now and then has such
	// a claim.
	Claim
	// TrackMotion is the mean motion against the camera along the place's track through the
	// clip, 0 to 254. TrackFrames is 16 times the binary logarithm of 1 plus the frames in it.
	TrackMotion
	TrackFrames
	// Motion is that from the frame before to this one, and Trust how surely it is right.
	Motion
	Trust
	// SubjectMotion and BackdropMotion are the TrackMotion in this shot of the matte's
	// liveliest fifth and of the backdrop's tenth, the same in all pixels.
	SubjectMotion
	BackdropMotion
	// Count is how many planes there are.
	Count
)

// View is a picture of W × H pixels in planes, cut off at 255, one after the other.
type View struct {
	W, H int
	Pix  []uint8
	// Known is the share of pixels that the plate is known of.
	Known float64
}

// New is a view in which nothing is known.
func New(w, h int) View { return View{W: w, H: h, Pix: make([]uint8, int(Count)*w*h)} }

// Plane is one of the planes, row by row.
func (v *View) Plane(p Plane) []uint8 {
	n := v.W * v.H
	return v.Pix[int(p)*n : int(p+1)*n : int(p+1)*n]
}

const (
	// block is the side of the squares that are looked at for something to decide, and
	// context how many pixels around them the reviser is shown, too.
	block, context = 16, 32
	// shows is the coverage that may be subject. differs is the mean of Unusual in a block
	// that is not as the plate: one and a half deviations, more than noise has.
	shows, differs = 8, 24
)

// Undecided is the part of the picture in which something may be subject: where the matte
// shows something, the picture differs from the plate, or the plate is not known. It is
// empty if there is no such part.
func (v *View) Undecided() image.Rectangle {
	var box image.Rectangle
	whole := image.Rect(0, 0, v.W, v.H)
	for y := 0; y < v.H; y += block {
		for x := 0; x < v.W; x += block {
			if r := image.Rect(x, y, x+block, y+block).Intersect(whole); v.undecided(r) {
				box = box.Union(r)
			}
		}
	}
	if box.Empty() {
		return box
	}
	return box.Inset(-context).Intersect(whole)
}

func (v *View) undecided(r image.Rectangle) bool {
	coverage, unusual, frames := v.Plane(Coverage), v.Plane(Unusual), v.Plane(Frames)
	sum, unknown := 0, 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for i := y*v.W + r.Min.X; i < y*v.W+r.Max.X; i++ {
			if coverage[i] >= shows {
				return true
			}
			sum += int(unusual[i])
			if frames[i] == 0 {
				unknown++
			}
		}
	}
	n := r.Dx() * r.Dy()
	return sum >= differs*n || 2*unknown > n
}

// Crop is a part of the view.
func (v *View) Crop(r image.Rectangle) View {
	c := View{W: r.Dx(), H: r.Dy(), Pix: make([]uint8, 0, int(Count)*r.Dx()*r.Dy()), Known: v.Known}
	for p := range Count {
		plane := v.Plane(p)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			c.Pix = append(c.Pix, plane[y*v.W+r.Min.X:y*v.W+r.Max.X]...)
		}
	}
	return c
}
