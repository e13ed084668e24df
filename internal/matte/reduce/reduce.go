// Package reduce brings pictures to the small size at which networks look at
// them.
package reduce

import (
	"image"
	"sync"
)

// Scaler brings pictures of one size to another. It is safe for concurrent use.
type Scaler struct {
	from, to image.Point
	rows     taps
	cols     columns
	every    int       // one of so many rows is looked at
	scratch  sync.Pool // of *sums
}

// New returns a Scaler from pictures of the size from to those of the size to.
// Sizes that are not positive panic.
func New(from, to image.Point) *Scaler {
	if min(from.X, from.Y, to.X, to.Y) <= 0 {
		panic("reduce: empty picture")
	}
	s := &Scaler{from: from, to: to, every: groupSize(from.Y, to.Y)}
	s.rows = newTaps(from.Y, s.every, to.Y)
	s.cols = newColumns(from.X, to.X)
	s.scratch.New = func() any { return newSums(from.X, &s.cols) }
	return s
}

// Sizes returns what New was given.
func (s *Scaler) Sizes() (from, to image.Point) { return s.from, s.to }

// Draw fills dst with img. Both may be parts of larger pictures. Only the
// colour of img is used; dst becomes opaque.
//
// When reducing, a pixel is the mean of its area; when enlarging, it is
// bilinear; both within 2/255. If a side shrinks to a third or less, not all
// samples are read. Rows are skipped, and without vector instructions pairs of
// columns, as long as 1.5 are left for each of dst.
func (s *Scaler) Draw(dst, img *image.NRGBA) {
	if img.Rect.Size() != s.from || dst.Rect.Size() != s.to {
		panic("reduce: pictures of another size")
	}
	if s.from == s.to {
		for y := range s.to.Y {
			copyRow(row(dst, y), row(img, y))
		}
		return
	}
	b := s.scratch.Get().(*sums)
	defer s.scratch.Put(b)
	var from [maxTaps][]byte
	for y := range s.to.Y {
		first, weight := s.rows.of(y)
		for j := range weight {
			from[j] = row(img, s.middle(first+j))
		}
		b.add(from[:len(weight)], weight)
		b.resample(row(dst, y), &s.cols)
	}
}

// middle is the row that represents group i of rows. The middle of an even
// group lies between two rows, which are used in turn, so nothing shifts.
func (s *Scaler) middle(i int) int {
	y := i*s.every + (s.every-1)/2
	if s.every%2 == 0 {
		y += i % 2
	}
	return min(y, s.from.Y-1)
}

// row is row y of img, from its upper edge.
func row(img *image.NRGBA, y int) []byte {
	return img.Pix[y*img.Stride:][:4*img.Rect.Dx()]
}

func copyRow(dst, src []byte) {
	for len(src) >= 4 && len(dst) >= 4 {
		dst[0], dst[1], dst[2], dst[3] = src[0], src[1], src[2], 255
		dst, src = dst[4:], src[4:]
	}
}
