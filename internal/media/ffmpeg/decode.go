package ffmpeg

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg/ffmpeggo"
	"github.com/bgremove/bgremove/internal/media/heif"
	"github.com/bgremove/bgremove/internal/media/yuv"
)

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
	if c.stream.interlaced() {
		names = append(names, "bwdif")
	}
	return names
}

// deinterlace makes a picture of one moment of each interlaced one, by ffmpeg's Bob Weaver
// filter. Others of the clip stay as they are.
const deinterlace = "bwdif=mode=send_frame:deint=interlaced"

// interlaced reports whether pictures may hold two moments, one in the even rows and one in the
// odd ones. Only YUV is told: other pixels are hardly ever interlaced.
func (s *videoStream) interlaced() bool {
	return slices.Contains([]string{"tt", "bb", "tb", "bt"}, s.FieldOrder) && strings.HasPrefix(s.PixFmt, "yuv")
}

// toneMapping is Hable's curve after linearising, as ffmpeg's documentation of the
// tonemap filter has it.
var toneMapping = []string{"zscale=t=linear:npl=100", "format=gbrpf32le", "zscale=p=bt709",
	"tonemap=hable:desat=0", "zscale=t=bt709:m=bt709:r=tv", "format=yuv420p"}

// wideColours says that pictures are of BT.2020, as those of all HDR are (ITU-R BT.2100),
// where the stream does not say so: the filters convert no unknown colours.
func (s *videoStream) wideColours() (filters []string) {
	if s.untagged() {
		filters = append(filters, "setparams=colorspace=bt2020nc")
	}
	if s.ColorPrimaries == "" || s.ColorPrimaries == "unknown" {
		filters = append(filters, "setparams=color_primaries=bt2020")
	}
	return filters
}

func (c *Clip) decodeFilters(every int) string {
	var chain []string
	if c.stream.interlaced() {
		chain = append(chain, deinterlace) // which needs the pictures beside each
	}
	if every > 1 {
		chain = append(chain, fmt.Sprintf("select='not(mod(n,%d))'", every))
	}
	if c.HDR() {
		chain = append(append(chain, c.stream.wideColours()...), toneMapping...)
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

// decimal writes a duration in seconds as ffmpeg reads it.
func decimal(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 9, 64) }
