package onnx

import (
	"context"
	"hash/maphash"
	"image"

	"github.com/bgremove/bgremove/internal/matte/refine"
)

// A network sees more of a subject that fills the picture. So it looks again at the part of the
// picture around what it found, and nothing is left outside of that. Where both looks differ, the
// network may have seen too little around the subject, or there is no subject. Then one with more
// around it decides, together with them.
var second, third = surroundings{margin: 0.1, narrowest: 0.5}, surroundings{margin: 0.3, narrowest: 0.75}

const (
	// likeness is how much two mattes must have in common of what either has, to be alike.
	likeness = 0.5
	// whole is the share of a picture from which on a part of it shows no more than the picture.
	whole = 0.9
	// smallest is the least side of a part, as a share of the picture's shorter side. Away from the
	// picture's edges, the network sees a part up to enlarged times as large as it is.
	smallest, enlarged = 0.35, 2
)

// surroundings is how much of a picture around a subject the network sees. The margin is a share
// of the subject's longer side. The shorter side is at least a share of the longer one, narrowest.
type surroundings struct{ margin, narrowest float64 }

// looksCloser reports whether the network looks at frames more than once.
func (c *Clip) looksCloser() bool { return c.n.contract.spec.Closer && !c.o.NoCloser }

// closer is the matte of img when the network has looked closer. m is what it found at first. Where
// a third look would show nearly the whole picture, the first one stands.
func (c *Clip) closer(ctx context.Context, img *image.NRGBA, m *image.Alpha) (*image.Alpha, error) {
	near, err := c.look(ctx, img, m, second)
	if err != nil || alike(m, near) {
		return near, err
	}
	far, err := c.look(ctx, img, m, third)
	if err != nil {
		return nil, err
	}
	for i, a := range near.Pix {
		b, f := m.Pix[i], far.Pix[i]
		far.Pix[i] = max(min(a, b), min(max(a, b), f)) // the median
	}
	return far, nil
}

// look is the matte of img by the part of it around what m has: one of m's size, with nothing
// outside that part. Where the part is nearly the whole picture, it is m, copied.
func (c *Clip) look(ctx context.Context, img *image.NRGBA, m *image.Alpha, s surroundings) (*image.Alpha, error) {
	found := image.NewAlpha(m.Rect)
	// The part has whole pixels of the smaller of both, and so lies at the same place in both.
	coarse := image.Pt(min(m.Rect.Dx(), img.Rect.Dx()), min(m.Rect.Dy(), img.Rect.Dy()))
	least := max(smallest, shorter(m.Rect.Size())/(enlarged*shorter(img.Rect.Size())))
	r := extent(m)
	if !r.Empty() {
		r = rescale(r, m.Rect.Dx(), m.Rect.Dy(), coarse.X, coarse.Y)
	}
	if r = s.around(r, coarse, least); r.Empty() {
		copy(found.Pix, m.Pix)
		return found, nil
	}
	part := img.SubImage(rescale(r, coarse.X, coarse.Y, img.Rect.Dx(), img.Rect.Dy()).Add(img.Rect.Min)).(*image.NRGBA)
	v := c.n.contract.letterbox(part.Rect.Size())
	res, err := c.run(ctx, v.draw(part), v)
	if err != nil {
		return nil, err
	}
	r = rescale(r, coarse.X, coarse.Y, m.Rect.Dx(), m.Rect.Dy())
	fit := image.NewAlpha(image.Rectangle{Max: r.Size()})
	refine.Resize(fit, res.Matte)
	refine.Place(found, r, fit)
	return found, nil
}

// seed is that of hashes.
var seed = maphash.MakeSeed()

// hash is equal for equal pictures. Those that look the same from afar may differ closer.
func hash(img *image.NRGBA) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for y := range img.Rect.Dy() {
		_, _ = h.Write(img.Pix[y*img.Stride:][:4*img.Rect.Dx()])
	}
	return h.Sum64()
}

// around is the part of a picture of a size around what lies in r. Its sides are a share of the
// picture's shorter side, least, or more. It is empty if nothing lies in r, or if it is nearly the
// whole picture.
func (s surroundings) around(r image.Rectangle, size image.Point, least float64) image.Rectangle {
	if r.Empty() {
		return r
	}
	r = r.Inset(-int(s.margin*float64(max(r.Dx(), r.Dy())) + 0.5))
	side := int(max(s.narrowest*float64(max(r.Dx(), r.Dy())), least*shorter(size)))
	more := image.Pt(max(side-r.Dx(), 0), max(side-r.Dy(), 0))
	r.Min = r.Min.Sub(more.Div(2))
	r.Max = r.Max.Add(more.Sub(more.Div(2)))
	r = r.Intersect(image.Rectangle{Max: size})
	if float64(r.Dx()*r.Dy()) > whole*float64(size.X*size.Y) {
		return image.Rectangle{}
	}
	return r
}

// extent is the least part of a matte with all that is more subject than not.
func extent(m *image.Alpha) (r image.Rectangle) {
	w := m.Rect.Dx()
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:w]
		first := 0
		for first < w && row[first] < 128 {
			first++
		}
		if first == w {
			continue
		}
		last := w
		for row[last-1] < 128 {
			last--
		}
		r = r.Union(image.Rect(first, y, last, y+1))
	}
	return r
}

// alike reports whether two mattes of one size have much in common.
func alike(m, other *image.Alpha) bool {
	var both, either int
	for i, a := range m.Pix {
		b := other.Pix[i]
		both += int(min(a, b))
		either += int(max(a, b))
	}
	return float64(both) >= likeness*float64(either)
}

// shorter is the shorter side of a size.
func shorter(size image.Point) float64 { return float64(min(size.X, size.Y)) }
