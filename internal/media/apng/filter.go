package apng

// filter turns pixels into filtered rows (PNG chapter 9). It keeps its memory
// between pictures.
type filter struct {
	rows       [5][]byte // the row under each filter: none, sub, up, average, paeth
	zero       []byte    // the row above the first
	seen       [1 << 16]uint32
	generation uint32 // what seen holds for the bigrams of the row being counted
}

// unfiltered appends to dst the rows of pix unfiltered, each with its filter type in
// front.
func unfiltered(dst, pix []byte, stride int) []byte {
	for ; len(pix) > 0; pix = pix[stride:] {
		dst = append(append(dst, 0), pix[:stride]...)
	}
	return dst
}

// adaptive appends to dst the filtered rows of pix, each with its filter type
// in front. Each row gets the filter that leaves the fewest distinct pairs of
// neighbouring bytes, which foretells better than the customary sum of absolute
// differences (PNG section 12.7) what Deflate can match and code shortly.
func (f *filter) adaptive(dst, pix []byte, stride, bpp int) []byte {
	f.zero = resize(f.zero, stride)
	return f.adaptiveBelow(dst, f.zero, pix, stride, bpp)
}

// adaptiveBelow is adaptive for rows that lie below the row up.
func (f *filter) adaptiveBelow(dst, up, pix []byte, stride, bpp int) []byte {
	for i := 1; i < len(f.rows); i++ {
		f.rows[i] = resize(f.rows[i], stride)
	}
	for ; len(pix) > 0; pix = pix[stride:] {
		row := pix[:stride]
		f.fill(row, up, bpp)
		best, fewest := 0, stride
		for i, r := range f.rows {
			if n := f.bigrams(r, fewest); n < fewest {
				best, fewest = i, n
			}
		}
		dst = append(append(dst, byte(best)), f.rows[best]...)
		up = row
	}
	return dst
}

func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// bigrams counts the distinct pairs of neighbouring bytes of row, at most to
// limit.
func (f *filter) bigrams(row []byte, limit int) int {
	if f.generation++; f.generation == 0 {
		clear(f.seen[:])
		f.generation = 1
	}
	n, generation, pair := 0, f.generation, uint16(row[0])
	for _, v := range row[1:] {
		pair = pair<<8 | uint16(v)
		if f.seen[pair] != generation {
			f.seen[pair] = generation
			if n++; n >= limit {
				break
			}
		}
	}
	return n
}

// fill computes row under each filter (PNG section 9.2). up is the row above.
// The first pixel has none to its left.
func (f *filter) fill(row, up []byte, bpp int) {
	f.rows[0] = row
	for i := range bpp {
		f.rows[1][i] = row[i]
		f.rows[2][i] = row[i] - up[i]
		f.rows[3][i] = row[i] - up[i]/2
		f.rows[4][i] = row[i] - up[i]
	}
	n := len(row) - bpp
	left, corner := row[:n], up[:n]
	row, up = row[bpp:][:n], up[bpp:][:n]
	sub, above, average, paeth := f.rows[1][bpp:][:n], f.rows[2][bpp:][:n], f.rows[3][bpp:][:n], f.rows[4][bpp:][:n]
	for i, v := range row {
		a, b := left[i], up[i]
		sub[i] = v - a
		above[i] = v - b
		average[i] = v - byte((int(a)+int(b))/2)
		paeth[i] = v - paethPredictor(int(a), int(b), int(corner[i]))
	}
}

// paethPredictor is the Paeth predictor (PNG section 9.4) of the pixels to the left,
// above, and above to the left.
func paethPredictor(a, b, c int) byte {
	pa, pb := b-c, a-c
	pc := pa + pb
	pa, pb, pc = max(pa, -pa), max(pb, -pb), max(pc, -pc)
	if pa <= pb && pa <= pc {
		return byte(a)
	}
	if pb <= pc {
		return byte(b)
	}
	return byte(c)
}

// fewColours reports whether the opaque pixels of pix have at most 256 colours,
// as those of a GIF have.
func fewColours(pix []byte, bpp int) bool {
	const maxColours = 256
	var table [4 * maxColours]uint32 // open addressing; 0 is free since alpha is 255
	for n := 0; len(pix) >= bpp; pix = pix[bpp:] {
		if bpp == 4 && pix[3] != 255 {
			continue
		}
		c := uint32(pix[0]) | uint32(pix[1])<<8 | uint32(pix[2])<<16 | 255<<24
		at := c * 2654435761 >> 22
		for table[at] != c && table[at] != 0 {
			at = (at + 1) % uint32(len(table))
		}
		if table[at] == 0 {
			table[at] = c
			if n++; n > maxColours {
				return false
			}
		}
	}
	return true
}
