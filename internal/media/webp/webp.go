// Package webp reads and writes animated WebP (Google's "WebP Container Specification")
// with straight alpha, as a stream. libwebp in ffmpeg encodes the pictures, each by
// itself; the container, with its times, is made here. A bounded number of
// frames is in memory, however long the clip is.
//
// A frame that does not change is not written: the one before is shown for
// longer. Another frame is a rectangle of one of a few sizes, which follow what the
// clip needs. Blocks in it that do not change are left out if that is exact.
package webp

import (
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/system/cores"
)

// MaxSide is the longest side of a picture, in pixels.
const MaxSide = 16383

// Options says how an animation is written. The zero value loops for ever and
// keeps alpha.
type Options struct {
	// Plays is how often the animation plays; 0 means for ever. More than 65535
	// is written as that.
	Plays int
	// Opaque says that every pixel of every frame is opaque: alpha is ignored.
	Opaque bool
	// Quality is 1 to 100, which is lossless; 0 means option.QualityWebP.
	Quality int
	// Pool takes the images back when they are no longer needed; nil leaves
	// them to the garbage collector.
	Pool *media.Pool
	// Workers is how many pictures of one size are encoded at the same time, if there
	// are enough of them; 0 means all cores. Each has a child process.
	Workers int
}

// Writer is a media.Sink that writes one animated WebP, or each frame as a WebP of its
// own. It is used by one goroutine and has to be ended by Close or Abort, which also end its encoders.
type Writer struct {
	media.Ending
	tools  *ffmpeg.Tools
	w      io.WriteSeeker          // nil with each
	each   func(file []byte) error // takes each frame's file; nil in an animation
	start  int64                   // offset of the file in w
	canvas image.Rectangle
	opts   Options

	prev    *image.NRGBA // the frame last taken
	times   media.Milliseconds
	frames  int
	bytes   int64
	pending []*frame // in the order of the file; the last may be shown for longer yet

	lanes    []*lane
	encoders int // of all lanes
	spare    spare
	free     chan []byte // pictures for the encoders

	work    *errgroup.Group // of the lanes
	workCtx context.Context // ends with the first failure, which is its cause
	stop    context.CancelCauseFunc
}

var _ media.Sink = (*Writer)(nil)

// NewWriter writes the header of a width×height animation at w's current
// offset. It never closes w. When Close returns nil, w's offset is the end of
// the file. The end of ctx ends the encoders.
func NewWriter(ctx context.Context, t *ffmpeg.Tools, w io.WriteSeeker, width, height int, o Options) (*Writer, error) {
	if o.Plays < 0 {
		return nil, fmt.Errorf("webp: plays %d is negative", o.Plays)
	}
	start, err := w.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("webp: find the start of the file: %w", err)
	}
	ww, err := newWriter(ctx, t, width, height, o)
	if err != nil {
		return nil, err
	}
	ww.w, ww.start = w, start
	if err := ww.put(header(width, height, min(o.Plays, math.MaxUint16), o.Opaque)); err != nil {
		ww.Abort()
		return nil, err
	}
	return ww, nil
}

// NewPictures makes a writer of frames as files of their own. It calls each with them
// in order, from Write and Close. Of the options, Plays does not apply.
func NewPictures(ctx context.Context, t *ffmpeg.Tools, width, height int, o Options, each func(file []byte) error) (*Writer, error) {
	w, err := newWriter(ctx, t, width, height, o)
	if err != nil {
		return nil, err
	}
	w.each = each
	return w, nil
}

func newWriter(ctx context.Context, t *ffmpeg.Tools, width, height int, o Options) (*Writer, error) {
	if width < 1 || height < 1 || width > MaxSide || height > MaxSide {
		return nil, fmt.Errorf("webp: cannot write %d×%d pixels", width, height)
	}
	if o.Workers <= 0 {
		o.Workers = cores.Count()
	}
	w := &Writer{tools: t, canvas: image.Rect(0, 0, width, height), opts: o}
	w.prev = image.NewNRGBA(w.canvas) // as the canvas begins
	buffers := o.Workers + 1          // one is filled while the encoders have the others
	w.Ending = media.NewEnding(w.finish, w.release)
	w.free = make(chan []byte, buffers)
	for range buffers {
		w.free <- nil
	}
	ctx, w.stop = context.WithCancelCause(ctx)
	w.work, w.workCtx = errgroup.WithContext(ctx)
	return w, nil
}

// Write takes the next frame. Its image must have the writer's size. It blocks
// while all encoders are busy. Pixels with alpha 0 become 0,0,0,0, also in the
// frame's image. An error, the context's included, ends the writer: all later
// calls return it.
func (w *Writer) Write(ctx context.Context, f *media.Frame) error {
	err := w.Attempt(func() error { return w.write(ctx, f) })
	if err != nil {
		w.opts.Pool.Put(f.Image)
	}
	return err
}

func (w *Writer) write(ctx context.Context, f *media.Frame) error {
	if r := f.Image.Rect; r != w.canvas || f.Image.Stride != 4*r.Dx() {
		return fmt.Errorf("webp: frame %d is %v with stride %d, want %v", w.frames, r, f.Image.Stride, w.canvas)
	}
	if err := w.drain(ctx, ahead-1); err != nil { // while this frame is the caller's
		return err
	}
	if w.opts.Opaque {
		media.MakeOpaque(f.Image.Pix)
	} else {
		media.ClearHidden(f.Image.Pix)
	}
	changed := w.canvas
	if w.each == nil {
		changed = media.ChangedRect(w.prev, f.Image)
	}
	shown := w.times.Next(f, maxDuration)
	if last := len(w.pending) - 1; last >= 0 && changed.Empty() && w.pending[last].milliseconds+shown <= maxDuration {
		w.pending[last].milliseconds += shown
	} else if err := w.encode(ctx, f.Image, changed, shown); err != nil {
		return err
	}
	done := w.prev
	if w.each == nil {
		w.prev = f.Image
	} else { // no frame builds on another
		done = f.Image
	}
	w.opts.Pool.Put(done)
	w.frames++
	return nil
}

// encode gives the part of img that is changed to an encoder.
func (w *Writer) encode(ctx context.Context, img *image.NRGBA, changed image.Rectangle, shown int) error {
	l, err := w.lane(changed)
	if err != nil {
		return err
	}
	f := &frame{rect: within(changed, l.size, w.canvas), milliseconds: shown, file: make(chan []byte, 1)}
	var pix []byte
	select {
	case pix = <-w.free:
	case <-w.workCtx.Done():
		return context.Cause(w.workCtx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	size := 4 * f.rect.Dx() * f.rect.Dy()
	if cap(pix) < size {
		pix = make([]byte, size)
	}
	f.pix = pix[:size]
	f.over = cut(f.pix, w.prev, img, f.rect)
	w.pending = append(w.pending, f)
	return w.give(ctx, l, f)
}

// cause is why the work has ended, or else err.
func (w *Writer) cause(err error) error {
	if w.workCtx.Err() != nil {
		return context.Cause(w.workCtx)
	}
	return err
}

// drain writes encoded frames until at most n are pending, and those behind them
// that are encoded anyway. It keeps the last, which may be shown for longer.
func (w *Writer) drain(ctx context.Context, n int) error {
	for len(w.pending) > 1 {
		f := w.pending[0]
		var file []byte
		if len(w.pending) > n {
			select {
			case file = <-f.file:
			case <-w.workCtx.Done():
				return context.Cause(w.workCtx)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		} else {
			select {
			case file = <-f.file:
			default:
				return nil
			}
		}
		w.pending = w.pending[1:]
		if err := w.emit(f, file); err != nil {
			return err
		}
	}
	return nil
}

// emit writes a frame.
func (w *Writer) emit(f *frame, file []byte) error {
	if w.each != nil {
		return w.each(file)
	}
	data, err := bitstream(file)
	if err != nil {
		return err
	}
	return w.put(frameChunk(f.rect, f.milliseconds, f.over, data))
}

func (w *Writer) put(b []byte) error {
	if w.bytes += int64(len(b)); w.bytes > maxFile {
		return fmt.Errorf("webp: the file is larger than %d bytes", int64(maxFile))
	}
	if _, err := w.w.Write(b); err != nil {
		return fmt.Errorf("webp: write: %w", err)
	}
	return nil
}

// finish writes pending frames and completes the file.
func (w *Writer) finish() error {
	if w.frames == 0 {
		return media.ErrNoFrames
	}
	for _, l := range w.lanes {
		close(l.frames)
	}
	if w.work.Wait() != nil {
		return context.Cause(w.workCtx)
	}
	for _, f := range w.pending {
		if err := w.emit(f, <-f.file); err != nil {
			return err
		}
	}
	if w.each != nil {
		return nil
	}
	return w.patchSize()
}

// patchSize writes the file's size into its head.
func (w *Writer) patchSize() error {
	if err := media.Overwrite(w.w, w.start+sizeOffset, binary.LittleEndian.AppendUint32(nil, uint32(w.bytes-8))); err != nil {
		return fmt.Errorf("webp: write the file's size: %w", err)
	}
	return nil
}

// release stops the encoders, waits for them and releases all memory.
func (w *Writer) release(cause error) {
	w.stop(cause)
	_ = w.work.Wait() // stopped on purpose, or ended
	w.opts.Pool.Put(w.prev)
	w.prev, w.pending, w.lanes = nil, nil, nil
}
