package pipeline

import (
	"bytes"
	"image"
)

// changeThreshold is the difference of one channel beyond which a change is visible.
const changeThreshold = 8

// idle finds the runs without visible change at both ends of a clip. A run is
// held against its first frame, so that a slow fade is not taken for rest.
type idle struct {
	anchor *image.NRGBA // the frame that the present run began with
	frames int
	head   int // last frame of the run at the start
	tail   int // first frame of the present run
}

// add looks at the next frame.
func (d *idle) add(img *image.NRGBA) {
	n := d.frames
	d.frames++
	if n == 0 {
		d.anchor = clone(img)
		return
	}
	if !differs(img, d.anchor) {
		if d.tail == 0 {
			d.head = n
		}
		return
	}
	copy(d.anchor.Pix, img.Pix)
	d.tail = n
}

// active is the span that stays: of the run at the start its last frame, of the
// one at the end its first; of a clip without change the first frame.
func (d *idle) active() span {
	if d.tail == 0 {
		return span{0, 0}
	}
	return span{d.head, d.tail}
}

func differs(a, b *image.NRGBA) bool {
	if bytes.Equal(a.Pix, b.Pix) {
		return false
	}
	for i, v := range a.Pix {
		if d := int(v) - int(b.Pix[i]); d > changeThreshold || d < -changeThreshold {
			return true
		}
	}
	return false
}

func clone(img *image.NRGBA) *image.NRGBA {
	c := image.NewNRGBA(img.Rect)
	copy(c.Pix, img.Pix)
	return c
}
