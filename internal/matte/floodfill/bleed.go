package floodfill

import "image"

const (
	// bleedReach is how far in pixels halved chroma carries the backdrop's colour
	// into the subject, depth from where it is the subject's own.
	bleedReach, depth = 2, 3
)

// restoreChroma restores the colour of the subject's edge in compressed pictures. Their
// chroma has half the resolution, so the backdrop's colour reaches into pixels
// that the subject covers fully, and a mix of colours is not a mix of chroma.
// Lightness is un-mixed for every pixel. Chroma is taken from deeper inside the
// subject if it is farther from the backdrop's there.
func (p *mixedPixels) restoreChroma(b *metric, img *image.NRGBA, m *image.Alpha) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	p.collectInner(m, w, h)
	for _, at := range p.inner {
		b.tint(img, m, int(at), w, h)
	}
	for _, at := range p.sorted {
		b.tint(img, m, int(at), w, h)
	}
	for _, at := range p.inner {
		p.near[at] = false
	}
}

// collectInner lists the fully covered pixels within bleedReach of a pixel that is not,
// and marks them in near until restoreChroma is done.
func (p *mixedPixels) collectInner(m *image.Alpha, w, h int) {
	if len(p.near) < len(m.Pix) {
		p.near = make([]bool, len(m.Pix))
	}
	p.inner = p.inner[:0]
	for _, at := range p.at {
		x, y := int(at)%w, int(at)/w
		for _, o := range around {
			qx, qy := x, y
			for range bleedReach {
				qx, qy = qx+int(o[0]), qy+int(o[1])
				if uint(qx) >= uint(w) || uint(qy) >= uint(h) {
					break
				}
				if q := qy*w + qx; m.Pix[q] == 255 && !p.near[q] {
					p.near[q] = true
					p.inner = append(p.inner, int32(q))
				}
			}
		}
	}
}

// tint gives one pixel the chroma of the subject around it: a fully covered
// pixel that of the pixels at depth, others that of all up to there.
func (b *metric) tint(img *image.NRGBA, m *image.Alpha, at, w, h int) {
	x, y := at%w, at/w
	a := m.Pix[at]
	own := b.offset(img.Pix, at)
	first, step := 1, 1
	if a == 255 {
		first = depth
	} else if a > 16 {
		step = 2
	}
	var sum vector
	var weight float32
	inside := x >= depth && x < w-depth && y >= depth && y < h-depth
	minAlpha := max(a, 128)
	origin := b.newOriginTest(own, float32(a)/255)
	for _, o := range around {
		for k := first; k <= depth; k += step {
			dx, dy := k*int(o[0]), k*int(o[1])
			if !inside && (uint(x+dx) >= uint(w) || uint(y+dy) >= uint(h)) {
				break
			}
			q := at + dy*w + dx
			if m.Pix[q] < minAlpha {
				continue
			}
			c := b.offset(img.Pix, q)
			f := b.chroma(c)
			if !origin.admits(b.luma(c), f) {
				continue
			}
			t := dot(f, f) + 1
			t *= t
			sum = sum.plus(c.times(t))
			weight += t
		}
	}
	if weight == 0 {
		weight, sum = 1, own
	}
	full := sum.over(weight)
	cc, fc := b.chroma(own), b.chroma(full)
	if a == 255 && dot(cc, fc) >= 0.97*dot(fc, fc) {
		return
	}
	share := float32(a) / 255
	trust := min(max((share-0.2)/0.6, 0), 1)
	light := trust*b.luma(own)/share + (1-trust)*b.luma(full)
	v := fc.less(-light).plus(b.backdrop(at))
	p := img.Pix[4*at : 4*at+3 : 4*at+3]
	p[0], p[1], p[2] = sample(v.r), sample(v.g), sample(v.b)
}

// sample is the nearest value of a channel.
func sample(v float32) uint8 { return uint8(min(max(v, 0), 255) + 0.5) }

// originTest distinguishes colours that may be the origin of a pixel's colour, once
// mixed with the backdrop's, from those of other parts of the subject.
type originTest struct {
	light   float32 // the pixel's lightness without the backdrop's
	sure    bool    // light can be relied on
	chroma  vector
	chroma2 float32
	least   float32 // chroma below which its direction says nothing
}

const (
	originLight   = 60  // difference in lightness between a colour and its origin
	originOffLine = 0.5 // share of the chroma that may lie beside the line of the origin
	originChroma  = 12  // least chroma with a meaningful direction, without ringing
)

func (b *metric) newOriginTest(own vector, share float32) originTest {
	c := b.chroma(own)
	return originTest{least: max(originChroma, 2*b.ring), light: b.luma(own) / share, sure: share > 0.6, chroma: c, chroma2: dot(c, c)}
}

// admits reports whether a colour of such light and chroma may be the pixel's own.
func (k *originTest) admits(light float32, f vector) bool {
	if k.sure && abs(light-k.light) > originLight {
		return false
	}
	f2 := dot(f, f)
	if k.chroma2 < k.least*k.least || f2 < k.least*k.least {
		return true
	}
	p := dot(k.chroma, f)
	return p > 0 && k.chroma2-p*p/f2 <= originOffLine*originOffLine*k.chroma2
}
