package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	ffmpeggo "github.com/u2takey/ffmpeg-go"

	"github.com/bgremove/bgremove/internal/media"
)

// source is one decoding pass: an ffmpeg child that writes NUT to a pipe.
type source struct {
	clip    *Clip
	pool    *media.Pool
	child   *process
	pipe    io.ReadCloser
	nut     *nutReader
	offset  time.Duration // added to the child's times; unknown until the first frame unless it was told to seek
	seeked  bool
	started bool
	done    bool
	pending *media.Frame // read ahead, since a frame's duration ends with the next one's time
}

// Open implements media.Clip.
func (c *Clip) Open(ctx context.Context, o media.ReadOptions) (media.Source, error) {
	s := &source{clip: c, pool: o.Pool}
	if s.pool == nil {
		s.pool = new(media.Pool)
	}
	seek := time.Duration(0)
	if o.From > 0 {
		// ffmpeg counts from the container's start and drops what lies before.
		seek = max(0, o.From+c.info.Start-c.origin).Truncate(time.Microsecond)
		// It rounds what it subtracts to the stream's time base.
		shift := rescale((seek + c.origin).Microseconds(), media.Rational{Num: 1, Den: 1e6}, c.info.TimeBase)
		s.seeked, s.offset = true, ticks(shift, c.info.TimeBase)-c.info.Start
	}
	s.child = c.tools.command(ctx, "decode", c.tools.FFmpeg, c.decodeArgs(o, seek), files{read: []string{c.path}})
	var err error
	if s.pipe, err = s.child.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	widen(s.pipe)
	if err := s.child.start(); err != nil {
		return nil, err
	}
	return s, nil
}

// decodeArgs is the command line of a pass: raw RGBA of one size, upright,
// with square pixels and exact times.
func (c *Clip) decodeArgs(o media.ReadOptions, seek time.Duration) []string {
	in := ffmpeggo.KwArgs{"f": demuxers[c.info.Container], "protocol_whitelist": "file"}
	if seek > 0 {
		in["ss"] = decimal(seek)
	}
	if o.To > o.From {
		in["t"] = decimal(o.To - o.From)
	}
	if decoder := c.decoder(); decoder != "" {
		in["c:v"] = decoder
	}
	return ffmpeggo.Input(fileURL(c.path), in).
		Get(strconv.Itoa(c.stream.Index)).
		Output("pipe:1", ffmpeggo.KwArgs{
			"vf": c.decodeFilters(o.Every), "fps_mode": "passthrough", "enc_time_base": c.tools.demuxTimeBase(),
			"c:v": "rawvideo", "f": "nut",
		}).
		GlobalArgs(quiet...).GetArgs()
}

var quiet = []string{"-nostdin", "-hide_banner", "-loglevel", "error"}

// decoder names the decoder that keeps transparency where ffmpeg's own drops
// it; "" leaves the choice to ffmpeg.
func (c *Clip) decoder() string {
	if !c.stream.alphaTag() {
		return ""
	}
	switch c.info.Codec {
	case "vp8":
		return "libvpx"
	case "vp9":
		return "libvpx-vp9"
	}
	return ""
}

func (c *Clip) decodeFilters(every int) string {
	var chain []string
	if every > 1 {
		chain = append(chain, fmt.Sprintf("select='not(mod(n,%d))'", every))
	}
	if c.HDR() {
		// Hable's curve after linearising, as ffmpeg's documentation of the
		// tonemap filter has it.
		chain = append(chain, "zscale=t=linear:npl=100", "format=gbrpf32le", "zscale=p=bt709",
			"tonemap=hable:desat=0", "zscale=t=bt709:m=bt709:r=tv", "format=yuv420p")
	}
	scale := fmt.Sprintf("scale=%d:%d:flags=bicubic", c.info.Width, c.info.Height)
	if c.stream.untagged() && c.stream.Height >= 720 && !c.HDR() {
		scale += ":in_color_matrix=bt709" // without tags, by height: HD is BT.709
	}
	return strings.Join(append(chain, scale, "setsar=1", "format=rgba"), ",")
}

func (s *videoStream) untagged() bool {
	return (s.ColorSpace == "" || s.ColorSpace == "unknown") && !strings.HasPrefix(s.PixFmt, "rgb") &&
		!strings.HasPrefix(s.PixFmt, "gbr")
}

// demuxTimeBase is how this release spells "keep the source's time base".
func (t *Tools) demuxTimeBase() string {
	if t.major == 0 || t.major > 6 {
		return "demux"
	}
	return "-1"
}

// Next implements media.Source.
func (s *source) Next(ctx context.Context) (*media.Frame, error) {
	if s.pending == nil {
		var err error
		if s.pending, err = s.read(ctx); err != nil {
			return nil, err
		}
	}
	frame := s.pending
	next, err := s.read(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	s.pending = next
	if next != nil {
		frame.Duration = next.PTS - frame.PTS
	} else {
		frame.Duration = s.clip.info.LastFrame
		if end := s.clip.info.Duration; end > frame.PTS {
			frame.Duration = end - frame.PTS
		}
	}
	frame.Delay = frame.Duration
	return frame, nil
}

// read decodes one frame. At the end of the stream the child must have ended
// well, or the clip is cut short.
func (s *source) read(ctx context.Context) (*media.Frame, error) {
	if s.done {
		return nil, io.EOF
	}
	f, err := s.decode()
	if err == nil {
		return f, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if exit := s.child.wait(); exit != nil {
			return nil, exit
		}
		if !s.started && !s.seeked {
			return nil, &media.UnreadableError{Reason: "no frame of the video can be decoded"}
		}
		s.done = true
		return nil, io.EOF
	}
	return nil, fmt.Errorf("decode: %w", err)
}

func (s *source) decode() (*media.Frame, error) {
	if s.nut == nil {
		var err error
		if s.nut, err = newNUTReader(s.pipe); err != nil {
			return nil, err
		}
	}
	img := s.pool.Get(s.nut.width, s.nut.height)
	stamp, err := s.nut.next(func(int) ([]byte, error) { return img.Pix, nil })
	if err != nil {
		s.pool.Put(img)
		return nil, err
	}
	t := ticks(stamp, s.nut.base)
	if !s.started && !s.seeked {
		s.offset = -t
	}
	s.started = true
	return &media.Frame{Image: img, PTS: max(0, t+s.offset)}, nil
}

// Close implements media.Source: the child is killed and waited for.
func (s *source) Close() error {
	s.child.kill()
	_ = s.child.wait() // killed on purpose: its exit status says nothing
	return s.pipe.Close()
}

// decimal writes a duration in seconds as ffmpeg reads it.
func decimal(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 9, 64) }
