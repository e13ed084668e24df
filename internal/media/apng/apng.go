// Package apng reads and writes animated PNG (PNG specification, third edition, chapters
// 4.9, 11.3.2 and Annex on animation: acTL, fcTL and fdAT) with full 8-bit
// straight alpha, as a stream. A bounded number of frames is in memory, however
// long the clip is.
//
// Every frame but the first holds only the rectangle that differs from the
// frame before. A rectangle replaces the pixels below it (blend SOURCE). If
// that is exact and smaller, it lies over them instead, with unchanged pixels
// transparent (blend OVER). Rows are filtered adaptively (PNG section 12.7).
// Filtering and compression of different frames run in parallel.
package apng

import (
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/system/cores"
)

// maxBytes bounds the pixel bytes of one frame so that a compressed frame
// always fits one chunk (at most 1<<31 - 1 bytes).
const maxBytes = 1 << 30

// Options says how an animation is written. The zero value loops for ever,
// keeps alpha and uses all processors.
type Options struct {
	// Plays is how often the animation plays; 0 means for ever.
	Plays int
	// Opaque says that every pixel of every frame is opaque: alpha is ignored
	// and RGB is written instead of RGBA.
	Opaque bool
	// Pool takes the images back when they are no longer needed; nil leaves
	// them to the garbage collector.
	Pool *media.Pool
	// Workers is how many goroutines filter and compress; 0 means all cores.
	// Each needs up to 16 bytes a pixel. Workers + 2 frames are held in memory
	// at most, at up to 9 bytes a pixel.
	Workers int
}

// Writer is a media.Sink that writes one APNG. It is used by one goroutine and
// has to be ended by Close or Abort, which also end its workers.
type Writer struct {
	media.Ending
	w             io.WriteSeeker
	start         int64 // offset of the signature in w
	width, height int
	bpp           int // bytes a pixel in the file
	opts          Options

	prev   *image.NRGBA // the frame last taken
	frames int
	delays delayRounder

	pending []*frame // in the order of the file
	free    []*frame
	limit   int // most frames in pending
	queue   chan *frame
	workers sync.WaitGroup
	aborted atomic.Bool
}

var _ media.Sink = (*Writer)(nil)

// NewWriter writes the header of a width×height animation at w's current
// offset. It never closes w. When Close returns nil, w's offset is the end of
// the file.
func NewWriter(w io.WriteSeeker, width, height int, o Options) (*Writer, error) {
	if width < 1 || height < 1 || int64(width)*4+1 > maxBytes/int64(height) {
		return nil, fmt.Errorf("apng: cannot write %d×%d pixels", width, height)
	}
	if o.Plays < 0 || o.Plays > math.MaxInt32 {
		return nil, fmt.Errorf("apng: plays %d is not in 0..%d", o.Plays, math.MaxInt32)
	}
	if o.Workers <= 0 {
		o.Workers = cores.Count()
	}
	start, err := w.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("apng: find the start of the file: %w", err)
	}
	aw := &Writer{
		w: w, start: start, width: width, height: height, bpp: 4, opts: o,
		limit: o.Workers + 2,
	}
	aw.Ending = media.NewEnding(aw.finish, aw.release)
	if o.Opaque {
		aw.bpp = 3
	}
	if _, err := w.Write(header(width, height, o)); err != nil {
		return nil, fmt.Errorf("apng: write header: %w", err)
	}
	aw.queue = make(chan *frame, aw.limit)
	for range o.Workers {
		aw.workers.Go(aw.work)
	}
	return aw, nil
}

// Write takes the next frame. Its image must have the writer's size. It blocks
// while all workers are busy. Pixels with alpha 0 are written as 0,0,0,0, and
// the frame's image is changed accordingly. An error, the context's included,
// ends the writer: all later calls return it.
func (w *Writer) Write(ctx context.Context, f *media.Frame) error {
	err := w.Attempt(func() error { return w.write(ctx, f) })
	if err != nil {
		w.opts.Pool.Put(f.Image)
	}
	return err
}

func (w *Writer) write(ctx context.Context, f *media.Frame) error {
	if r := f.Image.Rect; r != image.Rect(0, 0, w.width, w.height) || f.Image.Stride != 4*w.width {
		return fmt.Errorf("apng: frame %d is %v with stride %d, want %d×%d at the origin",
			w.frames, r, f.Image.Stride, w.width, w.height)
	}
	if w.frames == math.MaxInt32/2 {
		return fmt.Errorf("apng: more than %d frames", w.frames)
	}
	if err := w.drain(ctx, w.limit-1); err != nil {
		return err
	}
	j := w.newFrame()
	j.index = w.frames
	j.num, j.den = w.delays.next(f.Delay)
	if w.opts.Opaque {
		media.MakeOpaque(f.Image.Pix)
	} else {
		media.ClearHidden(f.Image.Pix)
	}
	j.diff(w.prev, f.Image, w.bpp)
	w.opts.Pool.Put(w.prev)
	w.prev = f.Image
	w.frames++
	w.pending = append(w.pending, j)
	w.queue <- j // never blocks: the channel holds limit frames
	return nil
}

// drain writes finished frames until at most n are pending, and those behind
// them that are finished anyway.
func (w *Writer) drain(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("apng: write frame: %w", context.Cause(ctx))
	}
	for len(w.pending) > 0 {
		j := w.pending[0]
		if len(w.pending) > n {
			select {
			case <-j.done:
			case <-ctx.Done():
				return fmt.Errorf("apng: write frame %d: %w", j.index, context.Cause(ctx))
			}
		} else {
			select {
			case <-j.done:
			default:
				return nil
			}
		}
		w.pending = w.pending[1:]
		if err := w.emit(j); err != nil {
			return err
		}
	}
	return nil
}

// emit writes the chunks of a finished frame and keeps its buffers for reuse.
func (w *Writer) emit(j *frame) error {
	if j.err != nil {
		return fmt.Errorf("apng: compress frame %d: %w", j.index, j.err)
	}
	if _, err := w.w.Write(j.out); err != nil {
		return fmt.Errorf("apng: write frame %d: %w", j.index, err)
	}
	w.free = append(w.free, j)
	return nil
}

// finish completes the file: the remaining frames, the end, and the number of
// frames in its head.
func (w *Writer) finish() error {
	if w.frames == 0 {
		return media.ErrNoFrames
	}
	for _, j := range w.pending { // a worker has each of them, and ends
		<-j.done
		if err := w.emit(j); err != nil {
			return err
		}
	}
	if _, err := w.w.Write(appendChunk(nil, "IEND")); err != nil {
		return fmt.Errorf("apng: write end: %w", err)
	}
	if err := media.Overwrite(w.w, w.start+controlOffset, animationControl(w.frames, w.opts.Plays)); err != nil {
		return fmt.Errorf("apng: write frame count: %w", err)
	}
	return nil
}

// release ends the workers, each after the frame it is at, waits for them and releases
// all memory.
func (w *Writer) release(error) {
	w.aborted.Store(true)
	close(w.queue)
	w.workers.Wait()
	w.opts.Pool.Put(w.prev)
	w.prev, w.pending, w.free = nil, nil, nil
}

func (w *Writer) newFrame() *frame {
	if n := len(w.free); n > 0 {
		j := w.free[n-1]
		w.free = w.free[:n-1]
		return j
	}
	return &frame{done: make(chan struct{}, 1)}
}

// work compresses frames until the queue is closed.
func (w *Writer) work() {
	var e *encoder
	for j := range w.queue {
		if !w.aborted.Load() {
			if e == nil {
				e = newEncoder(w.bpp)
			}
			j.err = e.encode(j)
		}
		j.done <- struct{}{}
	}
}
