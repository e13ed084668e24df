package ffmpeg

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg/ffmpeggo"
	"github.com/bgremove/bgremove/internal/media/heif"
	"github.com/bgremove/bgremove/internal/media/yuv"
)

// Still pictures of HEIF files are taken apart here, and ffmpeg is given their tiles and
// their alpha as two streams of a Matroska file. Of its own reader release 5 shows one
// item of a file, and release 7 shows all, but joins none.

// heifCodecs are the codecs of HEIF by ffmpeg's names, and by Matroska's.
var heifCodecs = map[heif.Codec]struct {
	name  string
	codec codec
}{heif.AV1: {"av1", av1Video}, heif.HEVC: {"hevc", hevc}}

// probeStill reads the structure of a still picture. Of a sequence of AVIF it returns
// nil.
func (t *Tools) probeStill(path string, container media.Container, l media.Limits) (*Clip, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !media.Still(f) {
		if container == media.HEIF {
			return nil, &heif.NotReadError{Has: "a sequence of pictures"}
		}
		return nil, nil
	}
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p, err := heif.Read(f, stat.Size())
	if err != nil {
		return nil, err
	}
	c := &Clip{tools: t, path: path, limits: l, still: p}
	size := p.Size()
	c.info = media.Info{Container: container, Codec: heifCodecs[p.Colours.Codec].name, Width: size.X, Height: size.Y,
		Frames: 1, HasAlpha: p.Alpha != nil, Still: true, TimeBase: media.Rational{Num: 1, Den: 1000}}
	if p.Colours.Subsampled() {
		c.info.Luma = c.stillMatrix().Weights()
	}
	if p.Coding != nil {
		c.stream.ColorTransfer = transferNames[p.Coding.Transfer]
	}
	for _, layer := range c.layers() { // a tile may be larger than what is shown of it
		if err := cmp.Or(l.CheckPicture(layer.Tile.X, layer.Tile.Y), l.CheckPicture(layer.Width, layer.Height)); err != nil {
			return nil, err
		}
	}
	return c, l.CheckTotals(1, int64(p.Colours.Width)*int64(p.Colours.Height))
}

// layers are the colours, and the alpha behind them.
func (c *Clip) layers() []*heif.Layer {
	if c.still.Alpha == nil {
		return []*heif.Layer{&c.still.Colours}
	}
	return []*heif.Layer{&c.still.Colours, c.still.Alpha}
}

// stillMatrix is that of a picture's colours. MIAF's own is BT.601. Matrices that yuv
// does not know are near that of HD.
func (c *Clip) stillMatrix() yuv.Matrix {
	const unspecified, bt470bg, smpte170m = 2, 5, 6
	if n := c.still.Coding; n == nil || slices.Contains([]int{unspecified, bt470bg, smpte170m}, n.Matrix) {
		return yuv.BT601
	}
	return yuv.BT709
}

// stillArgs is the command line of an ffmpeg that makes RGBA of the two streams. Any
// fault of a tile ends it.
func (c *Clip) stillArgs() []string {
	p := c.still
	most := 0 // pixels of a tile
	for _, l := range c.layers() {
		most = max(most, (l.Tile.X+decoderPadding)*(l.Tile.Y+decoderPadding))
	}
	in := ffmpeggo.KwArgs{"f": "matroska", "protocol_whitelist": "pipe", "max_pixels": strconv.Itoa(most)}
	graph := "[0:0]" + c.colourFilters()
	if p.Alpha != nil {
		graph += fmt.Sprintf("[c];[0:1]extractplanes=y,%s,scale=%d:%d[a];[c][a]alphamerge",
			layerFilters(p.Alpha, nil, "gray"), p.Colours.Width, p.Colours.Height)
	}
	out := ffmpeggo.KwArgs{"filter_complex": graph + c.transformFilters(), "c:v": "rawvideo", "f": "rawvideo", "frames:v": "1"}
	return ffmpeggo.Input("pipe:0", in).Output("pipe:1", out).GlobalArgs(append([]string{"-xerror"}, quiet...)...).GetArgs()
}

// layerFilters join a layer's tiles, convert them, and cut off what is beyond its size.
func layerFilters(l *heif.Layer, convert []string, format string) string {
	var chain []string
	size := image.Pt(l.Tile.X*l.Columns, l.Tile.Y*l.Rows)
	if l.Count() > 1 {
		chain = append(chain, fmt.Sprintf("scale=%d:%d", l.Tile.X, l.Tile.Y), fmt.Sprintf("tile=%dx%d", l.Columns, l.Rows), "setpts=0")
	}
	chain = append(append(chain, convert...), fmt.Sprintf("scale=%d:%d:flags=bicubic", size.X, size.Y), "format="+format)
	if size != image.Pt(l.Width, l.Height) {
		chain = append(chain, fmt.Sprintf("crop=%d:%d:0:0", l.Width, l.Height))
	}
	return strings.Join(chain, ",")
}

// colourFilters make RGBA of the colours. What the container says of their coding
// comes before what the stream says (MIAF, 7.3.6.4).
func (c *Clip) colourFilters() string {
	var convert []string
	if n := c.still.Coding; n != nil {
		params := "setparams=range=" + rangeNames[n.Full]
		for _, known := range []string{named("color_primaries", primariesNames[n.Primaries]),
			named("color_trc", transferNames[n.Transfer]), named("colorspace", spaceNames[n.Matrix])} {
			params += known
		}
		convert = append(convert, params)
	}
	if c.HDR() {
		convert = append(convert, toneMapping...)
	}
	return layerFilters(&c.still.Colours, convert, "rgba")
}

// named is an option of a filter, or nothing without a value.
func named(option, value string) string {
	if value == "" {
		return ""
	}
	return ":" + option + "=" + value
}

// transformFilters crop, turn and mirror the picture.
func (c *Clip) transformFilters() (filters string) {
	p := c.still
	if p.Crop.Size() != image.Pt(p.Colours.Width, p.Colours.Height) {
		filters += fmt.Sprintf(",crop=%d:%d:%d:%d", p.Crop.Dx(), p.Crop.Dy(), p.Crop.Min.X, p.Crop.Min.Y)
	}
	filters += []string{"", ",transpose=cclock", ",hflip,vflip", ",transpose=clock"}[p.Turns]
	return filters + map[heif.Mirror]string{heif.TopBottom: ",vflip", heif.LeftRight: ",hflip"}[p.Mirror]
}

// Names of ITU-T H.273's numbers. The others are left to the stream.
var (
	transferNames  = map[int]string{16: "smpte2084", 18: "arib-std-b67"}
	primariesNames = map[int]string{1: "bt709", 9: "bt2020", 12: "smpte432"}
	spaceNames     = map[int]string{1: "bt709", 5: "bt470bg", 6: "smpte170m", 9: "bt2020nc"}
)

// readStill is the one picture of a clip.
func (c *Clip) readStill(ctx context.Context, pool *media.Pool) (*image.NRGBA, error) {
	img := pool.Get(c.info.Width, c.info.Height)
	if err := c.decodeStill(ctx, img); err != nil {
		pool.Put(img)
		return nil, unreadable(ctx, err)
	}
	if c.still.Alpha != nil && c.still.Premultiplied {
		straighten(img.Pix)
	}
	return img, nil
}

// decodeStill runs an ffmpeg that fills in a picture.
func (c *Clip) decodeStill(ctx context.Context, img *image.NRGBA) error {
	stream, err := c.stillStream()
	if err != nil {
		return err
	}
	child := c.tools.command(ctx, "decode", c.tools.FFmpeg, c.stillArgs(), files{})
	child.cmd.Stdin = stream
	out, err := child.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.start(); err != nil {
		return err
	}
	_, short := io.ReadFull(out, img.Pix)
	_, _ = io.Copy(io.Discard, out)
	if err := child.wait(); err != nil {
		return err
	}
	if short != nil {
		return &media.UnreadableError{Reason: "the picture cannot be decoded", Err: short}
	}
	return nil
}

// stillStream is a Matroska file of the tiles: those of the colours and those of the
// alpha are a stream each.
func (c *Clip) stillStream() (io.Reader, error) {
	f, err := os.Open(c.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	layers, streams := c.layers(), []coded(nil)
	for _, l := range layers {
		streams = append(streams, coded{heifCodecs[l.Codec].codec, l.Config, l.Tile})
	}
	var stream bytes.Buffer
	m, err := newCodedWriter(&stream, streams)
	if err != nil {
		return nil, err
	}
	for i, l := range layers {
		for tile := range l.Count() {
			data, err := l.Read(f, tile)
			if err != nil {
				return nil, err
			}
			at := time.Duration(tile) * time.Second
			if err := m.write(block{stream: i, pts: at, duration: time.Second, data: [][]byte{data}}); err != nil {
				return nil, err
			}
		}
	}
	return &stream, nil
}

// straighten divides colours by the alpha that they were multiplied by.
func straighten(pix []uint8) {
	for i := 0; i+4 <= len(pix); i += 4 {
		if a := uint32(pix[i+3]); a > 0 && a < 255 {
			for c, v := range pix[i : i+3] {
				pix[i+c] = uint8(min(255, (uint32(v)*255+a/2)/a))
			}
		}
	}
}
