package refine

import (
	"image"
	"math"
	"sync"

	"github.com/bgremove/bgremove/internal/buffer"
)

const (
	// unsureMargin is how far from 0 and 255 a pixel in doubt is. A doubt is wide where all pixels
	// up to wideReach away, on both axes, are in doubt: no soft edge is so wide.
	unsureMargin, wideReach = 24, 5
	// Pixels that are not within openMargin of 0 or 255 are decided with a wide doubt that is at most
	// openReach steps away, through such pixels. So nothing is left of its rims.
	openMargin, openReach = 10, 10
	// ownWeight is by how much the weight of a pixel's own coverage grows until that is sure, and
	// leastWeight what it is where that is a half. A step between pixels of one colour weighs 1.
	ownWeight, leastWeight = 0.1, 0.01
	// edgeContrast is by how much steps between pixels become rarer with the square of their
	// difference in colour, in units of 1/255².
	edgeContrast = 0.01
	// steepness is that of the way from backdrop to subject, which goes through 1/2.
	steepness = 6
)

// stepWeights are the weights of steps by the square of the difference in colour.
var stepWeights = func() (t [1024]float32) {
	for i := range t {
		t[i] = float32(math.Exp(-edgeContrast * float64(i)))
	}
	return t
}()

// Prior gives what else is known of the coverage of a matte of a size: the coverage of its pixels,
// 0 to 1, and the weights of that. Both are nil where nothing is known.
type Prior func(size image.Point) (coverage, weight []float32)

// Walker decides what a matte leaves in doubt over more than the width of an edge, which would be
// a haze or half a hole. Such a pixel becomes what a walker meets first who steps at random from
// pixel to pixel, seldom across an edge of the picture: subject or backdrop. The zero value is
// ready; it is safe for concurrent use.
//
// L. Grady, "Random Walks for Image Segmentation", TPAMI 2006; what pixels say of themselves is as
// in his "Multilabel Random Walker Image Segmentation Using Prior Models", CVPR 2005.
type Walker struct {
	scratch sync.Pool // of *walk
}

// walk is the working memory of one Apply. Its lists are of the open pixels.
type walk struct {
	columns   []int   // by column: rows that end in doubt over a wide doubt's width
	open      []int32 // where each is in the picture
	at        []int32 // by pixel: its place in open, and one more
	equations equations
	shares    []float32
}

// Apply decides the wide doubts of m, the matte of img, in place. img stays as it is.
func (u *Walker) Apply(img *image.NRGBA, m *image.Alpha, known Prior) {
	w, h := size(m)
	match(img, w, h)
	k, ok := u.scratch.Get().(*walk)
	if !ok {
		k = new(walk)
	}
	defer u.scratch.Put(k)
	if k.find(m.Pix, w, h); len(k.open) == 0 {
		return
	}
	k.weigh(m.Pix)
	k.trust(known(m.Rect.Size()))
	k.join(img.Pix, m.Pix, w, h)
	k.equations.solve(k.shares)
	for i, at := range k.open {
		m.Pix[at] = toByte(255 * (steepness*(k.shares[i]-0.5) + 0.5))
	}
}

// find lists the pixels that are to be decided.
func (k *walk) find(pix []uint8, w, h int) {
	const side = 2*wideReach + 1
	k.columns, k.at, k.open = buffer.Sized(k.columns, w), buffer.Sized(k.at, w*h), k.open[:0]
	clear(k.columns)
	clear(k.at)
	for y := range h {
		inDoubt := 0
		for x, a := range pix[y*w : (y+1)*w] {
			if inDoubt++; a <= unsureMargin || a >= 255-unsureMargin {
				inDoubt = 0
			}
			if k.columns[x]++; inDoubt < side {
				k.columns[x] = 0
			}
			if k.columns[x] >= side {
				k.add(int32((y-wideReach)*w + x - wideReach))
			}
		}
	}
	begin := 0
	for range openReach {
		end := len(k.open)
		for _, at := range k.open[begin:end] {
			eachBeside(int(at), w, h, func(to int) {
				if a := pix[to]; k.at[to] == 0 && a > openMargin && a < 255-openMargin {
					k.add(int32(to))
				}
			})
		}
		begin = end
	}
}

// add opens a pixel.
func (k *walk) add(at int32) {
	k.open = append(k.open, at)
	k.at[at] = int32(len(k.open))
}

// eachBeside calls do with the pixels beside, above and below another.
func eachBeside(at, w, h int, do func(int)) {
	if x := at % w; x > 0 {
		do(at - 1)
	}
	if x := at % w; x < w-1 {
		do(at + 1)
	}
	if at >= w {
		do(at - w)
	}
	if at < (h-1)*w {
		do(at + w)
	}
}

// weigh begins the equations with what the pixels say of themselves.
func (k *walk) weigh(pix []uint8) {
	k.shares = buffer.Sized(k.shares, len(k.open))
	k.equations.reset(len(k.open))
	for i, at := range k.open {
		p := float32(pix[at]) / 255
		sure := 2*p - 1
		k.shares[i] = p
		k.equations.pull(i, p, ownWeight*sure*sure+leastWeight)
	}
}

// trust adds what is known of the pixels.
func (k *walk) trust(coverage, weight []float32) {
	if weight == nil {
		return
	}
	for i, at := range k.open {
		k.equations.pull(i, coverage[at], weight[at])
	}
}

// join adds the steps between pixels.
func (k *walk) join(img, pix []uint8, w, h int) {
	for i, at := range k.open {
		colour := img[4*at : 4*at+3 : 4*at+3]
		eachBeside(int(at), w, h, func(to int) {
			weight := stepWeight(colour, img[4*to:4*to+3:4*to+3])
			switch j := int(k.at[to]) - 1; {
			case j < 0:
				k.equations.pull(i, float32(pix[to])/255, weight)
			case i < j:
				k.equations.couple(i, j, weight)
			}
		})
	}
}

// stepWeight is the weight of steps between two colours.
func stepWeight(a, b []uint8) float32 {
	difference := 0
	for c, v := range a {
		d := int(v) - int(b[c])
		difference += d * d
	}
	if difference >= len(stepWeights) {
		return 0
	}
	return stepWeights[difference]
}
