// Package picture reads still pictures (PNG, JPEG and WebP) as clips of one frame,
// and clips that are painted of pictures, one over the other.
package picture

import (
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	_ "image/jpeg" // the pictures that are read
	_ "image/png"
	"io"
	"math"

	"golang.org/x/image/webp"

	"github.com/bgremove/bgremove/internal/media"
)

// Config is what a picture's head says.
type Config struct {
	Kind          media.Container // PNG, JPEG or WebP
	Width, Height int             // upright
	HasAlpha      bool            // it may be transparent
	Subsampled    bool            // colour may be kept at less than its resolution
	orientation   orientation
}

// ReadConfig reads a picture's head. A picture beyond the limits is a
// *media.LimitError, one that cannot be read a *media.UnreadableError.
func ReadConfig(r io.ReadSeeker, l media.Limits) (Config, error) {
	c, kind, err := image.DecodeConfig(r)
	if err != nil {
		return Config{}, unreadable(err)
	}
	if c.Width < 1 || c.Height < 1 {
		return Config{}, unreadable(errors.New("it has no size"))
	}
	if err := l.CheckPicture(c.Width, c.Height); err != nil {
		return Config{}, err
	}
	turned, err := readOrientation(r, media.Container(kind))
	if err != nil {
		return Config{}, err
	}
	out := Config{Kind: media.Container(kind), Width: c.Width, Height: c.Height, HasAlpha: hasAlpha(c.ColorModel), orientation: turned,
		Subsampled: c.ColorModel == color.YCbCrModel || c.ColorModel == color.NYCbCrAModel}
	if turned.swaps() {
		out.Width, out.Height = c.Height, c.Width
	}
	if out.Kind == media.PNG && !out.HasAlpha {
		out.HasAlpha, err = clearColour(r)
	}
	return out, err
}

// clearColour reports whether a PNG of grey or RGB has a colour that is transparent (PNG, third
// edition, 11.3.1.1).
func clearColour(r io.ReadSeeker) (bool, error) {
	data, err := findChunk(r, 8, "tRNS", "IDAT", binary.BigEndian)
	if err != nil && !incomplete(err) {
		return false, err
	}
	return len(data) > 0, nil
}

// hasAlpha reports whether pictures of a colour model may be transparent.
func hasAlpha(m color.Model) bool {
	if p, ok := m.(color.Palette); ok {
		for _, c := range p {
			if _, _, _, a := c.RGBA(); a != math.MaxUint16 {
				return true
			}
		}
		return false
	}
	return m == color.NRGBAModel || m == color.NRGBA64Model || m == color.NYCbCrAModel
}

// incomplete reports whether a file ends too early.
func incomplete(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

func unreadable(err error) error {
	if incomplete(err) {
		return &media.UnreadableError{Reason: "the picture is incomplete"}
	}
	return &media.UnreadableError{Reason: "the picture cannot be read", Err: err}
}

// Decode reads a picture, upright, with straight alpha. The errors are those of
// ReadConfig: limits are checked before there is memory for the pixels.
func Decode(r io.ReadSeeker, l media.Limits) (*image.NRGBA, error) {
	c, err := ReadConfig(r, l)
	if err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	img, kind, err := image.Decode(r)
	if err != nil {
		return nil, unreadable(err)
	}
	if kind == string(media.WebP) {
		fullRange(img)
	}
	return c.orientation.apply(Straight(img)), nil
}

// DecodeWebP reads the file of a still WebP as it is stored, for the frames of an
// animation.
func DecodeWebP(r io.Reader) (*image.NRGBA, error) {
	img, err := webp.Decode(r)
	if err != nil {
		return nil, err
	}
	fullRange(img)
	return Straight(img), nil
}

// fullRange spreads the video levels of a lossy WebP, in place: the decoder passes
// them on as if they were a JPEG's, which use all 256 levels.
func fullRange(img image.Image) {
	var p *image.YCbCr
	switch img := img.(type) {
	case *image.YCbCr:
		p = img
	case *image.NYCbCrA:
		p = &img.YCbCr
	default:
		return
	}
	spread := func(pix []uint8, from, to, levels float64) {
		var table [256]uint8
		for v := range table {
			table[v] = uint8(min(max((float64(v)-from)*255/levels+to+0.5, 0), 255))
		}
		for i, v := range pix {
			pix[i] = table[v]
		}
	}
	spread(p.Y, 16, 0, 219)
	spread(p.Cb, 128, 128, 224)
	spread(p.Cr, 128, 128, 224)
}
