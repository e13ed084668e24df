package ffmpeg

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/bgremove/bgremove/internal/media/ffmpeg/ffmpeggo"
	"github.com/bgremove/bgremove/internal/system/cores"
	"github.com/bgremove/bgremove/pkg/option"
)

const (
	defaultTimescale = 90000
	webmTimescale    = 1000
)

// encodings are the arguments of each format.
var encodings = map[Format]func(SinkOptions) ffmpeggo.KwArgs{WebM: webmArgs, MP4: mp4Args, MOV: movArgs, Stacked: mp4Args, HEVC: hevcArgs}

// EncodeArgs is the command line, after the program's name, of an ffmpeg that
// encodes the pictures that it reads as Matroska from standard input, and makes
// the file at path.
func EncodeArgs(path string, o SinkOptions) []string {
	return fileArgs(path, pictures(), o, encodings[o.Format](o))
}

// packetArgs are those of one of two that write packets of VP9 to standard output.
// They share the cores: threads that wait for each other cost time, too.
func packetArgs(o SinkOptions) ffmpeggo.KwArgs {
	out := vp9Args(o)
	out["f"] = "ivf"
	out["threads"] = strconv.Itoa(max(1, cmp.Or(o.Workers, cores.Count())/2))
	return out
}

// joinArgs is that of one that makes a WebM of packets that have been joined.
// The file is marked as one with alpha if the decoder sees alpha in the first.
func joinArgs(path string, o SinkOptions) []string {
	packets := pictures(ffmpeggo.KwArgs{"c:v": vp9WithAlpha})
	return fileArgs(path, packets, o, ffmpeggo.KwArgs{"f": "webm", "c:v": "copy", "map_metadata": "-1"})
}

// pictures describes the pictures in the pipe.
func pictures(options ...ffmpeggo.KwArgs) *ffmpeggo.Stream {
	options = append(options, ffmpeggo.KwArgs{"f": "matroska", "protocol_whitelist": "pipe"})
	return ffmpeggo.Input("pipe:0", options...).Video()
}

// fileArgs returns the arguments that make a file from the pipe's pictures, and
// from sound.
func fileArgs(path string, video *ffmpeggo.Stream, o SinkOptions, out ffmpeggo.KwArgs) []string {
	streams := []*ffmpeggo.Stream{video}
	if o.Audio != nil {
		streams = append(streams, audioInput(o))
		maps.Copy(out, audioArgs(o))
	}
	return ffmpeggo.Output(streams, fileURL(path), out).
		GlobalArgs(append([]string{"-y"}, quiet...)...).GetArgs()
}

// videoArgs hold what all encoders share: frames keep their times (the
// encoder's unit is the container's own), and the colours are tagged as they
// were converted.
func videoArgs(timescale int64) ffmpeggo.KwArgs {
	return ffmpeggo.KwArgs{
		"fps_mode": "passthrough", "enc_time_base:v": fmt.Sprintf("1:%d", timescale),
		"colorspace": "bt709", "color_primaries": "bt709", "color_trc": "bt709", "color_range": "tv",
		"map_metadata": "-1",
	}
}

// durations is the filter of packets that gives the last one its duration, which
// ffmpeg 5 forgets where it encodes. Later ones know those of all.
func durations(o SinkOptions, timescale int64) string {
	end := math.Round(o.End.Seconds() * float64(timescale))
	rest := fmt.Sprintf("max(1\\,%d-PTS)", int64(end))
	return fmt.Sprintf("setts=pts=PTS:dts=DTS:duration=if(gt(DURATION\\,0)\\,min(DURATION\\,%s)\\,%s)", rest, rest)
}

func vp9Args(o SinkOptions) ffmpeggo.KwArgs {
	out := videoArgs(webmTimescale)
	out["c:v"] = vp9WithAlpha
	// Constant quality: 60 at quality 1, 28 at 80, 20 at 100.
	out["crf"], out["b:v"] = strconv.Itoa(60-cmp.Or(o.Quality, option.QualityVideo)*2/5), "0"
	// The realtime mode is tuned for screens, which have flat and still areas
	// like cut-outs. Its files have the good mode's size and fidelity in less
	// than half of the time (go run ./tools/bench -encoder). It does not look
	// ahead; the good mode would gather 25 frames before it begins.
	out["lag-in-frames"] = "0"
	out["deadline"], out["cpu-used"], out["tune-content"], out["row-mt"] = "realtime", "6", "screen", "1"
	return out
}

func webmArgs(o SinkOptions) ffmpeggo.KwArgs {
	out := vp9Args(o)
	out["f"], out["bsf:v"] = "webm", durations(o, webmTimescale)
	return out
}

// mp4Args leave B-frames out: the file needs no edit list then, and its sample
// durations are the frames'.
func mp4Args(o SinkOptions) ffmpeggo.KwArgs {
	timescale := cmp.Or(o.Timescale, defaultTimescale)
	out := videoArgs(timescale)
	out["f"], out["bsf:v"] = "mp4", durations(o, timescale)
	out["c:v"], out["preset"], out["bf"] = "libx264", "medium", "0"
	// 45 at quality 1, 21 at 80, 15 at 100.
	out["crf"] = strconv.Itoa(45 - cmp.Or(o.Quality, option.QualityVideo)*3/10)
	out["video_track_timescale"] = strconv.FormatInt(timescale, 10)
	out["movflags"] = "+faststart"
	return out
}

// movArgs are those of ProRes 4444. Its alpha is lossless, and its pictures have
// the highest quality that the profile's bit rate allows.
func movArgs(o SinkOptions) ffmpeggo.KwArgs {
	timescale := cmp.Or(o.Timescale, defaultTimescale)
	out := videoArgs(timescale)
	format, alpha := "yuva444p10le", "16"
	if o.Opaque {
		format, alpha = "yuv444p10le", "0"
	}
	// The encoder writes the tags of its pictures into the stream.
	out["vf"] = "scale=out_color_matrix=bt709:out_range=tv:flags=full_chroma_int+accurate_rnd,format=" + format +
		",setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"
	out["c:v"], out["profile:v"], out["alpha_bits"], out["vendor"] = "prores_ks", "4444", alpha, "apl0"
	out["f"], out["bsf:v"] = "mov", durations(o, timescale)
	out["video_track_timescale"] = strconv.FormatInt(timescale, 10)
	return out
}

// AppleHEVC is the encoder of HEVC with alpha, which is a part of macOS.
const AppleHEVC = "hevc_videotoolbox"

// hevcArgs are those of HEVC for Safari. Alpha has as good a quality as colours.
func hevcArgs(o SinkOptions) ffmpeggo.KwArgs {
	timescale := cmp.Or(o.Timescale, defaultTimescale)
	out := videoArgs(timescale)
	quality := cmp.Or(o.Quality, option.QualityVideo)
	out["c:v"], out["q:v"], out["pix_fmt"] = AppleHEVC, strconv.Itoa(quality), "bgra"
	if o.Opaque {
		out["pix_fmt"] = "nv12"
	} else {
		out["alpha_quality"] = strconv.FormatFloat(float64(quality)/100, 'f', 2, 64)
	}
	out["f"], out["tag:v"], out["bsf:v"] = "mov", "hvc1", durations(o, timescale) // Safari plays no other tag
	out["bf"], out["allow_sw"], out["movflags"] = "0", "1", "+faststart"
	out["video_track_timescale"] = strconv.FormatInt(timescale, 10)
	return out
}

func audioArgs(o SinkOptions) ffmpeggo.KwArgs {
	out := ffmpeggo.KwArgs{"c:a": audioCodec(o.Format, o.Audio.info.AudioCodec)}
	if out["c:a"] == "libopus" {
		out["af"] = opusLayouts
	}
	if o.AudioFor > 0 {
		// It also bounds the picture, because its last time may have been
		// rounded up.
		tick := time.Second / time.Duration(cmp.Or(o.Timescale, defaultTimescale))
		out["t"] = decimal(o.AudioFor + max(tick, time.Millisecond))
	}
	if o.AudioFrom > 0 {
		out["copypriorss:a"] = "0" // copied sound begins with the part, not at the key frame before it
	}
	return out
}

// audioInput reads the source's sound in sync with the picture, whose first
// shown frame is at 0. ffmpeg itself moves an input's start, or the position it
// seeks to, to 0; we must do the rest.
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
	if f == Stacked || f == HEVC {
		f = MP4
	}
	copied := map[Format][]string{
		WebM: {"opus", "vorbis"},
		MP4:  {"aac", "mp3", "ac3", "eac3", "alac"},
		MOV:  {"aac", "pcm_s16le", "pcm_s24le"}, // which editors read
	}
	for _, c := range copied[f] {
		if c == codec {
			return "copy"
		}
	}
	return map[Format]string{WebM: "libopus", MP4: "aac", MOV: "pcm_s16le"}[f]
}
