//go:build linux && cgo

package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// encoder compares our VP9 settings with libvpx's good mode: time, size, and
// the difference between the decoded result and the cut-outs.
func (b *bench) encoder(ctx context.Context) error {
	fmt.Println("\nWebM of cut-outs: ms a frame, KiB, PSNR in dB of colour where opaque and of alpha, share of empty pixels with alpha of at least 1 and of at least 8")
	drawn := job{width: 1920, height: 1080, frames: 50, options: bgremove.Options{Method: bgremove.Fast, Format: bgremove.WebM}}
	var err error
	if drawn.clip, err = b.clip(ctx, drawn.width, drawn.height, drawn.frames); err != nil {
		return err
	}
	if err := b.compareEncoders(ctx, "drawn", drawn); err != nil {
		return err
	}
	clip, err := b.tools.Probe(ctx, realClip, media.MOV, media.Limits{})
	if err != nil {
		return err
	}
	info := clip.Info()
	filmed := job{clip: realClip, width: info.Width, height: info.Height, frames: info.Frames,
		options: bgremove.Options{Method: bgremove.Rembg, Model: "bundled", Format: bgremove.WebM}}
	return b.compareEncoders(ctx, realClip, filmed)
}

const realClip = "testdata/real/milk.mov"

// compareEncoders encodes a job's cut-outs both ways.
func (b *bench) compareEncoders(ctx context.Context, name string, j job) error {
	raw, err := b.cutOuts(ctx, j)
	if err != nil {
		return err
	}
	want, err := b.pictures(ctx, "-i", raw)
	if err != nil {
		return err
	}
	ours := ffmpeg.EncodeArgs(b.path("encoded.webm"), ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: j.width, Height: j.height,
		End: time.Duration(j.frames) * frameTime})
	good := slices.Clone(ours)
	for _, o := range [][2]string{{"-deadline", "good"}, {"-cpu-used", "5"}, {"-crf", "28"}, {"-tune-content", "default"}} {
		good[slices.Index(good, o[0])+1] = o[1]
	}
	for _, e := range []struct {
		name string
		args []string
	}{{"good mode, speed 5", good}, {"ours", ours}} {
		args := append([]string{"-y", "-i", raw, "-map", "0:v"}, encoding(e.args)...)
		took, err := clock(func() error { return b.ffmpeg(ctx, args) })
		if err != nil {
			return err
		}
		info, err := os.Stat(b.path("encoded.webm"))
		if err != nil {
			return err
		}
		got, err := b.pictures(ctx, "-c:v", "libvpx-vp9", "-i", b.path("encoded.webm")) // ffmpeg's own decoder drops alpha
		if err != nil {
			return err
		}
		f, err := fidelityOf(got, want)
		if err != nil {
			return err
		}
		fmt.Printf("  %-24s %-20s %6.1f ms %7d KiB  %5.2f dB  %5.2f dB  %.2f %%  %.2f %%\n", name, e.name, took.Seconds()*1000/float64(j.frames),
			info.Size()>>10, f.colour, f.alpha, 100*f.noise, 100*f.haze)
	}
	return nil
}

// pictures returns all frames of an input as RGBA.
func (b *bench) pictures(ctx context.Context, input ...string) ([]byte, error) {
	args := append([]string{"-v", "error"}, input...)
	args = append(args, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgba", "-")
	return exec.CommandContext(ctx, b.tools.FFmpeg, args...).Output()
}

// fidelity is the PSNR of colour on opaque pixels, and of alpha. noise is the
// share of transparent pixels that got some alpha, and haze the visible part of
// it.
type fidelity struct{ colour, alpha, noise, haze float64 }

func fidelityOf(got, want []byte) (f fidelity, err error) {
	if len(got) != len(want) {
		return f, fmt.Errorf("%d bytes came back of %d", len(got), len(want))
	}
	const seen = 8
	var colour, alpha, opaque, empty float64
	for i := 0; i < len(want); i += 4 {
		a := float64(got[i+3]) - float64(want[i+3])
		alpha += a * a
		switch want[i+3] {
		case 255:
			opaque++
			for k := range 3 {
				d := float64(got[i+k]) - float64(want[i+k])
				colour += d * d
			}
		case 0:
			empty++
			if got[i+3] > 0 {
				f.noise++
			}
			if got[i+3] >= seen {
				f.haze++
			}
		}
	}
	psnr := func(sum, count float64) float64 { return 10 * math.Log10(255*255*count/sum) }
	f.colour, f.alpha = psnr(colour, 3*opaque), psnr(alpha, float64(len(want))/4)
	f.noise, f.haze = f.noise/empty, f.haze/empty
	return f, nil
}
