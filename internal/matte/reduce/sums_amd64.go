//go:build !purego

package reduce

// columns says which columns make each target column, two at a time: from
// byte start on in the sums, every two weights side by side.
type columns struct {
	start  []int32
	weight []int16
	pairs  int
}

func newColumns(n, m int) columns {
	t := newTaps(n, 1, m)
	pairs := (t.count + 1) / 2
	c := columns{make([]int32, m), make([]int16, 2*pairs*m), pairs}
	for i := range m {
		c.start[i] = int32(8 * t.start[i])
		for j, w := range t.weight[i*t.count:][:t.count] {
			c.weight[2*pairs*i+j] = int16(w)
		}
	}
	return c
}

// block is how many bytes of a row are added at once.
const block = 16

// sums is the working memory of one Draw: rows added up, 16 bits a channel,
// full scale 255·128, and one pixel more, which weighs nothing.
type sums struct {
	at    []uint16
	short [maxTaps][block]byte // rows of less than a block
}

func newSums(w int, _ *columns) *sums { return &sums{at: make([]uint16, max(4*w, block)+4)} }

// add sets the sums to those of rows, each times its weight. There are 1 to
// maxTaps of both.
func (s *sums) add(rows [][]byte, weight []uint64) {
	var from [maxTaps]*byte
	var k [maxTaps]uint16
	for i, r := range rows {
		if len(r) < block {
			copy(s.short[i][:], r)
			r = s.short[i][:]
		}
		from[i], k[i] = &r[0], uint16(weight[i])
	}
	weigh(&s.at[0], &from, &k, max(len(rows[0]), block))
}

// resample writes the sums, brought to width, as opaque pixels.
func (s *sums) resample(dst []byte, c *columns) {
	gather(&dst[:4*len(c.start)][0], &s.at[0], &c.start[0], &c.weight[0], len(c.start), c.pairs)
}

// weigh sets n channels of at to half the sum of those of rows, each times its
// weight; rows that are nil end the list. The weights add up to 256, n is at
// least a block.
//
//go:noescape
func weigh(at *uint16, rows *[maxTaps]*byte, weight *[maxTaps]uint16, n int)

// gather writes m opaque pixels, each the sum of pairs of pixels of at from
// start on, times their weights.
//
//go:noescape
func gather(dst *byte, at *uint16, start *int32, weight *int16, m, pairs int)
