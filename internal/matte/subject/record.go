package subject

import (
	"encoding/binary"
	"image"
	"math"
	"slices"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// record is what is kept of a frame: its sample, and the sums of motion so far.
type record struct {
	sample [quantities][]float32
	before [quantities][]float32
	Links
	bytes [][]byte // its second part
}

const (
	// step is the precision of a field in the record, of a cell, and farthest its bound.
	step, farthest = 1.0 / 64, math.MaxInt16
	// doubling is by how many units of a byte a sum of frames seen doubles.
	doubling = 16
)

// The first part of a record are its links: two planes of bytes, then the fields as differences along
// rows, high and low bytes apart, which compress better.
const (
	trustPlane = iota
	aheadPlane
	fieldPlanes
	linkPlanes = fieldPlanes + 8
)

// The second part are bytes of the sample, then of the means and sums along the track so far.
const (
	mattePlane = iota
	movingPlane
	seenPlane
	redPlane
	greenPlane
	bluePlane
	alongPlane
	trackPlanes
	samplePlanes = trackPlanes + 5
)

// parted is a buffer of planes, and these.
func parted(buf []byte, planes int) [][]byte {
	n := len(buf) / planes
	all := make([][]byte, planes)
	for i := range all {
		all[i] = buf[i*n : (i+1)*n]
	}
	return all
}

// write appends the record of a sample.
func (c *Clip) write(s *sample) error {
	n := len(s.matte)
	links, bytes := make([]byte, linkPlanes*n), make([]byte, samplePlanes*n)
	s.encode(parted(links, linkPlanes))
	part := parted(bytes, samplePlanes)
	for i, p := range [...][]float32{s.matte, s.moving, s.seen, s.colour[0], s.colour[1], s.colour[2]} {
		copy(part[i], rounded(p))
	}
	for k, v := range s.along {
		part[alongPlane][k] = signed(v)
	}
	for i, p := range c.tracks.means() {
		copy(part[trackPlanes+i], p)
	}
	return c.frames.Append(links, bytes)
}

// encode fills a record's first part.
func (l *Links) encode(part [][]byte) {
	copy(part[trustPlane], rounded(l.Trust))
	copy(part[aheadPlane], rounded(l.Ahead))
	for i, p := range [][]float32{l.Back.X, l.Back.Y, l.Forward.X, l.Forward.Y} {
		high, low := part[fieldPlanes+2*i], part[fieldPlanes+2*i+1]
		before := int16(0)
		for k, v := range p {
			q := int16(max(min(v/step, farthest), -farthest))
			d := uint16(q - before)
			high[k], low[k], before = uint8(d>>8), uint8(d), q
		}
	}
}

// decode fills links of a grid from a record's first part.
func (l *Links) decode(part [][]byte, grid image.Point) {
	l.Trust, l.Ahead = shares(part[trustPlane]), shares(part[aheadPlane])
	l.Back.Set(grid.X, grid.Y)
	l.Forward.Set(grid.X, grid.Y)
	for i, p := range [][]float32{l.Back.X, l.Back.Y, l.Forward.X, l.Forward.Y} {
		high, low := part[fieldPlanes+2*i], part[fieldPlanes+2*i+1]
		q := int16(0)
		for k := range p {
			q += int16(binary.BigEndian.Uint16([]byte{high[k], low[k]}))
			p[k] = float32(q) * step
		}
	}
}

// read is the record of frame i.
func (c *Clip) read(i int, r *record) error {
	n := c.grid.X * c.grid.Y
	links, bytes := make([]byte, linkPlanes*n), make([]byte, samplePlanes*n)
	if err := c.frames.Read(i, links, bytes); err != nil {
		return err
	}
	r.decode(parted(links, linkPlanes), c.grid)
	r.bytes = parted(bytes, samplePlanes)
	for _, p := range [...]struct {
		to    *[]float32
		plane int
	}{{&r.sample[covered], mattePlane}, {&r.sample[moved], movingPlane}, {&r.sample[seen], seenPlane}} {
		*p.to = shares(r.bytes[p.plane])
	}
	r.sample[along], r.sample[followed] = signs(r.bytes[alongPlane]), slices.Repeat([]float32{1}, n)
	track := r.bytes[trackPlanes:]
	r.before = [quantities][]float32{moved: shares(track[0]), along: signs(track[1]), seen: counts(track[2]), covered: shares(track[3]), followed: counts(track[4])}
	for k, trust := range r.before[seen] {
		r.before[moved][k] *= trust
		r.before[along][k] *= trust
		r.before[covered][k] *= r.before[followed][k]
	}
	return nil
}

// readLinks are the links of frame i, without the rest of its record.
func (c *Clip) readLinks(i int) (*Links, error) {
	buf := make([]byte, linkPlanes*c.grid.X*c.grid.Y)
	if err := c.frames.Read(i, buf); err != nil {
		return nil, err
	}
	l := new(Links)
	l.decode(parted(buf, linkPlanes), c.grid)
	return l, nil
}

// glance is the frame's matte and colours.
func (r *record) glance() glance {
	return glance{r.bytes[mattePlane], [3][]uint8{r.bytes[redPlane], r.bytes[greenPlane], r.bytes[bluePlane]}}
}

// show fills the planes of cells that are known from the frame itself.
func (r *record) show(v *view.Cells) {
	for p, plane := range map[view.CellPlane]int{view.CellCoverage: mattePlane, view.CellTrust: seenPlane, view.CellRed: redPlane, view.CellGreen: greenPlane, view.CellBlue: bluePlane} {
		copy(v.Plane(p), r.bytes[plane])
	}
	motion, way := v.Plane(view.CellMotion), v.Plane(view.CellAlong)
	for k, trust := range r.sample[seen] {
		trust = max(trust, 1e-3)
		motion[k], way[k] = round(r.sample[moved][k]/trust), signed(r.sample[along][k]/trust)
	}
}

// logarithm is the byte for a number of frames: doubling times the binary logarithm of one
// more, rounded. It is looked up by the leading bits of that number.
func logarithm(frames float32) uint8 {
	v := 1 + frames
	b := logarithms[min(max(math.Float32bits(v)>>(23-logBits), logFirst)-logFirst, uint32(len(logarithms)-1))]
	if b < 255 && v >= logSteps[b+1] {
		b++
	}
	return b
}

// logBits is how many bits of a mantissa logarithms has: between two of its entries lies one of
// logSteps at most. logFirst are the leading bits of 1.
const logBits, logFirst = 7, 127 << 7

// logSteps are the least numbers of frames, and one, that have each byte.
var logSteps = func() (t [256]float32) {
	for b := range t {
		t[b] = float32(math.Exp2((float64(b) - 0.5) / doubling))
	}
	return t
}()

// logarithms are the bytes of numbers by their leading bits, from 1 on.
var logarithms = func() (t [16 << logBits]uint8) {
	for i := range t {
		v := math.Float32frombits((uint32(i) + logFirst) << (23 - logBits))
		t[i] = uint8(min(doubling*math.Log2(float64(v))+0.5, 255))
	}
	return t
}()

// frames is the number of frames seen that a byte stands for.
var frames = func() (t [256]float32) {
	for i := range t {
		t[i] = float32(math.Exp2(float64(i)/doubling) - 1)
	}
	return t
}()

func round(v float32) uint8 { return uint8(min(max(v, 0), 1)*255 + 0.5) }

// rounded are the bytes of shares, 0 to 1.
func rounded(v []float32) []byte {
	b := make([]byte, len(v))
	for i, a := range v {
		b[i] = round(a)
	}
	return b
}

// shares are the values of round's bytes.
func shares(b []byte) []float32 {
	v := make([]float32, len(b))
	for i, a := range b {
		v[i] = float32(a) / 255
	}
	return v
}

// signed is the byte of a value from -1 to 1.
func signed(v float32) uint8 { return uint8(min(max(v, -1), 1)*127 + 128.5) }

func signs(b []byte) []float32 {
	v := make([]float32, len(b))
	for i, a := range b {
		v[i] = (float32(a) - 128) / 127
	}
	return v
}

// counts are the numbers of frames of logarithm's bytes.
func counts(b []byte) []float32 {
	v := make([]float32, len(b))
	for i, a := range b {
		v[i] = frames[a]
	}
	return v
}

// pixels are a picture's planes of red, green and blue.
func pixels(img *image.NRGBA) [][]byte {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	planes := [][]byte{make([]byte, w*h), make([]byte, w*h), make([]byte, w*h)}
	for y := range h {
		row := img.Pix[y*img.Stride:][:4*w]
		for c, p := range planes {
			for x := range w {
				p[y*w+x] = row[4*x+c]
			}
		}
	}
	return planes
}
