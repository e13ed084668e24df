// Command plates writes the views of internal/matte/plate for training. It reads
// clips from standard input. Each begins with three 32-bit numbers, little-endian:
// frames, width and height. The frames follow with four bytes a pixel: red, green,
// blue and the coverage. The program fits the coverage's edges to the picture's.
// For each clip it writes the views of all frames, each in planes, with all frames
// as samples.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"os"

	"github.com/bgremove/bgremove/internal/matte/plate"
	"github.com/bgremove/bgremove/internal/matte/refine"
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

func clip(in io.Reader, out io.Writer, n, w, h int) error {
	var p plate.Plate
	var fit refine.Upsampler
	frames := make([]frame, n)
	for i := range frames {
		whole := image.Rect(0, 0, w, h)
		f, m := frame{image.NewNRGBA(whole), image.NewAlpha(whole)}, image.NewAlpha(whole)
		if _, err := io.ReadFull(in, f.picture.Pix); err != nil {
			return fmt.Errorf("read frame %d: %w", i, err)
		}
		for j := range m.Pix {
			m.Pix[j], f.picture.Pix[4*j+3] = f.picture.Pix[4*j+3], 255
		}
		fit.Upsample(f.matte, f.picture, m, f.picture)
		frames[i] = f
	}
	for _, f := range frames {
		p.Sample(f.picture, f.matte)
	}
	for _, f := range frames {
		if _, err := out.Write(p.Next(f.picture, f.matte).Pix); err != nil {
			return err
		}
	}
	return nil
}
