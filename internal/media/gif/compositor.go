package gif

import (
	"encoding/binary"
	"image"
)

// compositor paints pictures on the canvas and takes them away again as their
// disposal says (GIF89a, section 23; background is transparency, as browsers
// have it). It holds one canvas and at most one saved copy.
type compositor struct {
	bounds image.Rectangle
	pix    []byte // NRGBA, rows contiguous

	saved    []byte // the pixels below rect, for disposePrevious
	rect     image.Rectangle
	disposal disposal

	colours [256]uint32
	opaque  bool
}

func newCompositor(w, h int) *compositor {
	return &compositor{bounds: image.Rect(0, 0, w, h), pix: make([]byte, 4*w*h)}
}

// begin disposes of the picture before and prepares for pic.
func (c *compositor) begin(pic *imageBlock) {
	c.dispose()
	c.rect, c.disposal = pic.rect.Intersect(c.bounds), pic.control.disposal
	if c.disposal == disposePrevious {
		c.save()
	}
	c.colours = pic.colourTable.packed
	if t := pic.control.transparent; t > 0 {
		c.colours[t-1] = 0
	}
	c.opaque = pic.opaque() && pic.colourTable.size >= 1<<min(pic.codeSize, 8)
}

func (c *compositor) dispose() {
	switch c.disposal {
	case disposeBackground:
		c.rows(func(row []byte) { clear(row) })
	case disposePrevious:
		below := c.saved
		c.rows(func(row []byte) { below = below[copy(row, below):] })
	}
}

func (c *compositor) save() {
	if need := 4 * c.rect.Dx() * c.rect.Dy(); cap(c.saved) < need {
		c.saved = make([]byte, 0, need)
	}
	c.saved = c.saved[:0]
	c.rows(func(row []byte) { c.saved = append(c.saved, row...) })
}

// rows calls do with the bytes of each row of the picture's visible part.
func (c *compositor) rows(do func(row []byte)) {
	for y := c.rect.Min.Y; y < c.rect.Max.Y; y++ {
		at := c.offset(y)
		do(c.pix[at : at+4*c.rect.Dx()])
	}
}

// offset is where the picture's row at canvas height y begins.
func (c *compositor) offset(y int) int { return 4 * (y*c.bounds.Max.X + c.rect.Min.X) }

// paint puts one row of palette indices, as wide as the picture or cut short,
// at canvas height y. Rows and columns off the canvas are dropped.
func (c *compositor) paint(y int, indices []byte) {
	if y >= c.rect.Max.Y || c.rect.Empty() {
		return
	}
	indices = indices[:min(len(indices), c.rect.Dx())]
	at := c.offset(y)
	dst := c.pix[at : at+4*len(indices)]
	if c.opaque {
		for i, index := range indices {
			binary.LittleEndian.PutUint32(dst[4*i:4*i+4], c.colours[index])
		}
		return
	}
	for i, index := range indices {
		if colour := c.colours[index]; colour != 0 {
			binary.LittleEndian.PutUint32(dst[4*i:4*i+4], colour)
		}
	}
}

// rowOrder yields the rows of a picture in the order of its data (GIF89a,
// appendix E).
type rowOrder struct{ y, height, step, pass int }

func newRowOrder(pic *imageBlock) rowOrder {
	if pic.interlaced {
		return rowOrder{height: pic.rect.Dy(), step: 8}
	}
	return rowOrder{height: pic.rect.Dy(), step: 1, pass: 3}
}

// done says that no row is left.
func (o *rowOrder) done() bool { return o.y >= o.height }

func (o *rowOrder) advance() {
	o.y += o.step
	for o.y >= o.height && o.pass < 3 {
		o.pass++
		o.y, o.step = 8>>o.pass, 16>>o.pass
	}
}
