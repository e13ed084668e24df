package refine

import "image"

// Enlarge fills dst with small, of any size, by bilinear interpolation.
func Enlarge(dst, small *image.Alpha) {
	w, h := size(dst)
	sw, sh := size(small)
	if sw == 0 || sh == 0 {
		clear(dst.Pix)
		return
	}
	columns := make([]place, w)
	for x := range columns {
		columns[x] = locate(x, w, sw)
	}
	for y := range h {
		v := locate(y, h, sh)
		up := small.Pix[int(v.at)*sw:][:sw]
		down := small.Pix[min(int(v.at)+1, sh-1)*sw:][:sw]
		row := dst.Pix[y*w : (y+1)*w]
		for x, u := range columns {
			l, r := int(u.at), min(int(u.at)+1, sw-1)
			a := float32(up[l]) + u.part*(float32(up[r])-float32(up[l]))
			b := float32(down[l]) + u.part*(float32(down[r])-float32(down[l]))
			row[x] = uint8(a + v.part*(b-a) + 0.5)
		}
	}
}

// locate returns where pixel x of n lies among m samples.
func locate(x, n, m int) place {
	p := min(max((float32(x)+0.5)*float32(m)/float32(n)-0.5, 0), float32(m-1))
	at := int32(p)
	return place{at, p - float32(at)}
}
