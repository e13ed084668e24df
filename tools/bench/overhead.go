//go:build linux && cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// overhead compares `remove --method fast --crop=false` from H.264 to WebM at
// 640×360 with ffmpeg alone at the same work.
func (b *bench) overhead(ctx context.Context, frames, runs int) error {
	j := job{width: 640, height: 360, frames: frames, options: bgremove.Options{Method: bgremove.Fast, Format: bgremove.WebM}}
	args, err := b.reference(ctx, &j)
	if err != nil {
		return err
	}
	fmt.Printf("\nfast, mp4 to webm, 640×360, %d frames; the reference is\n  ffmpeg %s\n", frames, strings.Join(args, " "))
	ratio, a, r, err := pairs(runs, func() error { return b.remove(ctx, j, bgremove.Config{}) }, func() error { return b.ffmpeg(ctx, args) })
	if err != nil {
		return err
	}
	fmt.Printf("bgremove %.2f s, ffmpeg %.2f s, ratio %.2f\n", a.Seconds(), r.Seconds(), ratio)
	return nil
}

// job is a measured removal.
type job struct {
	clip                  string
	width, height, frames int
	options               bgremove.Options
}

func (b *bench) remove(ctx context.Context, j job, c bgremove.Config) error {
	_, err := b.removed(ctx, j, c)
	return err
}

// removed is remove, and returns what the run reports.
func (b *bench) removed(ctx context.Context, j job, c bgremove.Config) (*bgremove.Result, error) {
	c.Library = os.Getenv("BGREMOVE_ONNXRUNTIME")
	r := bgremove.New(c)
	result, err := r.Remove(ctx, j.clip, b.path("out."+j.options.Format.Extension()), j.options, bgremove.Extras{Overwrite: true})
	return result, errors.Join(err, r.Close())
}

// reference draws the job's clip and returns arguments for ffmpeg alone. With
// them ffmpeg decodes the clip to RGBA, and encodes bgremove's frames from RGBA
// with bgremove's settings. Any tool that works on pictures needs this much of
// ffmpeg.
func (b *bench) reference(ctx context.Context, j *job) (args []string, err error) {
	if args, err = b.rgba(ctx, j); err != nil {
		return nil, err
	}
	sink := ffmpeg.EncodeArgs(b.path("reference.webm"), ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: j.width, Height: j.height,
		End: time.Duration(j.frames) * frameTime})
	return append(args, encodingRGBA(sink)...), nil
}

// rgba draws the job's clip and returns arguments for ffmpeg that decode it and read
// bgremove's frames of it. The arguments of an encoder follow.
func (b *bench) rgba(ctx context.Context, j *job) (args []string, err error) {
	if j.clip, err = b.clip(ctx, j.width, j.height, j.frames); err != nil {
		return nil, err
	}
	planes, err := b.cutOuts(ctx, *j)
	if err != nil {
		return nil, err
	}
	raw := b.path("frames-rgba.nut")
	if err := b.ffmpeg(ctx, []string{"-y", "-i", planes, "-fps_mode", "passthrough", "-pix_fmt", "rgba", "-c:v", "rawvideo", raw}); err != nil {
		return nil, err
	}
	return append(decodingRGBA(j.clip), "-i", raw, "-map", "1:v"), nil
}

// decodingRGBA makes ffmpeg decode a clip to RGBA and drop the result.
func decodingRGBA(clip string) []string {
	return []string{"-i", clip, "-map", "0:v", "-pix_fmt", "rgba", "-c:v", "rawvideo", "-f", "null", "-"}
}

func (b *bench) ffmpeg(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, b.tools.FFmpeg, append([]string{"-v", "error"}, args...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ffmpeg: %w", err)
	}
	return nil
}

// cutOuts writes the frames that bgremove gives the encoders to a file, in the
// codec's form. For this bgremove encodes them without loss.
func (b *bench) cutOuts(ctx context.Context, j job) (path string, err error) {
	lossless, err := b.losslessFFmpeg()
	if err != nil {
		return "", err
	}
	if err := b.remove(ctx, j, bgremove.Config{FFmpeg: lossless}); err != nil {
		return "", err
	}
	path = b.path("frames.nut")
	return path, b.ffmpeg(ctx, []string{"-y", "-c:v", "libvpx-vp9", "-i", b.path("out.webm"), "-fps_mode", "passthrough", "-c:v", "rawvideo", path})
}

// encoding returns a sink's arguments after the choice of streams.
func encoding(sink []string) []string { return sink[slices.Index(sink, "-map")+2:] }

// encodingRGBA is the same for RGBA. ffmpeg converts it as exactly as bgremove
// does.
func encodingRGBA(sink []string) []string {
	return append([]string{"-vf", toBT709 + ",format=yuva420p"}, encoding(sink)...)
}

// toBT709 is the filter of exact colours.
const toBT709 = "scale=out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int"

// losslessFFmpeg is an ffmpeg that encodes VP9 without loss, whatever the
// requested quality.
func (b *bench) losslessFFmpeg() (path string, err error) {
	path = b.path("ffmpeg-lossless")
	script := fmt.Sprintf(`#!/bin/sh
case "$*" in *"-f ivf"*) set -- $(echo "$*" | sed 's/-crf [0-9]*/-lossless 1/') ;; esac
exec %q "$@"
`, b.tools.FFmpeg)
	return path, os.WriteFile(path, []byte(script), 0o700)
}

// pairs runs a and b in turn and returns the median ratio of their times, and
// the median of each.
func pairs(n int, a, b func() error) (ratio float64, timeA, timeB time.Duration, err error) {
	var ratios []float64
	var as, bs []time.Duration
	for range n {
		ta, err := clock(a)
		if err != nil {
			return 0, 0, 0, err
		}
		tb, err := clock(b)
		if err != nil {
			return 0, 0, 0, err
		}
		as, bs, ratios = append(as, ta), append(bs, tb), append(ratios, float64(ta)/float64(tb))
	}
	return median(ratios), median(as), median(bs), nil
}

func clock(f func() error) (time.Duration, error) {
	began := time.Now()
	err := f()
	return time.Since(began), err
}

func median[T float64 | time.Duration](v []T) T {
	slices.Sort(v)
	return v[len(v)/2]
}
