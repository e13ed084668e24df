package ffmpeg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	ffmpeggo "github.com/u2takey/ffmpeg-go"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/yuv"
)

// Format is a video format that a Sink writes.
type Format string

// The formats: VP9 with alpha in WebM, H.264 in MP4.
const (
	WebM Format = "webm"
	MP4  Format = "mp4"
)

// SinkOptions says how to encode.
type SinkOptions struct {
	Format        Format
	Width, Height int // of every frame
	// Opaque leaves the alpha channel out. MP4 has none and needs it set.
	Opaque bool
	// Quality is 1 to 100; 0 stands for 80.
	Quality int
	// End is when the last frame ends, counted from the first frame.
	End time.Duration
	// Timescale is the number of MP4 ticks in a second; 0 stands for 90000.
	// WebM always has milliseconds.
	Timescale int64
	// Audio is the clip whose sound is taken along; nil is silence.
	Audio *Clip
	// AudioFrom and AudioFor choose the part of Audio's time line that the
	// frames show, counted from its first frame. AudioFor = 0 is all the rest.
	AudioFrom, AudioFor time.Duration
	Pool                *media.Pool
}

// Sink encodes frames by an ffmpeg child, which is given them as the codec has
// them. It implements media.Sink.
type Sink struct {
	child   *process
	pipe    io.WriteCloser
	mkv     *matroskaWriter
	pool    *media.Pool
	closed  bool
	encoder *yuv.Encoder
	picture []uint8 // the frame in work as the codec has it
	// tick is the least time between two frames, which MP4 insists on, and
	// next the earliest that one may be shown.
	tick, next time.Duration
}

// NewSink starts an encoder that writes to path, replacing what is there.
func (t *Tools) NewSink(ctx context.Context, path string, o SinkOptions) (*Sink, error) {
	f := files{written: []string{path}}
	if o.Audio != nil {
		f.read = []string{o.Audio.path}
	}
	if err := t.provide(path); err != nil {
		return nil, err
	}
	layout := yuv.Layout{Width: o.Width, Height: o.Height, Alpha: !o.Opaque}
	s := &Sink{pool: o.Pool, child: t.command(ctx, "encode", t.FFmpeg, EncodeArgs(path, o), f),
		encoder: yuv.NewEncoder(yuv.Coding{Matrix: yuv.BT709}, layout), picture: make([]uint8, layout.Bytes())}
	if s.pool == nil {
		s.pool = new(media.Pool)
	}
	if o.Format == MP4 {
		s.tick = time.Duration(int64(time.Second)/cmp.Or(o.Timescale, defaultTimescale)) + time.Microsecond
	}
	var err error
	if s.pipe, err = s.child.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	widen(s.pipe)
	if err := s.child.start(); err != nil {
		return nil, err
	}
	if s.mkv, err = newMatroskaWriter(s.pipe, layout); err != nil {
		err = s.broken(err)
		s.Abort()
		return nil, err
	}
	return s, nil
}

// provide makes the file of an encoder that is confined and so can make none.
func (t *Tools) provide(path string) error {
	if !t.Confined() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return f.Close()
}

// Write implements media.Sink.
func (s *Sink) Write(ctx context.Context, f *media.Frame) error {
	pts := max(f.PTS, s.next)
	s.next = pts + s.tick
	s.encoder.Encode(s.picture, f.Image)
	s.pool.Put(f.Image)
	err := s.mkv.write(s.picture, pts, f.Duration)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.broken(err)
}

// broken explains a failed write to the pipe by what the child said.
func (s *Sink) broken(err error) error {
	_ = s.pipe.Close()
	if exit := s.child.wait(); exit != nil {
		return exit
	}
	return fmt.Errorf("encode: %w", err)
}

// Close implements media.Sink. An encoder whose input ends early exits well
// with a short file, so after any error the caller must Abort instead.
func (s *Sink) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if err := errors.Join(s.pipe.Close(), s.child.wait()); err != nil {
		return err
	}
	return s.child.unfinished()
}

// Abort implements media.Sink.
func (s *Sink) Abort() {
	s.closed = true
	s.child.kill()
	_ = s.pipe.Close()
	_ = s.child.wait() // killed on purpose
}

const (
	defaultQuality   = 80
	defaultTimescale = 90000
	webmTimescale    = 1000
)

// EncodeArgs is ffmpeg's command line for a sink: everything after the
// program's name. It reads Matroska from standard input.
func EncodeArgs(path string, o SinkOptions) []string {
	o.Quality = cmp.Or(o.Quality, defaultQuality)
	o.Timescale = cmp.Or(o.Timescale, defaultTimescale)
	streams := []*ffmpeggo.Stream{ffmpeggo.Input("pipe:0", ffmpeggo.KwArgs{
		"f": "matroska", "protocol_whitelist": "pipe",
	}).Video()}
	var out ffmpeggo.KwArgs
	if o.Format == MP4 {
		out = mp4Args(o)
	} else {
		out = webmArgs(o)
	}
	if o.Audio != nil {
		streams = append(streams, audioInput(o))
		out["c:a"] = audioCodec(o.Format, o.Audio.info.AudioCodec)
		if out["c:a"] == "libopus" {
			out["af"] = opusLayouts
		}
		if o.AudioFor > 0 {
			out["t"] = decimal(o.AudioFor)
		}
		if o.AudioFrom > 0 {
			out["copypriorss:a"] = "0" // what is copied begins with the part, not at the key frame before it
		}
	}
	return ffmpeggo.Output(streams, fileURL(path), out).
		GlobalArgs(append([]string{"-y"}, quiet...)...).GetArgs()
}

// commonArgs hold what the two formats share: frames keep their times (the
// encoder's unit is the container's own), the last one its duration, and the
// colours are tagged as they were converted. Without B-frames an MP4 needs no
// edit list and its sample durations are the frames'.
func commonArgs(o SinkOptions, timescale int64) ffmpeggo.KwArgs {
	end := int64(o.End.Round(time.Microsecond)) * timescale / int64(time.Second)
	return ffmpeggo.KwArgs{
		"bsf:v":    fmt.Sprintf("setts=pts=PTS:dts=DTS:duration=max(1\\,%d-PTS)", end),
		"fps_mode": "passthrough", "enc_time_base:v": fmt.Sprintf("1:%d", timescale),
		"colorspace": "bt709", "color_primaries": "bt709", "color_trc": "bt709", "color_range": "tv",
		"map_metadata": "-1",
	}
}

func webmArgs(o SinkOptions) ffmpeggo.KwArgs {
	out := commonArgs(o, webmTimescale)
	out["f"], out["c:v"] = "webm", "libvpx-vp9"
	// Constant quality: 60 at quality 1, 28 at 80, 20 at 100.
	out["crf"], out["b:v"] = strconv.Itoa(60-o.Quality*2/5), "0"
	// Tuned for screens, which have flat and still areas as cut-outs have, the
	// realtime mode gives files of the good mode's size and fidelity in less
	// than half of its time (go run ./tools/bench -encoder). It makes no use of
	// frames ahead, of which it would gather 25 before it begins.
	out["lag-in-frames"] = "0"
	out["deadline"], out["cpu-used"], out["tune-content"], out["row-mt"] = "realtime", "6", "screen", "1"
	return out
}

func mp4Args(o SinkOptions) ffmpeggo.KwArgs {
	out := commonArgs(o, o.Timescale)
	out["f"], out["c:v"], out["preset"], out["bf"] = "mp4", "libx264", "medium", "0"
	// 45 at quality 1, 21 at 80, 15 at 100.
	out["crf"] = strconv.Itoa(45 - o.Quality*3/10)
	out["video_track_timescale"] = strconv.FormatInt(o.Timescale, 10)
	out["movflags"] = "+faststart"
	return out
}

// audioInput reads the sound of the source so that it keeps its place against
// the picture, whose first shown frame is at 0. ffmpeg moves an input's start,
// or the place it seeks to, to 0 by itself; the rest is up to us.
func audioInput(o SinkOptions) *ffmpeggo.Stream {
	c := o.Audio
	in := ffmpeggo.KwArgs{"f": demuxers[c.info.Container], "protocol_whitelist": "file"}
	lead := c.info.Start + o.AudioFrom - c.origin // from the input's start to the first frame
	if o.AudioFrom > 0 {
		in["ss"] = decimal(lead)
	} else {
		in["itsoffset"] = decimal(-lead)
	}
	return ffmpeggo.Input(fileURL(c.path), in).Get("a:0")
}

// opusLayouts brings sound to the nearest layout of channels that Opus has a
// mapping for (RFC 7845, section 5.1.1.2).
const opusLayouts = "aformat=channel_layouts=mono|stereo|3.0|quad|5.0|5.1|6.1|7.1"

// audioCodec copies sound that the format can hold and converts the rest.
func audioCodec(f Format, codec string) string {
	copied := map[Format][]string{
		WebM: {"opus", "vorbis"},
		MP4:  {"aac", "mp3", "ac3", "eac3", "alac"},
	}
	for _, c := range copied[f] {
		if c == codec {
			return "copy"
		}
	}
	if f == WebM {
		return "libopus"
	}
	return "aac"
}
