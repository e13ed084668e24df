package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/yuv"
)

// source is one decoding pass: an ffmpeg child that writes NUT to a pipe, or what it wrote
// in a pass before.
type source struct {
	clip      *Clip
	pool      *media.Pool
	recording *media.Recording
	expected  int64        // about how many bytes the pass has
	decoder   *yuv.Decoder // of the child's pictures; nil where they are RGBA
	picture   []uint8      // the frame that is read, as the decoder takes it
	child     *process     // nil where a pass is replayed
	pipe      io.Reader
	release   func() bool // from Open's context, if the child was started before; else nil
	nut       *nutReader
	whole     func()        // tells the recording that the pass came to its end
	offset    time.Duration // added to the child's times
	seeked    bool
	started   bool
	done      bool
	next      time.Duration // PTS of the next frame, unless done
}

// Open implements media.Clip.
func (c *Clip) Open(ctx context.Context, o media.ReadOptions) (media.Source, error) {
	if c.still != nil {
		return media.Single(func(ctx context.Context) (*image.NRGBA, error) { return c.readStill(ctx, o.Pool) }), nil
	}
	if s := c.early.take(ctx, o); s != nil {
		return s, nil
	}
	s, err := c.start(ctx, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// start starts a pass, and its child unless there is a recording.
func (c *Clip) start(ctx context.Context, o media.ReadOptions) (*source, error) {
	s := &source{clip: c, pool: o.Pool, recording: o.Recording}
	if coding, ok := c.coding(); ok {
		s.decoder = yuv.NewDecoder(coding, c.info.Width, c.info.Height)
		s.picture = make([]uint8, s.decoder.Bytes())
	}
	if c.guessed {
		o.From, o.To = 0, 0
	}
	s.expected = int64(s.size()) * int64(c.info.FramesIn(o.From, o.To))
	seek := time.Duration(0)
	if o.From > 0 {
		// ffmpeg counts from the container's start and drops what lies before.
		s.seeked, seek = true, max(0, o.From+c.info.Start-c.origin).Truncate(time.Microsecond)
	}
	// ffmpeg rounds what it subtracts to the stream's time base.
	shift := rescale((seek + c.origin).Microseconds(), media.Rational{Num: 1, Den: 1e6}, c.info.TimeBase)
	s.offset = ticks(shift, c.info.TimeBase) - c.info.Start
	if s.pipe = o.Recording.Replay(); s.pipe != nil {
		return s, nil
	}
	s.child = c.tools.command(ctx, "decode", c.tools.FFmpeg, c.decodeArgs(o, seek), files{read: []string{c.path}})
	s.child.maxArea = c.limits.MaxArea
	var err error
	if s.pipe, err = s.child.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	enlargePipe(s.pipe)
	if err := s.child.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// Next implements media.Source. A frame's duration ends with the next one's
// time: of that frame only the header is read.
func (s *source) Next(ctx context.Context) (*media.Frame, error) {
	if ctx.Err() != nil { // nothing else ends a replay
		return nil, context.Cause(ctx)
	}
	if !s.started {
		if err := s.advance(ctx); err != nil {
			return nil, err
		}
	}
	if s.done {
		return nil, io.EOF
	}
	f := &media.Frame{Image: s.pool.Get(s.clip.info.Width, s.clip.info.Height), PTS: s.next}
	err := s.read(f.Image)
	if err == nil {
		err = s.advance(ctx)
	} else {
		err = s.endError(ctx, err)
	}
	if err != nil {
		s.pool.Put(f.Image)
		return nil, err
	}
	switch end := s.clip.info.Duration; {
	case !s.done:
		f.Duration = s.next - f.PTS
	case end > f.PTS:
		f.Duration = end - f.PTS
	default:
		f.Duration = s.clip.info.LastFrame
	}
	f.Delay = f.Duration
	return f, nil
}

// size is the number of bytes of one of the child's pictures.
func (s *source) size() int {
	if s.decoder != nil {
		return s.decoder.Bytes()
	}
	return 4 * s.clip.info.Width * s.clip.info.Height
}

// read reads the rest of a frame after its header.
func (s *source) read(img *image.NRGBA) error {
	if s.decoder == nil {
		return s.nut.read(img.Pix)
	}
	if err := s.nut.read(s.picture); err != nil {
		return err
	}
	s.decoder.Decode(img, s.picture)
	return nil
}

// advance reads up to the next frame's data, or to the end.
func (s *source) advance(ctx context.Context) error {
	pts, err := s.nextPTS()
	if err != nil {
		if err = s.endError(ctx, err); errors.Is(err, io.EOF) {
			s.done = true
			return nil
		}
		return err
	}
	t := ticks(pts, s.nut.base)
	if !s.started && !s.seeked && !s.clip.lost(t+s.offset) {
		s.offset = -t
	}
	s.started, s.next = true, max(0, t+s.offset)
	return nil
}

// lost reports whether the clip's beginning cannot be decoded, if the first frame that can
// is at a time: the clip was cut between key frames. Its frames and its sound keep their
// places. Up to half a unit of time is rounding.
func (c *Clip) lost(first time.Duration) bool {
	return !c.guessed && first > max(time.Microsecond, ticks(1, c.info.TimeBase)/2)
}

func (s *source) nextPTS() (int64, error) {
	if s.nut == nil {
		var from io.Reader
		from, s.whole = s.recording.Tap(s.pipe, s.expected)
		var err error
		if s.nut, err = newNUTReader(from, s.size()); err != nil {
			return 0, err
		}
		if w, h := s.clip.info.Width, s.clip.info.Height; s.nut.width != w || s.nut.height != h {
			return 0, fmt.Errorf("a picture of %d×%d, not %d×%d", s.nut.width, s.nut.height, w, h)
		}
	}
	return s.nut.next()
}

// endError explains an error of reading. At the end of the stream, io.EOF, the
// child must have ended well, or the clip is cut short.
func (s *source) endError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("decode: %w", err)
	}
	if s.child == nil {
		return io.EOF
	}
	if exit := s.child.wait(); exit != nil {
		return exit
	}
	if !s.started && !s.seeked {
		return &media.UnreadableError{Reason: "no frame of the video can be decoded"}
	}
	s.whole()
	return io.EOF
}

// Close implements media.Source: the child is killed and waited for, which closes the pipe.
func (s *source) Close() error {
	if s.release != nil {
		s.release()
	}
	if s.child != nil {
		s.child.kill()
		_ = s.child.wait() // killed on purpose: its exit status says nothing
	}
	return nil
}
