//go:build linux && cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// wide and high are the pixels of natural's clips.
const wide, high = 640, 360

// natural prints how fast videos become WebM with the bundled network and all that helps
// it, at 640×360: the frames in a second, and what each step and a click cost.
func (b *bench) natural(ctx context.Context) error {
	clips := filepath.SplitList(os.Getenv(clipsVariable))
	if len(clips) == 0 {
		return errors.New(clipsVariable + " names no clips")
	}
	fmt.Printf("\nnatural video, %d×%d to webm with the bundled network: processor time by frame\n", wide, high)
	for _, clip := range clips {
		small := b.path("natural.mp4")
		scale := exec.CommandContext(ctx, "ffmpeg", "-v", "error", "-y", "-i", clip, "-an", "-vf", fmt.Sprintf("scale=%d:%d", wide, high), "-c:v", "libx264", "-crf", "16", small)
		if text, err := scale.CombinedOutput(); err != nil {
			return fmt.Errorf("scale %s: %w: %s", clip, err, text)
		}
		if err := b.naturalClip(ctx, filepath.Base(clip), small); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) naturalClip(ctx context.Context, name, path string) error {
	j := job{clip: path, options: bgremove.Defaults()}
	j.options.Method, j.options.Format = bgremove.Rembg, bgremove.WebM
	var result *bgremove.Result
	run := func() (err error) {
		result, err = b.removed(ctx, j, bgremove.Config{})
		return err
	}
	ours, children, err := used()
	if err != nil {
		return err
	}
	took, err := clock(run)
	if err != nil {
		return err
	}
	oursThen, childrenThen, err := used()
	if err != nil {
		return err
	}
	n := float64(result.Frames)
	perFrame := func(d time.Duration) float64 { return 1000 * d.Seconds() / n }
	fmt.Printf("%s, %d frames: %.1f frames/s, %.1f ms (ours %.1f, ffmpeg %.1f)\n", name, result.Frames, n/took.Seconds(),
		perFrame(oursThen+childrenThen-ours-children), perFrame(oursThen-ours), perFrame(childrenThen-children))
	fmt.Print("  on the clock, where all steps share the cores:")
	for _, step := range slices.Sorted(maps.Keys(result.Timings)) {
		fmt.Printf(" %s %.1f", step, 1000*result.Timings[step]/n)
	}
	fmt.Println()
	middle := time.Duration(result.Duration / 2 * float64(time.Second))
	j.options.Hints = []option.Hint{{Keep: true, Click: &[2]float64{wide / 2, high / 2}, At: middle}}
	clicked, err := clock(run)
	if err == nil {
		fmt.Printf("  with a click in the middle: %.2f of the time\n", clicked.Seconds()/took.Seconds())
	}
	return err
}

// used is the processor time of this process and of its children that have ended.
func used() (ours, children time.Duration, err error) {
	var t [2]time.Duration
	for i, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return 0, 0, err
		}
		t[i] = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return t[0], t[1], nil
}
