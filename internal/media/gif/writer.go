package gif

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"io"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/system/cores"
)

const (
	maxSide  = 65535
	maxDelay = 65535 // centiseconds
	maxPlays = 65536 // the first, and as many repetitions as two bytes count
	// maxDuration bounds the time one frame is shown; more is surely a mistake.
	maxDuration = 24 * time.Hour
)

// WriterOptions says how to write an animation. The zero value is useful.
type WriterOptions struct {
	// Quality is 1 to 100; 0 means option.QualityGIF. It sets how much a pixel may
	// differ from its true colour before it is rewritten. Below 90 it also sets
	// how much fidelity to give up for a smaller file, and below 80 the number of
	// colours. 100 allows no lossy compression.
	Quality int
	// Colours bounds the colours of a palette, 2 to 255; 0 means 255.
	Colours int
	// Plays is how often the animation plays; 0 means for ever. More than 65536 is
	// written as that.
	Plays int
	// EdgeColour is what partly transparent pixels (alpha 32 to 254) are
	// blended on. nil means that pixels with alpha 128 and more keep their own
	// colour and the others are transparent.
	EdgeColour *color.NRGBA
	// Survey holds the colours of the whole clip. Without one the first frame
	// determines the palette. NewWriter reads it and does not keep it.
	Survey *Survey
	// Pool takes the pictures back. nil leaves them to the garbage collector.
	Pool *media.Pool
	// Workers is how many goroutines compress; 0 means all cores.
	Workers int
}

func (o WriterOptions) colours() int { return min(cmp.Or(o.Colours, maxColours), maxColours) }

// Writer writes an animation with one palette and dithers by position. It
// writes only changes from frame to frame. It implements media.Sink and holds
// no more than a few frames.
//
// Delays are rounded to centiseconds cumulatively. Whole centiseconds stay
// exact, 0 included, and others never drift by more than half a centisecond. A
// delay above 655.35 s becomes several frames. A frame without changes is still
// written, so the number of frames and each delay are kept.
//
// Close writes pending frames and the trailer. Abort waits for a Write to the underlying
// writer that is under way.
type Writer struct {
	media.Ending
	w      io.Writer
	opt    WriterOptions
	screen *screen
	colour paletteChoice

	width, height int
	time          time.Duration
	written       int64 // centiseconds
	prefix        []byte
	pending       *picture // waits for the next frame, which decides its disposal

	spare chan *picture
	order chan *picture // to the goroutine that writes
	work  chan *picture // to the packers
	wg    sync.WaitGroup
	end   func() // ends the goroutines and waits for them

	stop     chan struct{} // closed by fail
	failOnce sync.Once
	err      error // read after stop is closed
}

var _ media.Sink = (*Writer)(nil)

// NewWriter starts an animation of width × height pixels, each 1 to 65535, on
// w. It owns no resource of w: the caller closes that after Close or Abort.
// Nothing is written before the first frame.
func NewWriter(w io.Writer, width, height int, o WriterOptions) (*Writer, error) {
	if width < 1 || height < 1 || width > maxSide || height > maxSide {
		return nil, fmt.Errorf("gif: size %dx%d is outside 1 to %d", width, height, maxSide)
	}
	if o.Quality < 0 || o.Quality > 100 {
		return nil, fmt.Errorf("gif: quality %d is outside 1 to 100", o.Quality)
	}
	if o.Plays < 0 {
		return nil, fmt.Errorf("gif: plays %d is negative", o.Plays)
	}
	o.Plays = min(o.Plays, maxPlays)
	if o.Workers <= 0 {
		o.Workers = cores.Count()
	}
	s := settingsFor(o.Quality)
	wr := &Writer{
		w: w, opt: o, width: width, height: height,
		screen: newScreen(width, height, s, o.EdgeColour),
		spare:  make(chan *picture, o.Workers+3),
		order:  make(chan *picture, o.Workers),
		work:   make(chan *picture, o.Workers),
		stop:   make(chan struct{}),
	}
	wr.Ending, wr.end = media.NewEnding(wr.finish, wr.release), sync.OnceFunc(wr.wait)
	if o.Survey != nil {
		wr.start(o.Survey)
	}
	wr.opt.Survey = nil
	for range o.Workers {
		wr.wg.Go(wr.packAll)
	}
	wr.wg.Go(wr.writeAll)
	return wr, nil
}

// start fixes the global palette.
func (w *Writer) start(c *Survey) {
	s := &w.screen.settings
	s.lambda *= c.redrawn()
	colours, loss := c.palette(w.opt.colours(), s.lambda, w.opt.EdgeColour)
	p := newPalette(colours, loss, *s)
	*s = s.adapt(w.opt.Quality, loss, c.noise())
	w.colour = paletteChoice{screen: w.screen, global: p, most: w.opt.colours()}
	w.screen.setPalette(p)
	w.prefix = appendHeader(nil, w.width, w.height, p, w.opt.Plays)
}

// Write takes the next frame. Its picture must have the animation's size. It
// returns the error of an earlier frame if writing that failed meanwhile. After
// an error the animation is unusable.
func (w *Writer) Write(ctx context.Context, f *media.Frame) error {
	defer w.opt.Pool.Put(f.Image)
	return w.Attempt(func() error { return w.write(ctx, f) })
}

func (w *Writer) write(ctx context.Context, f *media.Frame) error {
	if f.Image.Rect != image.Rect(0, 0, w.width, w.height) || f.Image.Stride != 4*w.width {
		return fmt.Errorf("gif: frame of %v in an animation of %dx%d", f.Image.Rect, w.width, w.height)
	}
	if err := w.submit(ctx, w.screen.vanishing(f.Image)); err != nil {
		return err
	}
	if w.colour.global == nil {
		var first Survey
		first.Add(f.Image)
		w.start(&first)
	}
	w.screen.setPalette(w.colour.choose(f.Image))
	delay := w.delay(f.Delay)
	w.pending = w.picture(min(delay, maxDelay))
	w.screen.draw(f.Image, w.pending)
	for delay -= maxDelay; delay > 0; delay -= maxDelay {
		if err := w.submit(ctx, image.Rectangle{}); err != nil {
			return err
		}
		w.pending = w.picture(min(delay, maxDelay))
		w.pending.blank()
	}
	return nil
}

// delay turns the next frame's time into centiseconds to write.
func (w *Writer) delay(d time.Duration) int {
	const cs = 10 * time.Millisecond
	w.time += min(max(d, 0), maxDuration)
	delay := int64((w.time+cs/2)/cs) - w.written
	w.written += delay
	return int(delay)
}

func (w *Writer) picture(delay int) *picture {
	var p *picture
	select {
	case p = <-w.spare:
	default:
		p = newPicture(w.width, w.height, w.screen.reward > 0)
	}
	p.delay, p.palette = delay, w.screen.palette
	if p.lossy != nil {
		p.lossy.reward = w.screen.reward
	}
	p.local = p.palette != w.colour.global
	p.prefix, w.prefix = w.prefix, nil
	return p
}

// submit passes the pending picture on, if there is one. vanishing has the pixels that
// the next frame needs erased.
func (w *Writer) submit(ctx context.Context, vanishing image.Rectangle) error {
	if !w.pass(vanishing, ctx.Done()) {
		return context.Cause(ctx)
	}
	return w.failed()
}

// pass is submit, unless ended closes before there is room. It ends early where the writer
// has failed.
func (w *Writer) pass(vanishing image.Rectangle, ended <-chan struct{}) bool {
	p := w.pending
	if p == nil {
		return true
	}
	w.pending = nil
	p.finish(vanishing)
	if p.erase {
		w.screen.cleared = p.area
	}
	for _, queue := range [2]chan *picture{w.order, w.work} {
		select {
		case queue <- p:
		case <-w.stop:
		case <-ended:
			return false
		}
	}
	return true
}

// packAll compresses pictures until the channel is closed.
func (w *Writer) packAll() {
	k := &packer{width: w.width}
	for p := range w.work {
		k.pack(p)
		p.done <- struct{}{}
	}
}

// writeAll writes compressed pictures in order until the channel is closed.
func (w *Writer) writeAll() {
	for p := range w.order {
		select {
		case <-p.done:
		case <-w.stop:
			return
		}
		if _, err := w.w.Write(p.encoded); err != nil {
			w.fail(fmt.Errorf("gif: write frame: %w", err))
			return
		}
		select {
		case w.spare <- p:
		default:
		}
	}
}

func (w *Writer) fail(err error) {
	w.failOnce.Do(func() {
		w.err = err
		close(w.stop)
	})
}

func (w *Writer) failed() error {
	select {
	case <-w.stop:
		return w.err
	default:
		return nil
	}
}

func (w *Writer) finish() error {
	if w.pending == nil {
		return media.ErrNoFrames
	}
	w.pass(image.Rectangle{}, nil)
	w.end()
	if err := w.failed(); err != nil {
		return err
	}
	if _, err := w.w.Write([]byte{blockTrailer}); err != nil {
		return fmt.Errorf("gif: write trailer: %w", err)
	}
	return nil
}

// release stops the goroutines, after a failure at once.
func (w *Writer) release(cause error) {
	if cause != nil {
		w.fail(cause)
	}
	w.end()
}

// wait waits for the goroutines, which end after the pictures they were given.
func (w *Writer) wait() {
	close(w.order)
	close(w.work)
	w.wg.Wait()
}
