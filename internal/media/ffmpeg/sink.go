package ffmpeg

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg/ffmpeggo"
	"github.com/bgremove/bgremove/internal/media/yuv"
)

// Format is a video format that a Sink writes.
type Format string

// The formats: VP9 with alpha in WebM, H.264 in MP4, ProRes 4444 in MOV, an MP4 with the
// matte below the colours, and HEVC with alpha in a MOV, by macOS's encoder.
const (
	WebM Format = "webm"
	MP4  Format = "mp4"
	MOV  Format = "mov"

	Stacked Format = "stacked"
	HEVC    Format = "hevc"
)

// SinkOptions says how to encode.
type SinkOptions struct {
	Format        Format
	Width, Height int // of every frame; even for MP4, Stacked and HEVC
	// Opaque leaves the alpha channel out; the matte of Stacked is then white. MP4
	// has none and needs it set.
	Opaque bool
	// Quality is 1 to 100; 0 means option.QualityVideo. MOV has only one.
	Quality int
	// End is when the last frame ends, counted from the first frame. With alpha
	// that frame's own duration says so.
	End time.Duration
	// Timescale is the number of ticks in a second of all but WebM; 0 means 90000.
	// WebM always has milliseconds.
	Timescale int64
	// Audio is the clip that provides the sound; nil is silence.
	Audio *Clip
	// AudioFrom and AudioFor choose the part of Audio's time line that the
	// frames show, counted from its first frame. AudioFor = 0 is all the rest.
	AudioFrom, AudioFor time.Duration
	// Pool takes the pictures back.
	Pool *media.Pool
	// Workers is how many cores there are for encoding side by side; 0 is all.
	Workers int
}

// Sink encodes frames by ffmpeg children. It implements media.Sink.
//
// One child makes a MOV, or a file without alpha. In WebM alpha is a stream of its own,
// beside that of the colours, and ffmpeg encodes one after the other. Here each
// has a child, so that they are encoded at the same time, and a third makes the
// file of their packets.
type Sink struct {
	media.Ending
	pool    *media.Pool
	convert func(planes []uint8, img *image.NRGBA) // to what the encoders read
	free    chan *picture
	feeds   []*feed
	joiner  *joiner // of WebM with alpha and of AV1, else nil
	// tick is the least time between two frames, which all but WebM insist on, and
	// next the earliest that one may be shown.
	tick, next time.Duration

	work    *errgroup.Group // of the feeds, the joiner and the children
	workCtx context.Context // ends with the first failure, which is its cause
	stop    context.CancelCauseFunc
}

// ahead is how many pictures are on their way to the encoders: while they read
// one, the next is made.
const ahead = 2

// NewSink starts encoders that write to path and replace an existing file.
func (t *Tools) NewSink(ctx context.Context, path string, o SinkOptions) (*Sink, error) {
	if encodings[o.Format] == nil {
		return nil, fmt.Errorf("ffmpeg: no encoder for format %q", o.Format)
	}
	if err := t.createOutput(path); err != nil {
		return nil, err
	}
	return newSink(ctx, o, func(s *Sink) error {
		if o.Format == WebM && !o.Opaque {
			return s.encodeAlpha(t, path, o)
		}
		return s.encode(t, path, o)
	})
}

// newSink makes a Sink that start starts the children of.
func newSink(ctx context.Context, o SinkOptions, start func(*Sink) error) (*Sink, error) {
	s := &Sink{pool: o.Pool, free: make(chan *picture, ahead)}
	s.Ending = media.NewEnding(s.finish, s.release)
	size := s.chooseSamples(o)
	for range ahead {
		s.free <- &picture{planes: make([]uint8, size)}
	}
	if o.Format != WebM {
		s.tick = time.Duration(int64(time.Second)/cmp.Or(o.Timescale, defaultTimescale)) + time.Microsecond
	}
	ctx, s.stop = context.WithCancelCause(ctx)
	s.work, s.workCtx = errgroup.WithContext(ctx)
	if err := start(s); err != nil {
		if s.workCtx.Err() != nil { // which has kept the rest from starting
			err = context.Cause(s.workCtx)
		}
		s.Abort()
		return nil, err
	}
	return s, nil
}

// chooseSamples sets how pictures are passed on, and returns their size in bytes.
// ProRes has colour at full resolution, and macOS's encoder takes none but RGB with alpha, so
// ffmpeg gets RGBA for them.
func (s *Sink) chooseSamples(o SinkOptions) int {
	coding, layout := yuv.Coding{Matrix: yuv.BT709}, yuv.Layout{Width: o.Width, Height: o.Height, Alpha: !o.Opaque}
	switch o.Format {
	case MOV, HEVC:
		s.convert = func(planes []uint8, img *image.NRGBA) { copy(planes, img.Pix) }
		return 4 * o.Width * o.Height
	case Stacked:
		encoder := yuv.NewStackedEncoder(coding, layout)
		s.convert = encoder.Encode
		return encoder.Bytes()
	}
	encoder := yuv.NewEncoder(coding, layout)
	s.convert = encoder.Encode
	return encoder.Bytes()
}

// encode starts the child that makes a file by itself.
func (s *Sink) encode(t *Tools, path string, o SinkOptions) error {
	child := t.command(s.workCtx, "encode", t.FFmpeg, EncodeArgs(path, o), o.files(path))
	layout, whole := yuv.Layout{Width: o.Width, Height: o.Height}, packetStream{samples: rawVideo, part: func(planes []uint8) [][]uint8 { return [][]uint8{planes} }}
	switch o.Format {
	case MOV, HEVC:
		whole.samples = rawRGBA
	case Stacked:
		layout.Height *= 2
	}
	if err := s.feed(child, layout, whole); err != nil {
		return err
	}
	s.work.Go(child.finish)
	return nil
}

// encodeAlpha starts the children that make a WebM with alpha.
func (s *Sink) encodeAlpha(t *Tools, path string, o SinkOptions) error {
	muxer := t.command(s.workCtx, "mux", t.FFmpeg, joinArgs(path, o), o.files(path))
	pipe, mkv, err := muxer.pipe(vp9, yuv.Layout{Width: o.Width, Height: o.Height, Alpha: true})
	if err != nil {
		return err
	}
	s.joiner = &joiner{op: muxer.op, to: &webmWriter{muxer, pipe, mkv}, unit: time.Millisecond, fail: s.stop}
	s.work.Go(muxer.finish)
	return s.encodePackets(t, o)
}

// packetStream is what an encoder of packets is given, and how it encodes.
type packetStream struct {
	samples codec
	args    ffmpeggo.KwArgs
	part    func(planes []uint8) [][]uint8 // of every picture
}

// vp9Streams are the encoders of colours, and of alpha with colours without colour.
func vp9Streams(o SinkOptions) []packetStream {
	colours := yuv.Layout{Width: o.Width, Height: o.Height}.Bytes()
	grey := bytes.Repeat([]uint8{yuv.Grey}, colours-o.Width*o.Height)
	return []packetStream{
		{rawVideo, packetArgs(o), func(planes []uint8) [][]uint8 { return [][]uint8{planes[:colours]} }},
		{rawVideo, packetArgs(o), func(planes []uint8) [][]uint8 { return [][]uint8{planes[colours:], grey} }},
	}
}

// encodePackets starts the encoders of packets for the joiner.
func (s *Sink) encodePackets(t *Tools, o SinkOptions) error {
	streams := vp9Streams
	if o.Format == av1 {
		streams = av1Streams
	}
	all := streams(o)
	s.joiner.packets, s.joiner.running = make([][][]byte, len(all)), len(all)
	for i, stream := range all {
		args := ffmpeggo.Output([]*ffmpeggo.Stream{pictures()}, "pipe:1", stream.args).GlobalArgs(quiet...).GetArgs()
		child := t.command(s.workCtx, "encode", t.FFmpeg, args, files{})
		packets, err := child.cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := s.feed(child, yuv.Layout{Width: o.Width, Height: o.Height}, stream); err != nil {
			return err
		}
		s.work.Go(func() error { return s.joiner.join(i, child, packets) })
	}
	return nil
}

// feed starts an encoder and gives it its part of every picture.
func (s *Sink) feed(child *process, layout yuv.Layout, stream packetStream) error {
	pipe, mkv, err := child.pipe(stream.samples, layout)
	if err != nil {
		return err
	}
	f := &feed{child: child, pipe: pipe, mkv: mkv, part: stream.part, pictures: make(chan *picture, ahead)}
	s.feeds = append(s.feeds, f)
	s.work.Go(func() error { return f.run(s.workCtx, s.free) })
	return nil
}

// files are those of the child that makes the file.
func (o SinkOptions) files(path string) files {
	f := files{written: []string{path}}
	if o.Audio != nil {
		f.read = []string{o.Audio.path}
	}
	return f
}

// createOutput makes the file of an encoder that is confined and so can make none.
func (t *Tools) createOutput(path string) error {
	if !t.Confined() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return f.Close()
}

// Write implements media.Sink. After an error, the context's included, the file is not
// completed: all later calls return it.
func (s *Sink) Write(ctx context.Context, f *media.Frame) error {
	defer s.pool.Put(f.Image)
	return s.Attempt(func() error { return s.write(ctx, f) })
}

func (s *Sink) write(ctx context.Context, f *media.Frame) error {
	var p *picture
	select {
	case p = <-s.free:
	case <-s.workCtx.Done():
		return context.Cause(s.workCtx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	p.pts, p.duration = max(f.PTS, s.next), f.Duration
	s.next = p.pts + s.tick
	s.convert(p.planes, f.Image)
	if s.joiner != nil {
		s.joiner.expect(p)
	}
	p.feeds.Store(int32(len(s.feeds)))
	for _, feed := range s.feeds {
		feed.pictures <- p // there is room for all pictures
	}
	return nil
}

// finish has the children complete the file. One whose input ends early would succeed
// with a short file, so that it is not called after an error.
func (s *Sink) finish() error {
	for _, f := range s.feeds {
		close(f.pictures)
	}
	if s.work.Wait() != nil {
		return context.Cause(s.workCtx)
	}
	return nil
}

// release stops the children and waits for them.
func (s *Sink) release(cause error) {
	s.stop(cause)
	_ = s.work.Wait() // stopped on purpose, or ended
}
