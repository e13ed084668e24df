package scene

import (
	"image"

	"github.com/bgremove/bgremove/internal/canvas"
)

// Light is what shines from behind the subject on its edge: the backdrop on the
// canvas, reduced and blurred. It is not changed once it exists.
type Light struct {
	*reduced
	area   image.Point // of the canvas
	factor int         // canvas pixels for one of the light's
	reach  int         // of the boxes that blur it, in its own pixels
	tone   Tone
}

// Tone is that of the backdrop.
func (l *Light) Tone() Tone { return l.tone }

const (
	// wrapRadius is how far light comes around an edge: the standard deviation, as a
	// share of the canvas's shorter side.
	wrapRadius = 1.0 / 120
	// wrapShare is how much of the light comes around where all of it is outside.
	wrapShare = 0.4
)

// newLight prepares the light of a canvas.
func newLight(size image.Point) *Light {
	deviation := wrapRadius * float64(min(size.X, size.Y))
	factor := max(1, int(deviation/coarse))
	small := image.Pt((size.X+factor-1)/factor, (size.Y+factor-1)/factor)
	return &Light{
		reduced: newReduced(small), area: size, factor: factor, reach: canvas.BoxReach(deviation / float64(factor)),
	}
}

// lightOf is the light of an opaque picture of the canvas.
func lightOf(img *image.NRGBA) *Light {
	l := newLight(img.Rect.Size())
	l.reduce(img, l.factor)
	l.finish()
	return l
}

// finish takes the tone of the reduced picture, and blurs it.
func (l *Light) finish() {
	l.tone.addAll(l.size, func(x, y int) (r, g, b uint8, alpha uint32) {
		p := l.pix[3*(y*l.size.X+x):][:3:3]
		return p[0], p[1], p[2], 255
	})
	l.box(l.reach)
}

// wrap screens the light onto the subject's edge, as compositors do. The weight is the
// blurred share of what is not the subject. The canvas's edge is no edge of the subject.
func (l *Light) wrap(img *image.NRGBA) {
	if l.reach == 0 {
		return // the edge is too near everywhere: pixel art stays crisp
	}
	outside := l.outside(img)
	columns, rows := spread(l.area.X, l.factor, l.size.X), spread(l.area.Y, l.factor, l.size.Y)
	for y, at := range rows {
		l.wrapRow(img.Pix[y*img.Stride:][:4*len(columns)], columns, at, outside.row(at.a), outside.row(at.b))
	}
}

func (l *Light) wrapRow(row []uint8, columns []tap, y tap, above, below []uint8) {
	up, down := l.row(y.a), l.row(y.b)
	for i, x := range columns {
		p := row[4*i : 4*i+4 : 4*i+4]
		if p[3] == 0 || above[x.a]|above[x.b]|below[x.a]|below[x.b] == 0 {
			continue
		}
		weight := uint32(float64(between(above[x.a], above[x.b], below[x.a], below[x.b], x, y)) * wrapShare)
		for c := range 3 {
			shine := uint32(between(up[3*x.a+c], up[3*x.b+c], down[3*x.a+c], down[3*x.b+c], x, y))
			p[c] += uint8((uint32(255-p[c])*shine*weight + 255*255/2) / (255 * 255))
		}
	}
}

// plane is a picture of one channel with a margin on all sides.
type plane struct {
	pix           []uint8
	width, margin int // width is that of a row with its margins
}

// row is a row without its margins.
func (p *plane) row(y int) []uint8 {
	return p.pix[(y+p.margin)*p.width+p.margin:][:p.width-2*p.margin]
}

// outside is the share of each of the light's pixels that is not the subject, blurred.
// Beyond the canvas its edge is repeated.
func (l *Light) outside(img *image.NRGBA) *plane {
	m := 3 * l.reach
	p := &plane{width: l.size.X + 2*m, margin: m}
	height := l.size.Y + 2*m
	p.pix = make([]uint8, p.width*height)
	sums := make([]uint32, l.size.X)
	for y := range l.size.Y {
		l.addOutside(sums, img, y, p.row(y))
		line := p.pix[(y+m)*p.width:][:p.width]
		for i := range m {
			line[i], line[len(line)-1-i] = line[m], line[len(line)-1-m]
		}
	}
	for i := range m {
		copy(p.pix[i*p.width:][:p.width], p.pix[m*p.width:])
		copy(p.pix[(height-1-i)*p.width:], p.pix[(height-1-m)*p.width:][:p.width])
	}
	canvas.Soften(p.pix, p.width, height, l.reach)
	return p
}

// addOutside is one row of outside, before it is blurred.
func (l *Light) addOutside(sums []uint32, img *image.NRGBA, by int, out []uint8) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	clear(sums)
	top, bottom := by*l.factor, min((by+1)*l.factor, h)
	for y := top; y < bottom; y++ {
		row := img.Pix[y*img.Stride:][:4*w]
		for bx := range sums {
			for i := 4 * bx * l.factor; i < min(4*(bx+1)*l.factor, len(row)); i += 4 {
				sums[bx] += uint32(255 - row[i+3])
			}
		}
	}
	for bx, sum := range sums {
		n := uint32((bottom - top) * (min((bx+1)*l.factor, w) - bx*l.factor))
		out[bx] = uint8((sum + n/2) / n)
	}
}
