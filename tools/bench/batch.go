//go:build linux && cgo

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// batchClips is the number of short clips in a batch.
const batchClips = 20

// batch compares `batch` on short clips with a `remove` for each clip. jobs are
// the values of --jobs; 0 is its default.
func (b *bench) batch(ctx context.Context, runs int, jobs ...int) error {
	program := b.path("bgremove")
	if err := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/bgremove").Run(); err != nil {
		return fmt.Errorf("build bgremove: %w", err)
	}
	clip, err := b.clip(ctx, 320, 180, 25)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d clips of 25 frames at 320×180: batch against a remove for each\n", batchClips)
	gif := b.path("short.gif")
	if err := b.once(ctx, program, clip, gif, "--method", "fast", "--bg", "#ffffff"); err != nil {
		return err
	}
	for _, c := range []batchCase{
		{"gif to gif, fast", gif, bgremove.GIF, []string{"--method", "fast"}},
		{"mp4 to gif, fast", clip, bgremove.GIF, []string{"--method", "fast"}},
		{"mp4 to webm, fast", clip, bgremove.WebM, []string{"--method", "fast"}},
		{"mp4 to gif, quick network", clip, bgremove.GIF, []string{"--method", "rembg", "--model", modelPath("quick")}},
	} {
		folder, inputs, err := b.copies(c.clip)
		if err != nil {
			return err
		}
		for _, n := range jobs {
			ratio, batch, single, err := pairs(runs,
				func() error { return b.together(ctx, program, folder, n, c) },
				func() error { return b.apart(ctx, program, inputs, c) })
			if err != nil {
				return err
			}
			fmt.Printf("  %-26s --jobs %d  %6.2f s against %6.2f s, ratio %.2f\n", c.name+",", n, batch.Seconds(), single.Seconds(), ratio)
		}
	}
	return nil
}

// batchCase is a way to process copies of a clip.
type batchCase struct {
	name, clip string
	format     bgremove.Format
	flags      []string
}

func (b *bench) together(ctx context.Context, program, folder string, jobs int, c batchCase) error {
	args := []string{"batch", folder, "--out", b.path("batch-out"), "--force", "--quiet", "--jobs", strconv.Itoa(jobs), "--format", string(c.format)}
	return b.program(ctx, program, append(args, c.flags...))
}

func (b *bench) apart(ctx context.Context, program string, inputs []string, c batchCase) error {
	for _, input := range inputs {
		if err := b.once(ctx, program, input, bgremove.OutputPath(b.path("single"), c.format), c.flags...); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) once(ctx context.Context, program, input, output string, flags ...string) error {
	return b.program(ctx, program, append([]string{"remove", input, "-o", output, "--force", "--quiet"}, flags...))
}

func (b *bench) program(ctx context.Context, program string, args []string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("bgremove %s: %w", args[0], err)
	}
	return nil
}

// copies makes a folder with the clip under batchClips names.
func (b *bench) copies(clip string) (dir string, paths []string, err error) {
	data, err := os.ReadFile(clip)
	if err != nil {
		return "", nil, err
	}
	dir = b.path("clips-" + filepath.Ext(clip)[1:])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	for i := range batchClips {
		path := filepath.Join(dir, fmt.Sprintf("%02d%s", i, filepath.Ext(clip)))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return "", nil, err
		}
		paths = append(paths, path)
	}
	return dir, paths, nil
}
