package gif

import (
	"context"
	"io"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// minStrip is how many indices at least are decoded before rows are painted.
const minStrip = 1 << 14

// Reader decodes and composes a GIF frame by frame; it is a media.Source, for
// one goroutine. It holds one canvas, one saved copy of it where the file asks for
// that, and a strip of indices.
type Reader struct {
	parser  *parser
	pool    *media.Pool
	canvas  *compositor
	lzw     lzwDecoder
	indices []byte
	pts     time.Duration
	err     error // what Next says from now on
}

var _ media.Source = (*Reader)(nil)

// NewReader reads the header of a GIF. Frames come from pool, or are allocated
// if it is nil. Errors are those of Next.
func NewReader(r io.Reader, lim media.Limits, pool *media.Pool) (*Reader, error) {
	p, err := newParser(r, lim)
	if err != nil {
		return nil, err
	}
	return &Reader{parser: p, pool: pool}, nil
}

// Next returns the next composed frame, as large as the canvas. A file that is
// truncated or damaged after some whole frames ends there with io.EOF. A
// truncated still is returned as far as it goes, and so is every
// picture with invalid data inside. Otherwise errors wrap ErrMalformed, are
// ErrNoFrames or a *media.LimitError, or come from the io.Reader. An error of
// the io.Reader that wraps io.ErrUnexpectedEOF counts as a truncated file.
func (r *Reader) Next(ctx context.Context) (*media.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	f, err := r.next()
	r.err = err
	return f, err
}

// Close ends the clip. The io.Reader stays the caller's.
func (r *Reader) Close() error {
	r.err = io.EOF
	r.canvas, r.indices = nil, nil
	return nil
}

func (r *Reader) next() (*media.Frame, error) {
	pic, err := r.parser.next()
	if err != nil {
		return nil, err
	}
	if r.canvas == nil {
		r.canvas = newCompositor(r.parser.width, r.parser.height)
	}
	r.canvas.begin(pic)
	if err := r.paint(pic); err != nil {
		return nil, err
	}
	img := r.pool.Get(r.parser.width, r.parser.height)
	copy(img.Pix, r.canvas.pix)
	f := &media.Frame{Image: img, PTS: r.pts, Duration: media.Shown(pic.control.delay), Delay: pic.control.delay}
	r.pts += f.Duration
	return f, nil
}

// paint decodes the picture's data onto the canvas, in strips of whole rows.
func (r *Reader) paint(pic *imageBlock) error {
	width := pic.rect.Dx()
	limit := (minStrip + width - 1) / width * width
	if need := limit + lzwSlack; len(r.indices) < need {
		r.indices = make([]byte, need)
	}
	r.lzw.reset(pic.codeSize)
	order := newRowOrder(pic)
	n := 0
	for {
		b, err := r.parser.data(pic)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			break
		}
		for !order.done() && !r.lzw.stopped() {
			if n, b = r.lzw.decode(r.indices, n, limit, b); n < limit {
				break
			}
			n = r.flush(pic, &order, n)
		}
	}
	if n = r.flush(pic, &order, n); n > 0 && !order.done() {
		r.canvas.paint(pic.rect.Min.Y+order.y, r.indices[:n])
	}
	r.parser.damaged = r.parser.damaged || r.lzw.damaged
	return nil
}

// flush paints the whole rows among the first n indices and moves the rest to
// the front; it returns how many are left.
func (r *Reader) flush(pic *imageBlock, order *rowOrder, n int) int {
	width := pic.rect.Dx()
	at := 0
	for ; at+width <= n && !order.done(); order.advance() {
		r.canvas.paint(pic.rect.Min.Y+order.y, r.indices[at:at+width])
		at += width
	}
	return copy(r.indices, r.indices[at:n])
}
