// Package view names what the small networks are shown: the reviser of a frame, the
// chooser of its cells, and the guide of a frame with hints.
package view

import "image"

// Plane is one byte of each pixel.
type Plane int

// The planes of a View. Where the plate is not known the differences are 128 and the
// other four of it 0.
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

// Part is a copy of the part of v in r, which lies inside.
func (v *View) Part(r image.Rectangle) View {
	part := New(r.Dx(), r.Dy())
	part.Known = v.Known
	for p := range Count {
		from, to := v.Plane(p), part.Plane(p)
		for y := range part.H {
			copy(to[y*part.W:][:part.W], from[(r.Min.Y+y)*v.W+r.Min.X:])
		}
	}
	return part
}
