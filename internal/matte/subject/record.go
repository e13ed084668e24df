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
	bytes [planes][]byte
}

const (
	// step is the precision of a field in the record, of a cell, and farthest its bound.
	step, farthest = 1.0 / 64, math.MaxInt16
	// doubling is by how many units of a byte a sum of frames seen doubles.
	doubling = 16
)

// planes are a record's parts: bytes of the sample, of the means and sums along the track
// so far, then the fields as differences along rows, high and low bytes apart, which
// compress better.
const (
	ofSample = 9
	ofTracks = 5
	ofFields = ofSample + ofTracks
	planes   = ofFields + 8
)

// parts are the planes of a record in a buffer.
func parts(buf []byte) (all [planes][]byte) {
	n := len(buf) / planes
	for i := range all {
		all[i] = buf[i*n : (i+1)*n]
	}
	return all
}

// write appends the record of a sample.
func (c *Clip) write(s *sample) error {
	buf := make([]byte, planes*len(s.matte))
	part := parts(buf)
	for i, p := range [...][]float32{s.matte, s.moving, s.seen, s.Trust, s.Ahead, s.colour[0], s.colour[1], s.colour[2]} {
		copy(part[i], rounded(p))
	}
	for k, v := range s.along {
		part[ofSample-1][k] = signed(v)
	}
	for i, p := range c.tracks.means() {
		copy(part[ofSample+i], p)
	}
	for i, p := range [][]float32{s.Back.X, s.Back.Y, s.Forward.X, s.Forward.Y} {
		high, low := part[ofFields+2*i], part[ofFields+2*i+1]
		before := int16(0)
		for k, v := range p {
			q := int16(max(min(v/step, farthest), -farthest))
			d := uint16(q - before)
			high[k], low[k], before = uint8(d>>8), uint8(d), q
		}
	}
	return c.frames.Append(buf)
}

// read is the record of frame i.
func (c *Clip) read(i int, r *record) error {
	n := c.grid.X * c.grid.Y
	buf := make([]byte, planes*n)
	if err := c.frames.Read(i, buf); err != nil {
		return err
	}
	part := parts(buf)
	r.bytes = part
	for i, p := range []*[]float32{&r.sample[covered], &r.sample[moved], &r.sample[seen], &r.Trust, &r.Ahead} {
		*p = shares(part[i])
	}
	r.sample[along], r.sample[followed] = signs(part[ofSample-1]), slices.Repeat([]float32{1}, n)
	track := part[ofSample:]
	r.before = [quantities][]float32{moved: shares(track[0]), along: signs(track[1]), seen: counts(track[2]), covered: shares(track[3]), followed: counts(track[4])}
	for k, trust := range r.before[seen] {
		r.before[moved][k] *= trust
		r.before[along][k] *= trust
		r.before[covered][k] *= r.before[followed][k]
	}
	r.Back.Set(c.grid.X, c.grid.Y)
	r.Forward.Set(c.grid.X, c.grid.Y)
	for i, p := range [][]float32{r.Back.X, r.Back.Y, r.Forward.X, r.Forward.Y} {
		high, low := part[ofFields+2*i], part[ofFields+2*i+1]
		q := int16(0)
		for k := range p {
			q += int16(binary.BigEndian.Uint16([]byte{high[k], low[k]}))
			p[k] = float32(q) * step
		}
	}
	return nil
}

// glance is the frame's matte and colours.
func (r *record) glance() glance {
	return glance{r.bytes[0], [3][]uint8{r.bytes[5], r.bytes[6], r.bytes[7]}}
}

// show fills the planes of cells that are known from the frame itself.
func (r *record) show(v *view.Cells) {
	for p, part := range map[view.CellPlane]int{view.CellCoverage: 0, view.CellTrust: 2, view.CellRed: 5, view.CellGreen: 6, view.CellBlue: 7} {
		copy(v.Plane(p), r.bytes[part])
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
