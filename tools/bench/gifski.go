//go:build linux && cgo

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

const (
	// clipsVariable names the videos and GIFs to cut out, separated as in PATH.
	clipsVariable = "BGREMOVE_BENCH_CLIPS"
	cutOutFrames  = 60
	cutOutHeight  = 360
)

// gifQualities are the settings of both encoders. Only ours gets the low ones
// too, to reach the size of gifski's files.
var gifQualities, lowQualities = []int{60, 70, 80, 90, 100}, []int{10, 20, 40}

// animation is a clip to write, at 4 centiseconds a frame. Its alpha is 0 or
// 255: gifski would dither values in between, which would cost it bytes.
type animation struct {
	name   string
	frames []*image.NRGBA
}

// gifski compares GIFs with gifski's over its range of quality, on clips that
// bgremove cuts out and on drawn ones.
func (b *bench) gifski(ctx context.Context) error {
	if _, err := exec.LookPath("gifski"); err != nil {
		return fmt.Errorf("%w: make bench-peers installs it", err)
	}
	fmt.Println("\nGIF against gifski: size, PSNR and flicker by quality; at its size our gain in dB, and our flicker as a share of its flicker")
	var t tally
	for _, path := range filepath.SplitList(os.Getenv(clipsVariable)) {
		a, err := b.cutOut(ctx, path)
		if err != nil {
			return err
		}
		if err := b.againstGifski(ctx, a, &t); err != nil {
			return err
		}
	}
	for _, d := range drawings {
		a := animation{name: d.name}
		for i := range drawnFrames {
			a.frames = append(a.frames, d.frame(i))
		}
		if err := b.againstGifski(ctx, a, &t); err != nil {
			return err
		}
	}
	fmt.Println(t)
	return nil
}

func (b *bench) againstGifski(ctx context.Context, a animation, t *tally) error {
	pngs, err := b.pngs(a)
	if err != nil {
		return err
	}
	theirs, err := newCurve(ctx, a, gifQualities, func(q int) ([]byte, error) {
		out := b.path("gifski.gif")
		args := append([]string{"--quiet", "--fps", "25", "--quality", strconv.Itoa(q), "-o", out}, pngs...)
		if text, err := exec.CommandContext(ctx, "gifski", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("gifski: %w: %s", err, text)
		}
		return os.ReadFile(out)
	})
	if err != nil {
		return err
	}
	ours, err := newCurve(ctx, a, append(slices.Clone(lowQualities), gifQualities...), func(q int) ([]byte, error) {
		return writeGIF(ctx, a, q)
	})
	if err != nil {
		return err
	}
	size := a.frames[0].Rect.Size()
	fmt.Printf("  %s, %d×%d, %d frames\n", a.name, size.X, size.Y, len(a.frames))
	t.add(os.Stdout, theirs, ours)
	return nil
}

// pngs writes the frames for gifski.
func (b *bench) pngs(a animation) (paths []string, err error) {
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	for i, img := range a.frames {
		var buf bytes.Buffer
		path := b.path(fmt.Sprintf("gifski-%05d.png", i))
		if err := errors.Join(encoder.Encode(&buf, img), os.WriteFile(path, buf.Bytes(), 0o600)); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// cutOut removes the background from some frames of a file, starting at a tenth
// of it.
func (b *bench) cutOut(ctx context.Context, path string) (animation, error) {
	a := animation{name: filepath.Base(path)}
	r := bgremove.New(bgremove.Config{Library: os.Getenv("BGREMOVE_ONNXRUNTIME")})
	defer func() { _ = r.Close() }()
	info, err := r.Probe(ctx, path)
	if err != nil {
		return a, err
	}
	o := bgremove.Defaults()
	o.Format, o.CanvasH = bgremove.APNG, cutOutHeight
	if info.Frames > cutOutFrames {
		length := time.Duration(info.Duration * float64(time.Second))
		o.Start = min(length/10, length-length*cutOutFrames/time.Duration(info.Frames))
		o.End = o.Start + length*cutOutFrames/time.Duration(info.Frames)
	}
	out := b.path("cut-out.png")
	result, err := r.Remove(ctx, path, out, o, bgremove.Extras{Overwrite: true})
	if err != nil {
		return a, err
	}
	raw, err := exec.CommandContext(ctx, b.tools.FFmpeg, "-v", "error", "-f", "apng", "-i", out, "-fps_mode", "passthrough",
		"-pix_fmt", "rgba", "-f", "rawvideo", "-").Output()
	if err != nil {
		return a, fmt.Errorf("ffmpeg: %w", err)
	}
	for size := 4 * result.Width * result.Height; len(raw) >= size && len(a.frames) < cutOutFrames; raw = raw[size:] {
		img := &image.NRGBA{Pix: raw[:size], Stride: 4 * result.Width, Rect: image.Rect(0, 0, result.Width, result.Height)}
		cutAlpha(img)
		a.frames = append(a.frames, img)
	}
	return a, nil
}

func cutAlpha(img *image.NRGBA) {
	for i := 0; i < len(img.Pix); i += 4 {
		if img.Pix[i+3] >= 128 {
			img.Pix[i+3] = 255
		} else {
			copy(img.Pix[i:i+4], []uint8{0, 0, 0, 0})
		}
	}
}

func writeGIF(ctx context.Context, a animation, quality int) ([]byte, error) {
	o := gif.WriterOptions{Quality: quality, Survey: new(gif.Survey)}
	for _, img := range a.frames {
		o.Survey.Add(img)
	}
	var buf bytes.Buffer
	w, err := gif.NewWriter(&buf, a.frames[0].Rect.Dx(), a.frames[0].Rect.Dy(), o)
	if err != nil {
		return nil, err
	}
	for _, img := range a.frames {
		if err := w.Write(ctx, &media.Frame{Image: img, Delay: frameTime}); err != nil {
			w.Abort()
			return nil, err
		}
	}
	err = w.Close()
	return buf.Bytes(), err
}
