//go:build linux && cgo

package main

import (
	"context"
	"fmt"
	"image"
	"os/exec"
	"time"

	"github.com/bgremove/bgremove/internal/matte/floodfill"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// imageMagick compares a frame of `remove --method fast` to WebM with
// ImageMagick's flood-fill in the usual script: one process per picture.
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
	ours := func() error {
		o := bgremove.Options{Method: bgremove.Fast, Format: bgremove.WebM}
		_, err := bgremove.New(bgremove.Config{}).Remove(ctx, clip, b.path("out.webm"), o, bgremove.Extras{Overwrite: true})
		return err
	}
	method, err := b.floodFill(ctx, clip)
	if err != nil {
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

// floodFill is the time of one frame's matte and cut-out alone, on one core.
func (b *bench) floodFill(ctx context.Context, path string) (time.Duration, error) {
	clip, err := b.tools.Probe(ctx, path, media.MP4, media.Limits{})
	if err != nil {
		return 0, err
	}
	var survey floodfill.Survey
	var pictures []*image.NRGBA
	if err := pipeline.Sample(ctx, clip, pipeline.Timing{}, 50, func(img *image.NRGBA) {
		survey.Add(img)
		kept := image.NewNRGBA(img.Rect)
		copy(kept.Pix, img.Pix)
		pictures = append(pictures, kept)
	}); err != nil {
		return 0, err
	}
	e := floodfill.New(survey.Backdrop(), floodfill.Options{})
	m := image.NewAlpha(pictures[0].Rect)
	began := time.Now()
	for _, img := range pictures {
		if err := e.Estimate(ctx, img, m); err != nil {
			return 0, err
		}
		e.Decontaminate(img, m, nil)
	}
	return time.Since(began) / time.Duration(len(pictures)), nil
}
