//go:build linux && cgo

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// stack makes a picture of twice the height of RGBA.
const stack = "split[c][m];[c]" + toBT709 + ",format=yuv420p[above];[m]alphaextract," + toBT709 + ",format=yuv420p[below];[above][below]vstack"

// formats compares `remove --method fast --crop=false` from H.264 at 640×360 with ffmpeg
// alone at the same work, by the output's format: WebP by ffmpeg's encoder of animations,
// and the others with our settings.
func (b *bench) formats(ctx context.Context, frames, runs int) error {
	fmt.Printf("\nfast, mp4 to other formats, 640×360, %d frames\n", frames)
	for _, f := range []bgremove.Format{bgremove.WebP, bgremove.MOV, bgremove.Stacked} {
		j := job{width: 640, height: 360, frames: frames, options: bgremove.Options{Method: bgremove.Fast, Format: bgremove.WebM}}
		reference, err := b.rgba(ctx, &j) // which are taken from a WebM
		if err != nil {
			return err
		}
		j.options.Format = f
		reference = append(reference, "-y")
		out := b.path("reference." + f.Extension())
		if f == bgremove.WebP {
			reference = append(reference, "-fps_mode", "passthrough", "-pix_fmt", "bgra", "-c:v", "libwebp_anim", "-quality", fmt.Sprint(f.Quality()), out)
		} else {
			if f == bgremove.Stacked {
				reference = append(reference, "-vf", stack)
			}
			reference = append(reference, encoding(ffmpeg.EncodeArgs(out, ffmpeg.SinkOptions{Format: ffmpeg.Format(f), Width: j.width, Height: j.height,
				End: time.Duration(frames) * frameTime}))...)
		}
		var ours, theirs time.Duration
		ratio, a, r, err := pairs(runs, counted(&ours, func() error { return b.remove(ctx, j, bgremove.Config{}) }),
			counted(&theirs, func() error { return b.ffmpeg(ctx, reference) }))
		if err != nil {
			return err
		}
		fmt.Printf("  %-8s ffmpeg %s\n  %-8s bgremove %.2f s, ffmpeg %.2f s, ratio %.2f; processor time %.2f s, %.2f s, ratio %.2f\n", f, strings.Join(reference, " "), "",
			a.Seconds(), r.Seconds(), ratio, ours.Seconds()/float64(runs), theirs.Seconds()/float64(runs), ours.Seconds()/theirs.Seconds())
	}
	return nil
}

// counted adds the processor time of f to a sum.
func counted(sum *time.Duration, f func() error) func() error {
	return func() error {
		ours, children, err := used()
		if err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
		oursThen, childrenThen, err := used()
		*sum += oursThen + childrenThen - ours - children
		return err
	}
}
