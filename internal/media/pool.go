package media

import (
	"image"
	"sync"
)

// Pool recycles frame buffers, so that a long clip allocates no more pictures
// than are in flight. The zero value is ready to use. It is safe for
// concurrent use.
type Pool struct {
	free sync.Map // of *sync.Pool by size (image.Point)
}

// Get returns a w×h picture with arbitrary contents.
func (p *Pool) Get(w, h int) *image.NRGBA {
	if img, ok := p.sized(image.Pt(w, h)).Get().(*image.NRGBA); ok {
		return img
	}
	return image.NewNRGBA(image.Rect(0, 0, w, h))
}

// Put takes back a picture that nobody uses any more. A nil picture is
// ignored.
func (p *Pool) Put(img *image.NRGBA) {
	if img != nil {
		p.sized(img.Rect.Size()).Put(img)
	}
}

func (p *Pool) sized(size image.Point) *sync.Pool {
	if found, ok := p.free.Load(size); ok {
		return found.(*sync.Pool)
	}
	made, _ := p.free.LoadOrStore(size, new(sync.Pool))
	return made.(*sync.Pool)
}
