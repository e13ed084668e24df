package media

import (
	"image"
	"sync"
)

// Pool recycles frame buffers, so a long clip allocates no more pictures than
// are in flight at once. It keeps returned buffers until it is dropped itself:
// their number depends on the frames in flight and not on the garbage
// collector. The zero value is ready to use; a nil Pool keeps nothing. It is
// safe for concurrent use.
type Pool struct {
	mu   sync.Mutex
	free map[image.Point][]*image.NRGBA
}

// Get returns a w×h picture with arbitrary contents.
func (p *Pool) Get(w, h int) *image.NRGBA {
	if p == nil {
		return image.NewNRGBA(image.Rect(0, 0, w, h))
	}
	size := image.Pt(w, h)
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free[size]); n > 0 {
		img := p.free[size][n-1]
		p.free[size] = p.free[size][:n-1]
		return img
	}
	return image.NewNRGBA(image.Rect(0, 0, w, h))
}

// Put takes back a picture that nobody uses any more. A nil picture is
// ignored.
func (p *Pool) Put(img *image.NRGBA) {
	if p == nil || img == nil {
		return
	}
	size := img.Rect.Size()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == nil {
		p.free = make(map[image.Point][]*image.NRGBA)
	}
	p.free[size] = append(p.free[size], img)
}
