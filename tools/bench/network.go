//go:build linux && cgo

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// segmentation runs all measurements of neural networks.
func (b *bench) segmentation(ctx context.Context, runs int) error {
	if err := b.networks(ctx, runs); err != nil {
		return err
	}
	return b.reuse(ctx, runs)
}

// networks compares `remove --method rembg` to WebM with the sum of its
// necessary parts: the network alone, and ffmpeg alone with the same decoding
// and encoding. A cropped clip must be decoded twice unless all frames are
// kept, because its box is known only after the last frame. The cost of that is
// reported separately.
func (b *bench) networks(ctx context.Context, runs int) error {
	fmt.Println("\nrembg, mp4 to webm, against the network alone + ffmpeg alone")
	quick, err := quickNetwork()
	if err != nil {
		return err
	}
	for _, size := range []job{{width: 640, height: 360, frames: 250}, {width: 1920, height: 1080, frames: 100}} {
		for _, name := range []string{quick, "slow"} {
			for _, crop := range []bool{false, true} {
				j := size
				if name == "slow" {
					j.frames = 100
				}
				j.options = bgremove.Options{Method: bgremove.Rembg, Model: modelPath(name), Format: bgremove.WebM, Crop: crop}
				if err := b.network(ctx, name, j, runs); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// quickNetwork names the network of testdata that takes about 15 ms a frame on
// this machine: "quick", or "brisk" if that one is nearer.
func quickNetwork() (string, error) {
	// The first opened network loads the runtime, which newBare needs.
	loading, err := onnx.Open(onnx.Config{Library: os.Getenv("BGREMOVE_ONNXRUNTIME"), Model: modelPath("quick")})
	if err != nil {
		return "", err
	}
	defer func() { _ = loading.Close() }()
	var distance [2]time.Duration
	for i, name := range []string{"quick", "brisk"} {
		took, err := frameTimeAlone(name)
		if err != nil {
			return "", err
		}
		distance[i] = (took - 15*time.Millisecond).Abs()
	}
	if distance[1] < distance[0] {
		return "brisk", nil
	}
	return "quick", nil
}

// frameTimeAlone is a network's time for a frame. It takes the best of three,
// because other work on the machine only adds time.
func frameTimeAlone(name string) (time.Duration, error) {
	alone, err := newBare(modelPath(name))
	if err != nil {
		return 0, err
	}
	defer alone.close()
	const frames = 24
	best := time.Hour
	for range 3 {
		took, err := clock(func() error { return alone.run(frames) })
		if err != nil {
			return 0, err
		}
		best = min(best, took/frames)
	}
	return best, nil
}

func modelPath(name string) string { return "testdata/onnx/" + name + ".onnx" }

func (b *bench) network(ctx context.Context, name string, j job, runs int) error {
	args, err := b.reference(ctx, &j)
	if err != nil {
		return err
	}
	alone, err := newBare(modelPath(name))
	if err != nil {
		return err
	}
	defer alone.close()
	var network, again time.Duration
	ratio, ours, both, err := pairs(runs, func() error { return b.remove(ctx, j, bgremove.Config{}) }, func() error {
		if err := b.ffmpeg(ctx, args); err != nil {
			return err
		}
		network, err = clock(func() error { return alone.run(j.frames) })
		return err
	})
	if err != nil {
		return err
	}
	fmt.Printf("  %d×%d, %-5s crop %-5v  %6.2f s against %6.2f s (network %.0f ms a frame), ratio %.2f", j.width, j.height, name+",",
		j.options.Crop, ours.Seconds(), both.Seconds(), float64(network.Milliseconds())/float64(j.frames), ratio)
	if j.options.Crop {
		if again, err = clock(func() error { return b.ffmpeg(ctx, decodingRGBA(j.clip)) }); err != nil {
			return err
		}
		fmt.Printf(", with the second decoding %.2f", ours.Seconds()/(both+again).Seconds())
	}
	fmt.Println()
	return nil
}

// bare is a network in ONNX Runtime without anything around it.
type bare struct {
	sessions []*ort.AdvancedSession
	tensors  []*ort.Tensor[float32]
}

// newBare opens one session with two threads and two sessions with one thread
// each. The runtime must be loaded already.
func newBare(path string) (*bare, error) {
	b := &bare{}
	for _, threads := range []int{2, 1, 1} {
		if err := b.open(path, threads); err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
	}
	return b, nil
}

func (b *bare) open(path string, threads int) error {
	in, err := ort.NewEmptyTensor[float32](ort.NewShape(1, 3, 320, 320))
	if err != nil {
		return err
	}
	out, err := ort.NewEmptyTensor[float32](ort.NewShape(1, 1, 320, 320))
	if err != nil {
		return err
	}
	b.tensors = append(b.tensors, in, out)
	opts, err := ort.NewSessionOptions()
	if err != nil {
		return err
	}
	defer func() { _ = opts.Destroy() }()
	if err := opts.SetIntraOpNumThreads(threads); err != nil {
		return err
	}
	s, err := ort.NewAdvancedSession(path, []string{"image"}, []string{"alpha"}, []ort.Value{in}, []ort.Value{out}, opts)
	if err != nil {
		return err
	}
	b.sessions = append(b.sessions, s)
	return nil
}

// run runs frames in the faster way on this machine: two threads on one frame,
// or two frames at once.
func (b *bare) run(frames int) error {
	const trial = 6
	one, err := clock(func() error { return repeat(b.sessions[0], trial) })
	if err != nil {
		return err
	}
	pair, err := clock(func() error { return b.atOnce(trial) })
	if err != nil {
		return err
	}
	frames -= 2 * trial
	if one < pair {
		return repeat(b.sessions[0], frames)
	}
	return b.atOnce(frames)
}

func (b *bare) atOnce(frames int) error {
	var g errgroup.Group
	for i, s := range b.sessions[1:] {
		g.Go(func() error { return repeat(s, (frames+i)/2) })
	}
	return g.Wait()
}

func repeat(s *ort.AdvancedSession, n int) error {
	for range n {
		if err := s.Run(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bare) close() {
	for _, s := range b.sessions {
		_ = s.Destroy()
	}
	for _, t := range b.tensors {
		_ = t.Destroy()
	}
}

// reuse compares a GIF with repeated frames with the same run without reuse.
func (b *bench) reuse(ctx context.Context, runs int) error {
	clip, err := b.clip(ctx, 640, 360, 25)
	if err != nil {
		return err
	}
	gif := b.path("repeating.gif")
	// Each frame appears four times, as four frames of the file, in the clip's
	// own colours.
	const filter = "setpts=4*PTS,fps=25,scale=480:-1,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none"
	if err := b.ffmpeg(ctx, []string{"-y", "-i", clip, "-vf", filter, "-gifflags", "-offsetting", gif}); err != nil {
		return fmt.Errorf("draw a GIF: %w", err)
	}
	j := job{clip: gif, options: bgremove.Options{Method: bgremove.Rembg, Model: modelPath("slow"), Format: bgremove.WebM}}
	without := j
	without.options.NoReuse = true
	ratio, a, o, err := pairs(runs, func() error { return b.remove(ctx, j, bgremove.Config{}) },
		func() error { return b.remove(ctx, without, bgremove.Config{}) })
	if err != nil {
		return err
	}
	fmt.Printf("\nGIF of 25 pictures, each four times, slow network, to webm: %.2f s, without reuse %.2f s, ratio %.2f\n", a.Seconds(), o.Seconds(), ratio)
	return nil
}
