package ffmpeg

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/media/ffmpeg/ffmpeggo"
)

// Piece is a file without sound that shows a part of a clip.
type Piece struct {
	Path string
	// Duration is from its first frame to that of the next piece.
	Duration time.Duration
}

// Concat makes the file at path of pieces, one after the other, which Sinks with the options o have
// written but for the sound. Nothing is encoded but the sound.
func (t *Tools) Concat(ctx context.Context, path string, pieces []Piece, o SinkOptions) error {
	if err := t.createOutput(path); err != nil {
		return err
	}
	f, list := o.files(path), strings.Builder{}
	list.WriteString("ffconcat version 1.0\n")
	for _, p := range pieces {
		f.read = append(f.read, p.Path)
		fmt.Fprintf(&list, "file '%s'\nduration %s\n", strings.ReplaceAll(fileURL(p.Path), "'", `'\''`), decimal(p.Duration))
	}
	child := t.command(ctx, "join", t.FFmpeg, concatArgs(path, o), f)
	child.cmd.Stdin = strings.NewReader(list.String())
	if err := child.start(); err != nil {
		return err
	}
	return child.finish()
}

// concatArgs is the command line of a child that reads the list of pieces from standard
// input.
func concatArgs(path string, o SinkOptions) []string {
	list := ffmpeggo.Input("pipe:0", ffmpeggo.KwArgs{"f": "concat", "safe": "0", "protocol_whitelist": "pipe,file"}).Video()
	out := ffmpeggo.KwArgs{"c:v": "copy", "map_metadata": "-1"}
	switch o.Format {
	case WebM:
		// The durations that it reads are those of no frame.
		out["f"], out["bsf:v"] = "webm", fmt.Sprintf("setts=pts=PTS:dts=DTS:duration=if(gt(NEXT_PTS\\,PTS)\\,NEXT_PTS-PTS\\,%d-PTS)", o.End.Milliseconds())
		if !o.Opaque {
			out["metadata:s:v:0"] = "alpha_mode=1"
		}
	case MP4, Stacked, MOV, HEVC:
		out["f"], out["video_track_timescale"] = "mp4", strconv.FormatInt(cmp.Or(o.Timescale, defaultTimescale), 10)
		if o.Format == MOV || o.Format == HEVC {
			out["f"] = "mov"
		}
		if o.Format != MOV {
			out["movflags"] = "+faststart"
		}
	}
	return fileArgs(path, list, o, out)
}
