// Command plates writes the views of internal/matte/view for training: what the program
// would show the reviser of a clip's plate and motion. It reads clips from standard input. Each begins with three 32-bit numbers, little-endian:
// frames, width and height. The frames follow with four bytes a pixel: red, green,
// blue and the coverage. The program fits the coverage's edges to the picture's.
// For each clip it writes the views of all frames, each in planes, with all frames
// as samples.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"os"

	"github.com/bgremove/bgremove/internal/matte/plate"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/matte/subject"
)

func main() {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	err := run(bufio.NewReaderSize(os.Stdin, 1<<20), out)
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "plates:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	for {
		var head [3]uint32
		if err := binary.Read(in, binary.LittleEndian, &head); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a clip: %w", err)
		}
		if err := clip(in, out, int(head[0]), int(head[1]), int(head[2])); err != nil {
			return err
		}
	}
}

// frame is a picture and its matte.
type frame struct {
	picture *image.NRGBA
	matte   *image.Alpha
}

func clip(in io.Reader, out io.Writer, n, w, h int) (err error) {
	c, err := subject.New(subject.Options{Views: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	frames := make([]frame, n)
	whole := image.Rect(0, 0, w, h)
	for i := range frames {
		f := frame{image.NewNRGBA(whole), image.NewAlpha(whole)}
		if _, err := io.ReadFull(in, f.picture.Pix); err != nil {
			return fmt.Errorf("read frame %d: %w", i, err)
		}
		for j := range f.matte.Pix {
			f.matte.Pix[j], f.picture.Pix[4*j+3] = f.picture.Pix[4*j+3], 255
		}
		frames[i] = f
		if err := c.Add(f.picture, f.matte); err != nil {
			return err
		}
	}
	if err := c.Decide(context.Background()); err != nil {
		return err
	}
	return views(out, frames, c)
}

// views writes the views of frames, of which c knows.
func views(out io.Writer, frames []frame, c *subject.Clip) error {
	var p plate.Plate
	var fit refine.Upsampler
	known := make([]subject.Evidence, len(frames))
	for i, f := range frames {
		var err error
		if known[i], err = c.Frame(i); err != nil {
			return err
		}
		known[i].Strip(f.matte)
		along := image.NewAlpha(f.matte.Rect)
		fit.Upsample(along, f.picture, f.matte, f.picture)
		frames[i].matte = along
		p.Sample(f.picture, along)
	}
	for i, f := range frames {
		v := p.Next(f.picture, f.matte)
		known[i].Show(&v)
		if _, err := out.Write(v.Pix); err != nil {
			return err
		}
	}
	return nil
}
