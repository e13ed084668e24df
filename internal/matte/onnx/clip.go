package onnx

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"slices"
	"sync"

	"github.com/bgremove/bgremove/internal/matte/reduce"
	"github.com/bgremove/bgremove/internal/matte/view"
	"github.com/bgremove/bgremove/internal/network/model"
)

// ClipOptions are how a clip is run. The zero value is useful.
type ClipOptions struct {
	// NoReuse runs the network even on a frame that it would see just as it
	// saw another.
	NoReuse bool
	// NoCloser lets networks look once at each frame, also those whose model.Spec has Closer.
	NoCloser bool
	// NoForeground leaves Result.Foreground nil.
	NoForeground bool
}

// Result is the network's result for one frame.
type Result struct {
	// Matte shows the whole frame at the network's resolution, with its origin at
	// (0, 0). It has the frame's proportions only if the network's input has. Other
	// results may share it, so it must not be modified.
	Matte *image.Alpha
	// Picture is the network's input for the frame. Like Matte it shows the whole
	// frame, has its origin at (0, 0), and may be shared. It is opaque.
	Picture *image.NRGBA
	// Foreground is the colour of the subject alone, of the size of Matte,
	// opaque, and shared as Matte is. Only recurrent networks give it.
	Foreground *image.NRGBA
	// Features are what the network sees over the whole frame, if it tells; shared as
	// Matte is.
	Features view.Features
}

// Clip runs a network on the frames of one clip. It needs no Close.
//
// Start and Picture are safe for concurrent use. If Ordered, calls of Start
// nevertheless have to come one after the other and in the clip's order to mean
// anything.
type Clip struct {
	n *Network
	o ClipOptions

	mu        sync.Mutex // guards what follows
	letterbox *letterbox
	// recent are the frames that another may equal, the oldest first.
	recent []*Inference
	span   span

	turn  chan struct{} // held while a recurrent network runs
	state *state
}

// letterbox maps frames of one size to a network's input: the whole frame is in the
// part inner of an input of w×h, and the rest is black.
type letterbox struct {
	w, h   int
	inner  image.Rectangle
	scaler *reduce.Scaler
}

// maxRecent is how many frames back an equal one is looked for: some
// animations go to and fro between a few pictures.
const maxRecent = 8

// Inference is the network's work on a frame, which may be that on an equal
// one.
type Inference struct {
	in       *image.NRGBA  // the network's view of the frame
	frame    uint64        // hash of the frame, where the network looks closer
	original *Inference    // the inference with the shared result; nil: its own
	done     chan struct{} // closed once res and err are set
	res      Result
	err      error
}

// Wait returns the result, or the cause of ctx's end. A network at fault gives
// a *ModelError.
func (i *Inference) Wait(ctx context.Context) (Result, error) {
	source := i
	if i.original != nil {
		source = i.original
	}
	select {
	case <-source.done:
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
	return source.res, source.err
}

// NewClip begins a clip.
func (n *Network) NewClip(o ClipOptions) *Clip {
	c := &Clip{n: n, o: o, span: unitSpan, turn: make(chan struct{}, 1)}
	c.Reset()
	if n.contract.spec.Output.Stretch {
		c.span = newSpan()
	}
	return c
}

// Ordered reports whether the result of a frame depends on those before it:
// the network is recurrent, or its range is stretched.
func (c *Clip) Ordered() bool {
	s := c.n.contract.spec
	return s.Kind == model.Recurrent || s.Output.Stretch
}

// Reset forgets the frames so far, as at a cut. The range that Stretch has
// found stays, since it is the clip's. It waits for a running recurrent
// inference.
func (c *Clip) Reset() {
	c.turn <- struct{}{}
	c.state = newState()
	<-c.turn
	c.mu.Lock()
	c.recent = nil
	c.mu.Unlock()
}

// Picture is img as the network sees it: Result.Picture.
func (c *Clip) Picture(img *image.NRGBA) *image.NRGBA {
	return c.letterboxFor(img.Rect.Size()).draw(img)
}

// Start runs the network on img, and ignores its alpha. The picture is that of img by
// Picture. For a frame equal to one that the network is processing in another goroutine
// it returns at once. Frames of a clip may change in size, which resets a recurrent
// network. A faulty network is a *ModelError, a cancelled ctx its cause.
func (c *Clip) Start(ctx context.Context, img, picture *image.NRGBA) (*Inference, error) {
	v := c.letterboxFor(img.Rect.Size())
	i := &Inference{in: picture, done: make(chan struct{})}
	if c.looksCloser() && !c.o.NoReuse {
		i.frame = hash(img)
	}
	if i.original = c.reuse(i); i.original != nil {
		return i, nil
	}
	if i.res, i.err = c.run(ctx, i.in, v); i.err == nil && c.looksCloser() {
		i.res.Matte, i.err = c.closer(ctx, img, i.res.Matte)
	}
	if i.err != nil {
		c.forget(i)
	}
	close(i.done)
	return i, i.err
}

// reuse looks for a recent inference on a frame equal to i's. If there is none, i is
// one itself from now on.
func (c *Clip) reuse(i *Inference) *Inference {
	if c.o.NoReuse {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.recent {
		if r.frame == i.frame && r.in.Rect == i.in.Rect && bytes.Equal(r.in.Pix, i.in.Pix) {
			return r
		}
	}
	limit := maxRecent
	if c.Ordered() {
		limit = 1 // earlier results depend on their predecessors
	}
	if len(c.recent) == limit {
		c.recent = slices.Delete(c.recent, 0, 1)
	}
	c.recent = append(c.recent, i)
	return nil
}

// forget takes back what reuse noted.
func (c *Clip) forget(i *Inference) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = slices.DeleteFunc(c.recent, func(r *Inference) bool { return r == i })
}

func (c *Clip) letterboxFor(size image.Point) *letterbox {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.letterbox != nil {
		if from, _ := c.letterbox.scaler.Sizes(); from == size {
			return c.letterbox
		}
	}
	c.letterbox = c.n.contract.letterbox(size)
	return c.letterbox
}

// letterbox is that of frames of a size.
func (k *contract) letterbox(size image.Point) *letterbox {
	w, h, inner := k.fit(size.X, size.Y)
	return &letterbox{w, h, inner, reduce.New(size, inner.Size())}
}

// draw gives img as the network sees it.
func (v *letterbox) draw(img *image.NRGBA) *image.NRGBA {
	p := image.NewNRGBA(image.Rectangle{Max: v.inner.Size()})
	v.scaler.Draw(p, img)
	return p
}

func (c *Clip) run(ctx context.Context, p *image.NRGBA, v *letterbox) (Result, error) {
	if c.n.contract.spec.Kind == model.Recurrent {
		select {
		case c.turn <- struct{}{}:
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		}
		defer func() { <-c.turn }()
	}
	slot, err := c.n.acquire(ctx)
	if err != nil {
		return Result{}, err
	}
	defer c.n.release(slot)
	slot.prepare(&c.n.contract, p, v)
	if c.n.contract.spec.Kind == model.Recurrent {
		return c.runRecurrent(ctx, slot, p, v)
	}
	out := []*tensor{&slot.out, &slot.seen}[:len(c.n.contract.outputs)]
	if err := c.n.engine.run(ctx, []*tensor{&slot.in}, out); err != nil {
		return Result{}, c.failed(ctx, err)
	}
	m, err := c.matte(&slot.out, v)
	if err != nil || len(out) == 1 {
		return Result{Matte: m, Picture: p}, err
	}
	f, err := slot.seen.features()
	if err != nil {
		return Result{}, c.n.modelError("output "+c.n.contract.outputs[1].name, err)
	}
	return Result{Matte: m, Picture: p, Features: f}, nil
}

// features are those that t holds. Networks may give another shape than they declare.
func (t *tensor) features() (view.Features, error) {
	if len(t.shape) != 4 || t.shape[0] != 1 || t.shape[1] != view.FeatureCount || len(t.u8) == 0 {
		return view.Features{}, fmt.Errorf("%v of shape %v, want uint8 [1 %d rows columns]", t.elem, t.shape, view.FeatureCount)
	}
	return view.Features{W: int(t.shape[3]), H: int(t.shape[2]), Pix: slices.Clone(t.u8)}, nil
}

// prepare readies the slot for p. The shape of the output is kept
// while the input's stays, which spares the runtime's allocation and a copy.
func (s *slot) prepare(k *contract, p *image.NRGBA, v *letterbox) {
	if s.w != v.w || s.h != v.h {
		s.w, s.h = v.w, v.h
		s.out, s.seen = tensor{}, tensor{}
	}
	k.fill(&s.in, p, v, &s.value)
}

func (c *Clip) matte(t *tensor, v *letterbox) (*image.Alpha, error) {
	c.mu.Lock()
	span := c.span
	c.mu.Unlock()
	m, err := c.n.contract.matte(t, v.w, v.h, v.inner, &span)
	if err != nil {
		return nil, c.n.modelError("output "+c.n.contract.outputs[0].name, err)
	}
	c.mu.Lock()
	c.span = span.union(c.span)
	c.mu.Unlock()
	return m, nil
}

func (c *Clip) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("estimate matte: %w", context.Cause(ctx))
	}
	return c.n.modelError("did not run", err)
}

// Recurrent reports whether the network remembers the frames before.
func (c *Clip) Recurrent() bool { return c.n.contract.spec.Kind == model.Recurrent }
