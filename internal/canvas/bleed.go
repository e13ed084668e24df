package canvas

import (
	"encoding/binary"
	"image"
)

// Bleed gives the invisible pixels within reach of a visible one, along rows
// and then columns, that one's colour and clears all others, in place; alpha
// stays. Codecs that blur across the edge, as 4:2:0 chroma does, then blur the
// subject into itself, and nothing of the old backdrop is left to be seen by
// those who read the file without its alpha.
func Bleed(img *image.NRGBA, reach int) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	row := func(y int) []uint8 { return img.Pix[y*img.Stride:][:4*w] }
	top, bottom := h, -1 // of the rows that show something
	for y := range h {
		if bleedRow(row(y), reach) {
			top, bottom = min(top, y), y
		}
	}
	left := make([]int, w) // how far the colour above each pixel still reaches
	for y := top + 1; y <= min(bottom+reach, h-1); y++ {
		bleedDown(row(y), row(y-1), left, reach)
	}
	clear(left)
	for y := bottom - 1; y >= max(top-reach, 0); y-- {
		bleedDown(row(y), row(y+1), left, reach)
	}
}

const (
	alphaMask  = 0xFF000000
	colourMask = 0x00FFFFFF
)

func load(p []uint8, i int) uint32     { return binary.LittleEndian.Uint32(p[i : i+4 : i+4]) }
func store(p []uint8, i int, v uint32) { binary.LittleEndian.PutUint32(p[i:i+4:i+4], v) }

// bleedRow clears the invisible pixels of a row and carries colours into them
// from both sides. It reports whether there were visible ones.
func bleedRow(row []uint8, reach int) (visible bool) {
	visible = shows(row)
	if !visible {
		clear(row)
		return false
	}
	var colour uint32
	left := 0
	for i := 0; i < len(row); i += 4 {
		v := load(row, i)
		switch {
		case v&alphaMask != 0:
			colour, left = v&colourMask, reach
		case left > 0:
			store(row, i, colour)
			left--
		case v != 0:
			store(row, i, 0)
		}
	}
	left = 0
	for i := len(row) - 4; i >= 0; i -= 4 {
		v := load(row, i)
		switch {
		case v&alphaMask != 0:
			colour, left = v&colourMask, reach
		case left > 0:
			if left--; v == 0 {
				store(row, i, colour)
			}
		}
	}
	return true
}

// shows reports whether a pixel of the row has alpha.
func shows(row []uint8) bool {
	for len(row) >= 8 {
		if binary.LittleEndian.Uint64(row)&(alphaMask<<32|alphaMask) != 0 {
			return true
		}
		row = row[8:]
	}
	return len(row) > 0 && row[3] != 0
}

// bleedDown carries colours from the row before into the empty pixels of row.
// left counts, for each column, the steps its colour may still take.
func bleedDown(row, before []uint8, left []int, reach int) {
	for x := range left {
		i := 4 * x
		b := load(before, i)
		if b&alphaMask != 0 {
			left[x] = reach
		} else if left[x] == 0 {
			continue
		}
		if v := load(row, i); v == 0 && b != 0 {
			store(row, i, b&colourMask)
		}
		left[x]--
	}
}
