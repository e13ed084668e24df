// Command sheet draws clips before and after: frames of each clip, and below
// them the results of one or more builds of bgremove, over magenta. It also
// prints each build's remarks on its results, and the number of clips with
// warnings.
//
//	go run ./tools/sheet -o sheet.png CLIP...
//	go run ./tools/sheet -bin old/bgremove -bin bin/bgremove -args '--method rembg' -o sheet.png CLIP...
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

func main() {
	s := sheet{}
	out := flag.String("o", "sheet.png", "the picture to write")
	flag.Func("bin", "a build of bgremove (default bin/bgremove); repeatable", func(v string) error { s.builds = append(s.builds, v); return nil })
	args := flag.String("args", "", "more arguments for `bgremove remove`")
	flag.IntVar(&s.frames, "frames", 5, "frames of each clip")
	flag.IntVar(&s.width, "width", 240, "width in pixels of a frame")
	flag.Parse()
	if len(s.builds) == 0 {
		s.builds = []string{"bin/bgremove"}
	}
	s.args = strings.Fields(*args)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := s.run(ctx, *out, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sheet:", err)
		os.Exit(1)
	}
}

// sheet holds the content and the settings of the drawing.
type sheet struct {
	builds, args  []string
	frames, width int
}

func (s *sheet) run(ctx context.Context, out string, clips []string) error {
	dir, err := os.MkdirTemp("", "bgremove-sheet-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var strips []*image.NRGBA
	warned := make([]int, len(s.builds))
	for _, clip := range clips {
		for i, build := range s.builds {
			cut := filepath.Join(dir, "cut.webm")
			result, err := s.remove(ctx, build, clip, cut)
			if err != nil {
				return err
			}
			if i == 0 {
				strip, err := s.strip(ctx, clip, result.Frames, nil, filepath.Base(clip))
				if err != nil {
					return err
				}
				strips = append(strips, strip)
			}
			label := fmt.Sprintf("%s: kept %.3f", build, result.Quality.Kept)
			for _, w := range result.Quality.Warnings {
				label += ", " + string(w.Code)
			}
			warned[i] += min(len(result.Quality.Warnings), 1)
			fmt.Printf("%s  %s: %s; %s\n", filepath.Base(clip), label, result.Method, result.Reason)
			strip, err := s.strip(ctx, cut, result.Frames, []string{"-c:v", "libvpx-vp9"}, label)
			if err != nil {
				return err
			}
			strips = append(strips, strip)
		}
	}
	for i, build := range s.builds {
		fmt.Printf("%s warns of %d of %d clips\n", build, warned[i], len(clips))
	}
	return save(out, stack(strips))
}

// remove cuts out a clip.
func (s *sheet) remove(ctx context.Context, build, clip, out string) (r bgremove.Result, err error) {
	args := append([]string{"remove", clip, "-o", out, "--force", "--crop=false", "--no-audio", "--json"}, s.args...)
	answer, err := output(ctx, build, args...)
	if err != nil {
		return r, fmt.Errorf("%s: %w", clip, err)
	}
	return r, json.Unmarshal(answer, &r)
}

// labelHeight is the height of the line above a strip.
const labelHeight = 16

// strip draws frames of a clip of count frames beside each other.
func (s *sheet) strip(ctx context.Context, path string, count int, decoder []string, label string) (*image.NRGBA, error) {
	filter := fmt.Sprintf("select='not(mod(n,%d))',scale=%d:-2,format=rgba", max((count+s.frames-1)/s.frames, 1), s.width)
	args := append(append([]string{"-v", "error"}, decoder...), "-i", path, "-vf", filter, "-fps_mode", "passthrough", "-f", "image2pipe", "-c:v", "png", "-")
	raw, err := output(ctx, "ffmpeg", args...)
	if err != nil {
		return nil, err
	}
	var pictures []image.Image
	for r := bytes.NewReader(raw); r.Len() > 0; {
		p, err := png.Decode(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		pictures = append(pictures, p)
	}
	if len(pictures) == 0 {
		return nil, fmt.Errorf("%s: no frames", path)
	}
	size := pictures[0].Bounds().Size()
	dst := image.NewNRGBA(image.Rect(0, 0, size.X*s.frames, size.Y+labelHeight))
	draw.Draw(dst, dst.Rect, image.White, image.Point{}, draw.Src)
	for i, p := range pictures {
		at := image.Rect(i*size.X, labelHeight, (i+1)*size.X, labelHeight+size.Y)
		draw.Draw(dst, at, image.NewUniform(color.NRGBA{255, 0, 255, 255}), image.Point{}, draw.Src)
		draw.Draw(dst, at, p, image.Point{}, draw.Over)
	}
	text := font.Drawer{Dst: dst, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(4, 12)}
	text.DrawString(label)
	return dst, nil
}

// stack puts pictures below each other.
func stack(strips []*image.NRGBA) *image.NRGBA {
	var size image.Point
	for _, p := range strips {
		size = image.Pt(max(size.X, p.Rect.Dx()), size.Y+p.Rect.Dy())
	}
	dst, y := image.NewNRGBA(image.Rectangle{Max: size}), 0
	for _, p := range strips {
		draw.Draw(dst, p.Rect.Add(image.Pt(0, y)), p, image.Point{}, draw.Src)
		y += p.Rect.Dy()
	}
	return dst
}

func save(path string, img image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, img), f.Close())
}

// output runs a program and returns its output.
func output(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}
