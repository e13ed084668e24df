package media

import (
	"image"
	"sync"
)

// Pool recycles frame buffers of one size, so that a long clip allocates no
// more pictures than are in flight. The zero value is ready to use. It is safe
// for concurrent use.
type Pool struct{ free sync.Pool }

// Get returns a w×h picture with arbitrary contents.
func (p *Pool) Get(w, h int) *image.NRGBA {
	if img, ok := p.free.Get().(*image.NRGBA); ok && img.Rect.Dx() == w && img.Rect.Dy() == h {
		return img
	}
	return image.NewNRGBA(image.Rect(0, 0, w, h))
}

// Put takes back a picture that nobody uses any more. A nil picture is
// ignored.
func (p *Pool) Put(img *image.NRGBA) {
	if img != nil {
		p.free.Put(img)
	}
}
