//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// imageMagick compares a frame of `remove --method fast` to WebM with
// ImageMagick's flood-fill as people script it: a process for each picture.
func (b *bench) imageMagick(ctx context.Context) error {
	const frames, pictures = 300, 10
	clip, err := b.clip(ctx, 640, 360, frames)
	if err != nil {
		return err
	}
	split := exec.CommandContext(ctx, b.tools.FFmpeg, "-v", "error", "-i", clip, "-frames:v", fmt.Sprint(pictures), b.path("%d.png"))
	if err := split.Run(); err != nil {
		return fmt.Errorf("pictures for ImageMagick: %w", err)
	}
	var method time.Duration // of one frame, on one core
	ours := func() error {
		o := bgremove.Options{Method: bgremove.Fast, Format: bgremove.WebM}
		r, err := bgremove.New(bgremove.Config{Workers: 1}).Remove(ctx, clip, b.path("out.webm"), o, bgremove.Extras{Overwrite: true})
		if err == nil {
			method = time.Duration((r.Timings["matte"] + r.Timings["cut out"]) / frames * float64(time.Second))
		}
		return err
	}
	theirs := func() error {
		for i := 1; i <= pictures; i++ {
			c := exec.CommandContext(ctx, "convert", b.path(fmt.Sprintf("%d.png", i)), "-alpha", "set", "-fuzz", "6%",
				"-fill", "none", "-draw", "color 0,0 floodfill", b.path("cut.png"))
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("convert: %w: %s", err, out)
			}
		}
		return nil
	}
	_, a, t, err := pairs(b.runs, ours, theirs)
	if err != nil {
		return err
	}
	each, other := a/frames, t/pictures
	show := func(what string, d time.Duration) {
		fmt.Printf("  %-48s %8.2f ms  %5.1f×\n", what, float64(d)/float64(time.Millisecond), float64(other)/float64(d))
	}
	fmt.Println("\nflood-fill of a 640×360 frame")
	show("ImageMagick, a process for each PNG", other)
	show("bgremove, matte and cut-out alone, one core", method)
	show("bgremove, whole run, mp4 to webm", each)
	return nil
}
