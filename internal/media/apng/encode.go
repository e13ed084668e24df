package apng

import (
	"image"
	"io"
	"math"

	"github.com/klauspost/compress/zlib"

	"github.com/bgremove/bgremove/internal/media"
)

// The blend_op values of fcTL.
const (
	blendSource = 0
	blendOver   = 1
)

// frame is one frame on its way to the file. It belongs to the goroutine of the
// Writer, but between being sent and done to a worker.
type frame struct {
	index    int
	rect     image.Rectangle
	num, den uint16 // the delay
	source   []byte // pixels of rect for blend SOURCE
	over     []byte // the same for blend OVER; empty if not useful
	out      []byte // the frame's chunks
	err      error
	done     chan struct{}
}

// diff records the part of img to be written after prev, which is nil for the
// first frame.
func (j *frame) diff(prev, img *image.NRGBA, bpp int) {
	j.rect, j.over = img.Rect, j.over[:0]
	if prev != nil {
		if j.rect = media.ChangedRect(prev, img); j.rect.Empty() {
			j.rect = image.Rect(0, 0, 1, 1)
		}
	}
	j.source = cropPixels(j.source, img, j.rect, bpp)
	if prev == nil || bpp != 4 {
		return
	}
	if over, ok := cropOver(j.over, prev, img, j.rect); ok {
		j.over = over
	}
}

// Compression levels, in the scale of klauspost/compress. Variants of a frame
// are compared at trialLevel, and the smallest is compressed again at
// finalLevel.
const (
	trialLevel = 6
	finalLevel = 8
)

// encoder filters and compresses; each worker has its own.
type encoder struct {
	bpp          int
	rows         filter
	trial, final *zlib.Writer
	variants     [4]variant // memory kept between frames
}

// variant is one way to write a frame.
type variant struct {
	blend int
	data  []byte // filtered rows
}

func newEncoder(bpp int) *encoder {
	return &encoder{bpp: bpp, trial: compressor(trialLevel), final: compressor(finalLevel)}
}

func compressor(level int) *zlib.Writer {
	z, err := zlib.NewWriterLevel(io.Discard, level)
	if err != nil {
		panic(err) // the level is a constant
	}
	return z
}

// encode fills j.out with the frame's chunks, in the smallest of its variants.
func (e *encoder) encode(j *frame) error {
	best, err := e.smallest(e.filtered(j))
	if err != nil {
		return err
	}
	j.out = appendFrameControl(j.out[:0], j, best.blend)
	start := len(j.out)
	j.out = beginData(j.out, j)
	if err := deflate(e.final, (*buffer)(&j.out), best.data); err != nil {
		return err
	}
	j.out = endChunk(j.out, start)
	return nil
}

// filtered returns the variants of j that may turn out the smallest: both
// blends, and filtered adaptively or, with few colours, not at all. Flat and
// dithered pictures such as a GIF's are often smaller so.
func (e *encoder) filtered(j *frame) []variant {
	stride, n := j.rect.Dx()*e.bpp, 0
	flat := fewColours(j.source, e.bpp)
	for blend, pix := range [...][]byte{blendSource: j.source, blendOver: j.over} {
		if len(pix) == 0 {
			continue
		}
		v := &e.variants[n]
		v.blend, v.data = blend, e.rows.adaptive(v.data[:0], pix, stride, e.bpp)
		n++
		if flat {
			v = &e.variants[n]
			v.blend, v.data = blend, unfiltered(v.data[:0], pix, stride)
			n++
		}
	}
	return e.variants[:n]
}

// smallest returns the variant that compresses best.
func (e *encoder) smallest(list []variant) (variant, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	best, size := 0, math.MaxInt
	for i, v := range list {
		var n counter
		if err := deflate(e.trial, &n, v.data); err != nil {
			return variant{}, err
		}
		if int(n) < size {
			best, size = i, int(n)
		}
	}
	return list[best], nil
}

// deflate compresses data with z to w.
func deflate(z *zlib.Writer, w io.Writer, data []byte) error {
	z.Reset(w)
	if _, err := z.Write(data); err != nil {
		return err
	}
	return z.Close()
}

// buffer is an io.Writer that appends.
type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// counter is an io.Writer that only counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
