package view

// MarkPlane is one byte of each pixel.
type MarkPlane int

// The planes of Marked. Shares of 1 are 255.
const (
	MarkRed MarkPlane = iota
	MarkGreen
	MarkBlue
	// MarkKeep and MarkDrop are what hints mark, carried along the motion from the frames
	// that they are for, by how surely.
	MarkKeep
	MarkDrop
	// MarkBefore is the matte of the place in the frame before, in the direction in which
	// the hints are followed, and MarkTrust how surely it is the same place.
	MarkBefore
	MarkTrust
	// MarkCount is how many planes there are.
	MarkCount
)

// Marked is a picture of W × H pixels with hints, in planes, one after the other.
type Marked struct {
	W, H int
	Pix  []uint8
}

// NewMarked is a black picture without hints.
func NewMarked(w, h int) Marked { return Marked{w, h, make([]uint8, int(MarkCount)*w*h)} }

// Plane is one of the planes, row by row.
func (m *Marked) Plane(p MarkPlane) []uint8 {
	n := m.W * m.H
	return m.Pix[int(p)*n : int(p+1)*n : int(p+1)*n]
}

// Unmarked is the same picture without hints.
func (m *Marked) Unmarked() Marked {
	picture := NewMarked(m.W, m.H)
	for p := range MarkKeep {
		copy(picture.Plane(p), m.Plane(p))
	}
	return picture
}
