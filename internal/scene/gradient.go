package scene

import (
	"image"
	"image/color"
	"math"
)

// Gradient goes from one colour to another over the canvas, with the angle and
// the length of CSS's linear-gradient: 0 degrees is upwards, 90 to the right, and
// the corners have the pure colours. Colours are mixed as they are stored, in
// sRGB: so do CSS and drawing programs, and the middle is as bright as people
// expect. An ordered dither, the same in all frames, hides the steps of 8 bits.
func Gradient(from, to color.NRGBA, degrees int) Scene {
	return drawn(func(size image.Point) *image.NRGBA { return gradient(from, to, degrees, size) })
}

func gradient(from, to color.NRGBA, degrees int, size image.Point) *image.NRGBA {
	sin, cos := math.Sincos(float64(degrees) * math.Pi / 180)
	length := math.Abs(float64(size.X)*sin) + math.Abs(float64(size.Y)*cos)
	start := [3]float64{float64(from.R), float64(from.G), float64(from.B)}
	span := [3]float64{float64(to.R) - start[0], float64(to.G) - start[1], float64(to.B) - start[2]}
	img := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		row := img.Pix[y*img.Stride:][:4*size.X]
		up := (float64(size.Y)/2 - float64(y) - 0.5) * cos
		for x := range size.X {
			t := min(max(((float64(x)+0.5-float64(size.X)/2)*sin+up)/length+0.5, 0), 1)
			d := dither(x, y)
			for c := range 3 {
				row[4*x+c] = uint8(start[c] + span[c]*t + d)
			}
			row[4*x+3] = 255
		}
	}
	return img
}

// dither is between 0 and 1, and different at each place of an 8×8 block (Bayer,
// 1973). Added before a value is cut to a whole number, it keeps the mean.
func dither(x, y int) float64 {
	v := 0
	for bit := range 3 {
		x, y := x>>bit&1, y>>bit&1
		v |= ((x^y)<<1 | y) << (4 - 2*bit)
	}
	return (float64(v) + 0.5) / 64
}
