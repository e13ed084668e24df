//go:build linux && cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// rembg compares whole runs to WebM with rembg's in the usual script. ffmpeg
// pipes raw frames to `rembg b`; it writes PNGs, and ffmpeg encodes them as we
// do. Both use the same network.
func (b *bench) rembg(ctx context.Context) error {
	for _, program := range []string{rembgPath, bgremovePath} {
		if _, err := os.Stat(program); err != nil {
			return fmt.Errorf("%w: make bench-peers installs it", err)
		}
	}
	fmt.Println("\nrembg 2.0.86 with the same network, mp4 to webm")
	for _, j := range []job{{width: 640, height: 360, frames: 100}, {width: 1920, height: 1080, frames: 30}} {
		var err error
		if j.clip, err = b.clip(ctx, j.width, j.height, j.frames); err != nil {
			return err
		}
		for _, name := range []string{"quick", "slow"} {
			if err := b.againstRembg(ctx, j, name); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	rembgPath    = ".cache/rembg/bin/rembg"
	bgremovePath = "bin/bgremove"
)

func (b *bench) againstRembg(ctx context.Context, j job, name string) error {
	var frames int
	var ourMemory, theirMemory int64
	ratio, theirs, ours, err := pairs(b.runs, func() (err error) {
		theirMemory, frames, err = b.runRembg(ctx, j, name)
		return err
	}, func() (err error) {
		ourMemory, err = peak(exec.CommandContext(ctx, bgremovePath, "remove", j.clip, "-o", b.path("out.webm"), "--force", "--quiet",
			"--method", "rembg", "--model", modelPath(name), "--crop=false"))
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("  %d×%d, %-5s  %6.2f s, %4d MB, %d frames   rembg %6.2f s, %4d MB, %d of %d frames   %.2f× faster\n", j.width, j.height, name,
		ours.Seconds(), ourMemory/1000, j.frames, theirs.Seconds(), theirMemory/1000, frames, j.frames, ratio)
	return nil
}

// runRembg returns the peak memory of rembg in kB and its number of frames.
func (b *bench) runRembg(ctx context.Context, j job, name string) (memory int64, frames int, err error) {
	dir := b.path("rembg")
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return 0, 0, err
	}
	model, err := filepath.Abs(modelPath(name))
	if err != nil {
		return 0, 0, err
	}
	decode := exec.CommandContext(ctx, b.tools.FFmpeg, "-v", "error", "-i", j.clip, "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
	segment := exec.CommandContext(ctx, rembgPath, "b", "-m", "u2net_custom", "-x", fmt.Sprintf(`{"model_path": %q}`, model),
		fmt.Sprint(j.width), fmt.Sprint(j.height), "-o", filepath.Join(dir, "%05u.png"))
	segment.Env = append(os.Environ(), "REMBG_HOME="+filepath.Dir(model)) // the only folder it takes models from
	if memory, err = piped(decode, segment); err != nil {
		return 0, 0, err
	}
	pictures, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		return 0, 0, err
	}
	sink := ffmpeg.EncodeArgs(b.path("rembg.webm"), ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: j.width, Height: j.height,
		End: time.Duration(j.frames) * frameTime})
	args := append([]string{"-framerate", "25", "-start_number", "0", "-i", filepath.Join(dir, "%05d.png")}, encodingRGBA(sink)...)
	return memory, len(pictures), b.ffmpeg(ctx, args)
}

// piped runs two programs, of which the second reads what the first writes, and returns
// the peak memory of the second in kB. The first ends too if the second ends early.
func piped(from, to *exec.Cmd) (kb int64, err error) {
	written, err := from.StdoutPipe()
	if err != nil {
		return 0, err
	}
	to.Stdin = written
	if err := from.Start(); err != nil {
		return 0, err
	}
	kb, err = peak(to)
	_ = written.Close() // so that the first does not wait for a reader
	return kb, errors.Join(err, from.Wait())
}

// peak runs a program and returns its peak memory in kB, sampled at intervals.
// The system's own count at the end is no use: it begins with this process's
// memory at the start of the program.
func peak(c *exec.Cmd) (kb int64, err error) {
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				return 0, fmt.Errorf("%s: %w: %s", c.Path, err, said.String())
			}
			return kb, nil
		case <-time.After(20 * time.Millisecond):
			if now, err := peakMemory(strconv.Itoa(c.Process.Pid)); err == nil {
				kb = max(kb, int64(now))
			}
		}
	}
}
