package ffmpeg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg/ffmpeggo"
	"github.com/bgremove/bgremove/internal/media/heif"
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
	pipe      io.ReadCloser
	release   func() bool // from Open's context, if the child was started before; else nil
	nut       *nutReader
	whole     func()        // tells the recording that the pass came to its end
	offset    time.Duration // added to the child's times; unknown before the first frame, unless the child seeks
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
	s.expected = int64(s.size()) * int64(c.info.Frames)
	if all := c.info.Duration; all > 0 {
		s.expected = int64(float64(s.expected) * min(1, float64(cmp.Or(o.To, all)-o.From)/float64(all)))
	}
	seek := time.Duration(0)
	if o.From > 0 {
		// ffmpeg counts from the container's start and drops what lies before.
		seek = max(0, o.From+c.info.Start-c.origin).Truncate(time.Microsecond)
		// It rounds what it subtracts to the stream's time base.
		shift := rescale((seek + c.origin).Microseconds(), media.Rational{Num: 1, Den: 1e6}, c.info.TimeBase)
		s.seeked, s.offset = true, ticks(shift, c.info.TimeBase)-c.info.Start
	}
	if bytes := o.Recording.Replay(); bytes != nil {
		s.pipe = io.NopCloser(bytes)
		return s, nil
	}
	s.child = c.tools.command(ctx, "decode", c.tools.FFmpeg, c.decodeArgs(o, seek), files{read: []string{c.path}})
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

// decodeArgs is the command line of a pass: raw pictures of one size, upright,
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
	if c.limits.MaxArea > 0 { // also for pictures that no header announces
		in["max_pixels"] = strconv.FormatInt(c.limits.MaxArea+decoderPadding*int64(max(c.stream.Width, c.stream.Height)), 10)
	}
	pictures, filters := ffmpeggo.Input(fileURL(c.path), in), c.decodeFilters(o.Every)
	out := ffmpeggo.KwArgs{
		"fps_mode": "passthrough", "enc_time_base": c.tools.demuxTimeBase(), "c:v": "rawvideo", "f": "nut",
	}
	if c.matte != nil {
		out["filter_complex"] = fmt.Sprintf("[0:%d][0:%d]alphamerge,%s", c.stream.Index, c.matte.Index, filters)
	} else {
		pictures, out["vf"] = pictures.Get(strconv.Itoa(c.stream.Index)), filters
	}
	return pictures.Output("pipe:1", out).GlobalArgs(quiet...).GetArgs()
}

// decoderPadding is how many columns decoders add to a picture, at most, before they
// look at max_pixels.
const decoderPadding = 64

var quiet = []string{"-nostdin", "-hide_banner", "-loglevel", "error"}

// vp9WithAlpha is the decoder of VP9 that knows alpha, and the encoder.
const vp9WithAlpha = "libvpx-vp9"

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
		return vp9WithAlpha
	}
	return ""
}

// Needs are the decoders and filters that not every build of ffmpeg has.
func (c *Clip) Needs() []string {
	var names []string
	if d := c.decoder(); d != "" {
		names = append(names, d)
	}
	if c.still != nil && slices.ContainsFunc(c.layers(), func(l *heif.Layer) bool { return l.Codec == heif.HEVC }) {
		names = append(names, "hevc")
	}
	if c.HDR() {
		names = append(names, "zscale", "tonemap")
	}
	return names
}

// toneMapping is Hable's curve after linearising, as ffmpeg's documentation of the
// tonemap filter has it.
var toneMapping = []string{"zscale=t=linear:npl=100", "format=gbrpf32le", "zscale=p=bt709",
	"tonemap=hable:desat=0", "zscale=t=bt709:m=bt709:r=tv", "format=yuv420p"}

func (c *Clip) decodeFilters(every int) string {
	var chain []string
	if every > 1 {
		chain = append(chain, fmt.Sprintf("select='not(mod(n,%d))'", every))
	}
	if c.HDR() {
		chain = append(chain, toneMapping...)
	}
	scale := fmt.Sprintf("scale=%d:%d:flags=bicubic", c.info.Width, c.info.Height)
	if m, _ := c.stream.matrix(); c.stream.untagged() && m == yuv.BT709 && !c.HDR() {
		scale += ":in_color_matrix=bt709"
	}
	format := "rgba"
	if coding, ok := c.coding(); ok { // also for frames that are tagged otherwise than the stream
		format = c.stream.PixFmt
		scale += ":out_color_matrix=" + matrixNames[coding.Matrix] + ":out_range=" + rangeNames[coding.Full]
	}
	return strings.Join(append(chain, scale, "setsar=1", "format="+format), ",")
}

var (
	matrixNames = map[yuv.Matrix]string{yuv.BT601: "bt601", yuv.BT709: "bt709"}
	rangeNames  = map[bool]string{false: "tv", true: "pc"}
)

// coding is how the decoder's pictures become RGBA here, ok only where they are
// of the commonest kind and need no scaling: passing them on as they are takes
// less than half of the time. ffmpeg converts all others.
func (c *Clip) coding() (coding yuv.Coding, ok bool) {
	s := &c.stream
	full := s.PixFmt == "yuvj420p"
	if !full && s.PixFmt != "yuv420p" || c.info.HasAlpha || c.HDR() || s.Width*s.Height != c.info.Width*c.info.Height {
		return yuv.Coding{}, false
	}
	m, ok := s.matrix()
	return yuv.Coding{Matrix: m, Full: full || s.ColorRange == "pc"}, ok
}

// matrix is the stream's own or, where it has no tags, that of its height: HD is
// BT.709. Of matrices that yuv does not know, ok is false.
func (s *videoStream) matrix() (m yuv.Matrix, ok bool) {
	switch {
	case s.ColorSpace == "bt709", s.untagged() && s.Height >= 720:
		return yuv.BT709, true
	case s.ColorSpace == "smpte170m", s.ColorSpace == "bt470bg", s.untagged():
		return yuv.BT601, true
	}
	return 0, false
}

// luma is media.Info's. Matrices that yuv does not know are near that of HD.
func (s *videoStream) luma() [3]float64 {
	if strings.HasPrefix(s.PixFmt, "nv") || strings.HasPrefix(s.PixFmt, "yuv") && !strings.Contains(s.PixFmt, "444") {
		if m, ok := s.matrix(); ok {
			return m.Weights()
		}
		return yuv.BT709.Weights()
	}
	return [3]float64{}
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
	if !s.started && !s.seeked {
		s.offset = -t
	}
	s.started, s.next = true, max(0, t+s.offset)
	return nil
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

// Close implements media.Source: the child is killed and waited for.
func (s *source) Close() error {
	if s.release != nil {
		s.release()
	}
	if s.child != nil {
		s.child.kill()
		_ = s.child.wait() // killed on purpose: its exit status says nothing
	}
	return s.pipe.Close()
}

// decimal writes a duration in seconds as ffmpeg reads it.
func decimal(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 9, 64) }
