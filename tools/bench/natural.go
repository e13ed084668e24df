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
// it, at 640×360: the frames in a second, what each step and a click cost, and how soon an
// Editor shows what a click does.
func (b *bench) natural(ctx context.Context) error {
	fmt.Printf("\nnatural video, %d×%d to webm with the bundled network: processor time by frame\n", wide, high)
	for _, clip := range naturalClips() {
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

// naturalClips are the named videos, or the project's own one.
func naturalClips() []string {
	if named := filepath.SplitList(os.Getenv(clipsVariable)); len(named) > 0 {
		return named
	}
	return []string{realClip}
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
	length := time.Duration(result.Duration * float64(time.Second))
	j.options.Hints = clickAt(length / 2)
	clicked, err := clock(run)
	if err != nil {
		return err
	}
	fmt.Printf("  with a click in the middle: %.2f of the time\n", clicked.Seconds()/took.Seconds())
	return previews(ctx, j, length, took)
}

// clickAt keeps what is in the middle of the picture at a moment.
func clickAt(at time.Duration) []option.Hint {
	return []option.Hint{{Keep: true, Click: &[2]float64{wide / 2, high / 2}, At: at}}
}

// previews prints what an Editor of a clip of some length takes: to study it, as a share of the
// time that a run took, and to show what a click does. In ten places it shows the frame with the click.
// After a click in the middle it shows each frame of a second, and the last one.
func previews(ctx context.Context, j job, length, took time.Duration) error {
	r := bgremove.New(bgremove.Config{Library: os.Getenv("BGREMOVE_ONNXRUNTIME")})
	defer r.Close()
	var e *bgremove.Editor
	studied, err := clock(func() (err error) {
		e, err = r.Edit(ctx, j.clip, j.options, nil)
		return err
	})
	if err != nil {
		return err
	}
	defer e.Close()
	show := func(at, click time.Duration) time.Duration {
		shown, failed := clock(func() error {
			_, err := e.Preview(ctx, at, clickAt(click))
			return err
		})
		err = errors.Join(err, failed)
		return shown
	}
	const places, frame = 10, time.Second / 25
	var clicked, further []time.Duration
	for i := range places {
		at := length * time.Duration(2*i+1) / (2 * places)
		clicked = append(clicked, show(at, at))
	}
	middle := length / 2
	for at := middle; at < middle+time.Second; at += frame {
		further = append(further, show(at, middle))
	}
	far := show(length, middle)
	if err != nil {
		return err
	}
	fmt.Printf("  studied for previews in %.2f of the time; shown after a click in the frame: %d ms, at most %d; the frames after it: %d, at most %d; the last frame: %d\n",
		studied.Seconds()/took.Seconds(), median(clicked).Milliseconds(), slices.Max(clicked).Milliseconds(), median(further).Milliseconds(), slices.Max(further).Milliseconds(), far.Milliseconds())
	return nil
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
