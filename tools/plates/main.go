// Command plates gives training what the program would show its small networks of a
// clip. It reads clips from standard input. Each begins with three 32-bit numbers,
// little-endian: frames, width and height. The frames follow with four bytes a pixel: red,
// green, blue and the coverage.
//
// For each clip it writes the views of internal/matte/view for all frames, each in planes.
// The program fits the coverage's edges to the picture's, and samples all frames for the
// plate. With -cells it writes the cells instead, after two 32-bit numbers: how many
// there are in a row and in a column.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"image"
	"io"
	"os"

	"github.com/bgremove/bgremove/internal/matte/plate"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

func main() {
	cells := flag.Bool("cells", false, "write cells")
	flag.Parse()
	write := views
	if *cells {
		write = writeCells
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	err := run(bufio.NewReaderSize(os.Stdin, 1<<20), out, write)
	if err = errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "plates:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, write func(io.Writer, []frame) error) error {
	for {
		var head [3]uint32
		if err := binary.Read(in, binary.LittleEndian, &head); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a clip: %w", err)
		}
		frames, err := read(in, int(head[0]), int(head[1]), int(head[2]))
		if err != nil {
			return err
		}
		if err := write(out, frames); err != nil {
			return err
		}
	}
}

// frame is a picture and its matte.
type frame struct {
	picture *image.NRGBA
	matte   *image.Alpha
}

func read(in io.Reader, n, w, h int) ([]frame, error) {
	frames := make([]frame, n)
	whole := image.Rect(0, 0, w, h)
	for i := range frames {
		f := frame{image.NewNRGBA(whole), image.NewAlpha(whole)}
		if _, err := io.ReadFull(in, f.picture.Pix); err != nil {
			return nil, fmt.Errorf("read frame %d: %w", i, err)
		}
		for j := range f.matte.Pix {
			f.matte.Pix[j], f.picture.Pix[4*j+3] = f.picture.Pix[4*j+3], 255
		}
		frames[i] = f
	}
	return frames, nil
}

func views(out io.Writer, frames []frame) error {
	var p plate.Plate
	var fit refine.Upsampler
	for i, f := range frames {
		along := image.NewAlpha(f.matte.Rect)
		fit.Upsample(along, f.picture, f.matte, f.picture)
		frames[i].matte = along
		p.Sample(f.picture, along)
	}
	for _, f := range frames {
		if _, err := out.Write(p.Next(f.picture, f.matte).Pix); err != nil {
			return err
		}
	}
	return nil
}

func writeCells(out io.Writer, frames []frame) (err error) {
	c, err := subject.New("", false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, f := range frames {
		step, err := c.Step(context.Background(), f.picture, true)
		if err != nil {
			return err
		}
		if err := c.Add(step, f.matte, view.Features{}); err != nil {
			return err
		}
	}
	if err := c.Decide(context.Background()); err != nil {
		return err
	}
	for i := range frames {
		v, err := c.Frame(i)
		if err != nil {
			return err
		}
		if i == 0 {
			if err := binary.Write(out, binary.LittleEndian, [2]uint32{uint32(v.W), uint32(v.H)}); err != nil {
				return err
			}
		}
		if _, err := out.Write(v.Pix); err != nil {
			return err
		}
	}
	return nil
}
