//go:build !amd64 || purego

package reduce

import "encoding/binary"

// columns lists the columns, or groups of them, of each target column. In a
// group of several columns, two represent it.
type columns struct {
	taps
	group int
}

func newColumns(n, m int) columns {
	group := max(groupSize(n, m)&^1, 1)
	return columns{newTaps(n, group, m), group}
}

// sums is the working memory of one Draw: rows added up, two pixels in two
// words and 16 bits a channel, red and blue in one, green and alpha in the
// other. Full scale is 255·256. line is the same as one word a pixel, or for
// every group of pixels.
type sums struct {
	skip, step int // bytes to the first two pixels, and from there to the next
	at         []uint64
	line       []uint64
}

// newSums returns the memory for rows of w pixels, taken in c's groups.
func newSums(w int, c *columns) *sums {
	group := c.group
	if group == 1 {
		words := (w + 1) / 2
		return &sums{0, 8, make([]uint64, 2*words), make([]uint64, 2*words)}
	}
	words := (w + group - 1) / group
	// The two columns in the middle represent the whole group.
	return &sums{4 * (group/2 - 1), 4 * group, make([]uint64, 2*words), make([]uint64, words)}
}

// add sets the sums to those of rows, each times its weight. There are 1 to
// maxTaps of both.
func (s *sums) add(rows [][]byte, weight []uint64) {
	var from [maxTaps][]byte
	var k [maxTaps]uint64
	copy(k[:], weight)
	for i := range from {
		from[i] = rows[min(i, len(rows)-1)][s.skip:] // those without a row weigh 0
	}
	s.three(s.at, from[0], from[1], from[2], k[0], k[1], k[2])
	if k[3] != 0 {
		s.plus(s.at, from[3], k[3])
	}
	done := (len(from[0]) - 8 + s.step) / s.step
	if 2*done >= len(s.at) {
		return
	}
	// The rest of the last group, and of the row, has fewer than two pixels.
	var end [maxTaps][8]byte
	for i, r := range from {
		last := r[len(r)-min(4, len(r)):]
		copy(end[i][:], last)
		copy(end[i][4:], last)
	}
	s.three(s.at[2*done:], end[0][:], end[1][:], end[2][:], k[0], k[1], k[2])
	s.plus(s.at[2*done:], end[3][:], k[3])
}

// mask selects every second byte of two pixels.
const mask = 0x00ff00ff00ff00ff

// three sets at to the weighted sums of three rows of the same length.
func (s *sums) three(at []uint64, a, b, c []byte, j, k, l uint64) {
	b, c = b[:len(a)], c[:len(a)]
	o := 0
	for i := 0; i <= len(a)-8; i += s.step {
		u := binary.LittleEndian.Uint64(a[i : i+8])
		v := binary.LittleEndian.Uint64(b[i : i+8])
		w := binary.LittleEndian.Uint64(c[i : i+8])
		d := at[o : o+2 : o+2]
		d[0] = u&mask*j + v&mask*k + w&mask*l
		d[1] = u>>8&mask*j + v>>8&mask*k + w>>8&mask*l
		o += 2
	}
}

// plus adds k times a row to at.
func (s *sums) plus(at []uint64, a []byte, k uint64) {
	o := 0
	for i := 0; i <= len(a)-8; i += s.step {
		u := binary.LittleEndian.Uint64(a[i : i+8])
		d := at[o : o+2 : o+2]
		d[0] += u & mask * k
		d[1] += u >> 8 & mask * k
		o += 2
	}
}

// Channels in the words of a line are lane bits apart, red lowest. Values have
// 4 bits of fraction, so that 256 times one still fits.
const lane = 21

// unpack writes the sums as one word a pixel.
func (s *sums) unpack() {
	const keep = 0xfff
	line := s.line[:len(s.at)]
	for i := 1; i < len(line); i += 2 {
		rb, g := s.at[i-1], s.at[i]
		line[i-1] = rb>>4&keep | g>>4&keep<<lane | rb>>20&keep<<(2*lane)
		line[i] = rb>>36&keep | g>>36&keep<<lane | rb>>52<<(2*lane)
	}
}

// unpackGroups writes the sums as one word for the mean of two pixels.
func (s *sums) unpackGroups() {
	const keep = 0x07ff07ff07ff07ff
	at := s.at[:2*len(s.line)]
	for i := range s.line {
		r, g := at[2*i]>>5&keep, at[2*i+1]>>5&keep
		r += r >> 32
		g += g >> 32
		s.line[i] = r&0xfff | g&0xfff<<lane | r>>16&0xfff<<(2*lane)
	}
}

// resample writes the sums, brought to width, as opaque pixels.
func (s *sums) resample(dst []byte, c *columns) {
	if c.group > 1 {
		s.unpackGroups()
	} else {
		s.unpack()
	}
	const half = 1 << 11 * (1 | 1<<lane | 1<<(2*lane))
	for x, start := range c.start {
		weight := c.weight[x*c.count:][:c.count]
		pixels := s.line[start:][:len(weight)]
		sum := uint64(half)
		switch len(weight) { // the common cases without a loop
		case 2:
			sum += pixels[0]*weight[0] + pixels[1]*weight[1]
		case 3:
			sum += pixels[0]*weight[0] + pixels[1]*weight[1] + pixels[2]*weight[2]
		case 4:
			sum += pixels[0]*weight[0] + pixels[1]*weight[1] + pixels[2]*weight[2] + pixels[3]*weight[3]
		default:
			for j, w := range weight {
				sum += pixels[j] * w
			}
		}
		v := uint32(sum>>12&0xff | sum>>(lane+12-8)&0xff00 | sum>>(2*lane+12-16)&0xff0000)
		binary.LittleEndian.PutUint32(dst[4*x:4*x+4:4*x+4], v|0xff000000)
	}
}
