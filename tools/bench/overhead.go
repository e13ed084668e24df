//go:build linux

package main

import (
	"context"
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
// 640×360 with ffmpeg alone decoding the same clip and encoding the very RGBA
// frames that bgremove produced, with the same arguments.
func (b *bench) overhead(ctx context.Context, frames, runs int) error {
	clip, err := b.clip(ctx, 640, 360, frames)
	if err != nil {
		return err
	}
	out, raw := b.path("out.webm"), b.path("frames.mkv")
	run := func(c bgremove.Config) error {
		o := bgremove.Options{Method: bgremove.Fast, Format: bgremove.WebM}
		_, err := bgremove.New(c).Remove(ctx, clip, out, o, bgremove.Extras{Overwrite: true})
		return err
	}
	dumping, err := b.dumpingFFmpeg(raw)
	if err != nil {
		return err
	}
	if err := run(bgremove.Config{FFmpeg: dumping}); err != nil {
		return err
	}
	args := referenceArgs(clip, raw, b.path("reference.webm"), frames)
	fmt.Printf("\nfast, mp4 to webm, 640×360, %d frames; the reference is\n  ffmpeg %s\n", frames, strings.Join(args, " "))
	ratio, a, r, err := pairs(runs, func() error { return run(bgremove.Config{}) },
		func() error { return exec.CommandContext(ctx, b.tools.FFmpeg, args...).Run() })
	if err != nil {
		return err
	}
	fmt.Printf("bgremove %.2f s, ffmpeg %.2f s, ratio %.2f\n", a.Seconds(), r.Seconds(), ratio)
	return os.Remove(raw)
}

// dumpingFFmpeg is an ffmpeg that keeps a copy of what it is given to encode.
func (b *bench) dumpingFFmpeg(raw string) (path string, err error) {
	path = b.path("ffmpeg-dump")
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *pipe:0*) tee %q | %q \"$@\" ;; *) exec %[2]q \"$@\" ;; esac\n", raw, b.tools.FFmpeg)
	return path, os.WriteFile(path, []byte(script), 0o700)
}

// referenceArgs is one ffmpeg that decodes the clip to RGBA and encodes the raw
// frames as the sink does.
func referenceArgs(clip, raw, out string, frames int) []string {
	sink := ffmpeg.EncodeArgs(out, ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: 640, Height: 360, End: time.Duration(frames) * frameTime})
	encode := sink[slices.Index(sink, "-map")+2:]
	args := []string{"-i", clip, "-f", "matroska", "-i", raw,
		"-map", "0:v", "-pix_fmt", "rgba", "-c:v", "rawvideo", "-f", "null", "-", "-map", "1:v"}
	return append(args, encode...)
}

// pairs runs a and b in turn and returns the median ratio of their times and
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
