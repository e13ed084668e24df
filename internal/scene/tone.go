package scene

import (
	"image"
	"math"
)

// Tone is the light and the colour of pictures, by sums over some of their pixels in
// Oklab (Ottosson, 2020), in which equal steps look equal. Lightness is 0 to 1. The
// zero value is that of no picture.
type Tone struct {
	weight       float64
	sum, squares lab
}

// lab is a colour in Oklab: lightness, green to red, blue to yellow.
type lab [3]float64

// ToneOfSubject is the tone of a frame's subject: matte and alpha, multiplied, are at
// least a half. The matte has the frame's size and contiguous rows.
func ToneOfSubject(img *image.NRGBA, matte *image.Alpha) (t Tone) {
	size := img.Rect.Size()
	t.addAll(size, func(x, y int) (r, g, b uint8, alpha uint32) {
		p := img.Pix[y*img.Stride+4*x:][:4:4]
		return p[0], p[1], p[2], uint32(p[3]) * uint32(matte.Pix[y*size.X+x]) / 255
	})
	return t
}

// toneSamples is about how many pixels of a picture count, on a grid.
const toneSamples = 1 << 14

func (t *Tone) addAll(size image.Point, at func(x, y int) (r, g, b uint8, alpha uint32)) {
	step := int(math.Ceil(math.Sqrt(float64(size.X*size.Y) / toneSamples)))
	for y := step / 2; y < size.Y; y += step {
		for x := step / 2; x < size.X; x += step {
			if r, g, b, a := at(x, y); a >= 128 {
				t.add(oklab(linear[r], linear[g], linear[b]), float64(a)/255)
			}
		}
	}
}

func (t *Tone) add(c lab, weight float64) {
	t.weight += weight
	for i, v := range c {
		t.sum[i] += weight * v
		t.squares[i] += weight * v * v
	}
}

// Add adds the tone of another picture.
func (t *Tone) Add(u Tone) {
	t.weight += u.weight
	for i := range t.sum {
		t.sum[i] += u.sum[i]
		t.squares[i] += u.squares[i]
	}
}

// Empty reports whether no pixel counts.
func (t Tone) Empty() bool { return t.weight == 0 }

func (t Tone) mean() (m lab) {
	for i, s := range t.sum {
		m[i] = s / t.weight
	}
	return m
}

// contrast is the standard deviation of the lightness.
func (t Tone) contrast() float64 {
	mean := t.sum[0] / t.weight
	return math.Sqrt(max(0, t.squares[0]/t.weight-mean*mean))
}

// linear is sRGB's bytes in linear light.
var linear = func() (table [256]float64) {
	for i := range table {
		table[i] = decode(float64(i) / 255)
	}
	return table
}()

// decode and encode are sRGB's curve (IEC 61966-2-1), from and to 0 to 1.
func decode(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func encode(v float64) float64 {
	if v <= 0.0031308 {
		return v * 12.92
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

func oklab(r, g, b float64) lab {
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return lab{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

// rgb is the colour in linear light; it may lie outside 0 to 1.
func (c lab) rgb() (r, g, b float64) {
	l := c[0] + 0.3963377774*c[1] + 0.2158037573*c[2]
	m := c[0] - 0.1055613458*c[1] - 0.0638541728*c[2]
	s := c[0] - 0.0894841775*c[1] - 1.2914855480*c[2]
	l, m, s = l*l*l, m*m*m, s*s*s
	return 4.0767416621*l - 3.3077115913*m + 0.2309699292*s,
		-1.2684380046*l + 2.6097574011*m - 0.3413193965*s,
		-0.0041960863*l - 0.7034186147*m + 1.7076147010*s
}
