package ffmpeg

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/bgremove/bgremove/internal/media/ffmpeg/ffmpeggo"
	"github.com/bgremove/bgremove/internal/media/yuv"
	"github.com/bgremove/bgremove/internal/system/cores"
	"github.com/bgremove/bgremove/pkg/option"
)

// av1 is the Format of a Sink that makes packets, and no file.
const av1 Format = "av1"

// Packets takes the packets of a Sink that makes no file. Its methods are called by
// one goroutine at a time.
type Packets interface {
	// Add takes the temporal units of a frame: of its colours, and of its alpha, which
	// is nil without.
	Add(colours, alpha []byte, pts, duration time.Duration) error
	// Close is called after the last frame, if nothing has failed.
	Close() error
}

// NewAV1Sink starts encoders of AV1. Colours are BT.709 in limited range with half the
// resolution in both directions, and alpha is luma alone, in full range. Each packet is
// one frame, in order. The options' format and sound are ignored.
func (t *Tools) NewAV1Sink(ctx context.Context, to Packets, o SinkOptions) (*Sink, error) {
	o.Format = av1
	return newSink(ctx, o, func(s *Sink) error {
		s.joiner = &joiner{op: "encode", to: unitWriter{to}, unit: 1, fail: s.stop}
		return s.encodePackets(t, o)
	})
}

// unitWriter passes on frames of AV1.
type unitWriter struct{ to Packets }

func (u unitWriter) write(b block) error { return u.to.Add(b.data[0], b.alpha, b.pts, b.duration) }
func (u unitWriter) close() error        { return u.to.Close() }

// av1Args encode colours, or alpha.
func av1Args(o SinkOptions, alpha bool) ffmpeggo.KwArgs {
	out := videoArgs(cmp.Or(o.Timescale, defaultTimescale))
	// Pictures on pages are sRGB, and readers of AVIF convert what is not.
	out["color_trc"] = "iec61966-2-1"
	out["vf"] = "setparams=range=tv:color_primaries=bt709:color_trc=iec61966-2-1:colorspace=bt709"
	if alpha {
		out["color_range"], out["vf"] = "pc", "setparams=range=pc"
	}
	out["c:v"] = "libaom-av1"
	// Constant quality: 63 at quality 1, 32 at 80, 24 at 100.
	out["crf"], out["b:v"] = strconv.Itoa(63-cmp.Or(o.Quality, option.QualityVideo)*39/100), "0"
	// Without looking ahead there is no hidden frame: a packet is a frame. The good mode
	// needs twice the time of the realtime mode, and has 4 dB more at the same size.
	out["lag-in-frames"], out["usage"], out["cpu-used"], out["row-mt"] = "0", "good", "6", "1"
	encoders := 2
	if o.Opaque {
		encoders = 1
	}
	out["f"], out["threads"] = "ivf", strconv.Itoa(max(1, cmp.Or(o.Workers, cores.Count())/encoders))
	return out
}

// av1Streams are the encoders of AV1 for a layout of pictures.
func av1Streams(o SinkOptions) []packetStream {
	colours := yuv.Layout{Width: o.Width, Height: o.Height}.Bytes()
	streams := []packetStream{{rawVideo, av1Args(o, false), func(planes []uint8) [][]uint8 { return [][]uint8{planes[:colours]} }}}
	if !o.Opaque {
		streams = append(streams, packetStream{rawGrey, av1Args(o, true), func(planes []uint8) [][]uint8 { return [][]uint8{planes[colours:]} }})
	}
	return streams
}
