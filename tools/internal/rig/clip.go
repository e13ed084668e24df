package rig

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"image/gif"
	"io"

	"github.com/bgremove/bgremove/internal/synth"
)

// GIF draws a clip of a noisy subject in front of a green backdrop, 10 frames
// per second.
func GIF(width, height, frames int) ([]byte, error) {
	clip := synth.Clip{Width: width, Height: height, Frames: frames, Backdrop: synth.Green, Subject: synth.Discs}
	g := &gif.GIF{}
	for i := range frames {
		p := clip.Frame(i)
		noisy := synth.Noise(p.Image, 24, uint64(i))
		draw.DrawMask(p.Image, p.Image.Bounds(), noisy, image.Point{}, p.Alpha, image.Point{}, draw.Over)
		picture := image.NewPaletted(p.Image.Bounds(), palette.Plan9)
		draw.Draw(picture, picture.Rect, p.Image, image.Point{}, draw.Src)
		g.Image, g.Delay = append(g.Image, picture), append(g.Delay, 10)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		return nil, fmt.Errorf("draw a clip: %w", err)
	}
	return b.Bytes(), nil
}

// LongGIF is a GIF of at most size bytes that repeats one noisy picture. It is
// generated during the reading.
func LongGIF(size int64) (r io.Reader, length int64, err error) {
	const side = 640
	picture := image.NewPaletted(image.Rect(0, 0, side, side), palette.Plan9)
	grey := image.NewNRGBA(picture.Rect)
	draw.Draw(grey, grey.Rect, image.NewUniform(color.Gray{128}), image.Point{}, draw.Src)
	draw.Draw(picture, picture.Rect, synth.Noise(grey, 127, 1), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{picture}, Delay: []int{2}}); err != nil {
		return nil, 0, fmt.Errorf("draw a clip: %w", err)
	}
	// The header, the screen's size and its palette if a flag announces one.
	header := 13
	if flags := b.Bytes()[10]; flags&0x80 != 0 {
		header += 3 << (flags&7 + 1)
	}
	head, frame, end := b.Bytes()[:header], b.Bytes()[header:b.Len()-1], b.Bytes()[b.Len()-1:]
	n := (size - int64(header) - 1) / int64(len(frame))
	readers := []io.Reader{bytes.NewReader(head)}
	for range n {
		readers = append(readers, bytes.NewReader(frame))
	}
	readers = append(readers, bytes.NewReader(end))
	return io.MultiReader(readers...), int64(header) + n*int64(len(frame)) + 1, nil
}

// ClipForm is a form with a clip that GIF draws.
func ClipForm(width, height, frames int) (Form, error) {
	clip, err := GIF(width, height, frames)
	if err != nil {
		return Form{}, err
	}
	return NewForm(File{Name: "clip.gif", Content: clip})
}
