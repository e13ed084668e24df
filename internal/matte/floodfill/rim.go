package floodfill

import (
	"encoding/binary"
	"math/bits"
)

// findRim makes nodes of the subject's pixels that touch the flood, at a side or
// a corner, in raster order.
func (j *unmixer) findRim() {
	w := int(j.w)
	for y := range int(j.h) {
		row := j.mask[y*w : y*w+w]
		up, down := row, row
		if y > 0 {
			up = j.mask[y*w-w : y*w]
		}
		if y < int(j.h)-1 {
			down = j.mask[y*w+w : y*w+2*w]
		}
		x := 0
		for ; x+8 <= w; x += 8 {
			c := binary.LittleEndian.Uint64(row[x:])
			if c == 0 {
				continue
			}
			m := c & binary.LittleEndian.Uint64(up[x:]) & binary.LittleEndian.Uint64(down[x:])
			left, right := uint64(255), uint64(255)
			if x > 0 {
				left = uint64(up[x-1] & row[x-1] & down[x-1])
			}
			if x+8 < w {
				right = uint64(up[x+8] & row[x+8] & down[x+8])
			}
			c &^= m & (m<<8 | left) & (m>>8 | right<<56)
			for c != 0 {
				i := bits.TrailingZeros64(c) / 8
				c &^= 0xff << (8 * i)
				j.addRim(y*w+x+i, x+i)
			}
		}
		for ; x < w; x++ {
			j.addIfRim(up, row, down, x, y)
		}
	}
}

// addIfRim adds the pixel if it is of the subject and has a neighbour in the
// flood.
func (j *unmixer) addIfRim(up, row, down []byte, x, y int) {
	if row[x] == 0 {
		return
	}
	all := up[x] & down[x]
	if x > 0 {
		all &= up[x-1] & row[x-1] & down[x-1]
	}
	if x < len(row)-1 {
		all &= up[x+1] & row[x+1] & down[x+1]
	}
	if all == 0 {
		j.addRim(y*len(row)+x, x)
	}
}

// addRim adds a node of the rim.
func (j *unmixer) addRim(at, x int) { j.push(int32(at), int32(x), 1, j.colour(int32(at))) }
