// Package heif reads the structure of still pictures in HEIF files, AVIF and HEIC:
// where the primary picture, its tiles and its alpha are coded, and how they are
// shown. It decodes no pixels. The formats are those of HEIF (ISO/IEC 23008-12), MIAF
// (23000-22) and "AV1 Image File Format" (AOMedia).
package heif

import (
	"errors"
	"image"
	"io"

	"github.com/bgremove/bgremove/internal/media"
)

// Codec is how a picture is coded, by its type of item.
type Codec string

// The codecs that are read.
const (
	AV1  Codec = "av01"
	HEVC Codec = "hvc1"
)

// Picture is the primary picture of a file. Its colours are decoded and joined with
// the alpha, then cropped, turned and mirrored.
type Picture struct {
	Colours Layer
	Alpha   *Layer // luma, in full range; nil without
	// Premultiplied says that colours have been multiplied by alpha.
	Premultiplied bool
	// Coding is that of the colours, nil where the container does not say.
	Coding *Coding
	Crop   image.Rectangle // the part that is shown
	Turns  int             // quarters, anticlockwise
	Mirror Mirror
}

// Size is that of the picture as it is shown.
func (p *Picture) Size() image.Point {
	size := p.Crop.Size()
	if p.Turns%2 == 1 {
		size.X, size.Y = size.Y, size.X
	}
	return size
}

// Mirror exchanges sides of a picture.
type Mirror string

// The mirrors.
const (
	NoMirror  Mirror = ""
	TopBottom Mirror = "top and bottom"
	LeftRight Mirror = "left and right"
)

// Coding says how colours are coded, by the numbers of ITU-T H.273.
type Coding struct {
	Primaries, Transfer, Matrix int
	Full                        bool // the samples' range
}

// Layer is the colours, or the alpha: tiles of one size, row by row. What they have
// beyond the layer's size is not shown.
type Layer struct {
	Codec         Codec
	Config        []byte // the content of the box av1C or hvcC
	Width, Height int
	Columns, Rows int
	Tile          image.Point // size
	tiles         [][]extent
}

// extent is a part of a file.
type extent struct{ at, length int64 }

// Subsampled reports whether colours are kept at less than their resolution.
func (l *Layer) Subsampled() bool {
	switch {
	case l.Codec == AV1 && len(l.Config) > 2: // chroma_subsampling_x, and not monochrome
		return l.Config[2]&0b1000 != 0 && l.Config[2]&0b10000 == 0
	case l.Codec == HEVC && len(l.Config) > 16: // chroma_format_idc: 4:2:0 or 4:2:2
		format := l.Config[16] & 0b11
		return format == 1 || format == 2
	}
	return false
}

// Count is the number of tiles.
func (l *Layer) Count() int { return len(l.tiles) }

// Read reads a tile of a layer from the file that the layer is of.
func (l *Layer) Read(r io.ReaderAt, tile int) ([]byte, error) {
	size := int64(0)
	for _, e := range l.tiles[tile] {
		size += e.length
	}
	data := make([]byte, 0, size)
	for _, e := range l.tiles[tile] {
		n, err := r.ReadAt(data[len(data):len(data)+int(e.length)], e.at)
		if n < int(e.length) {
			return nil, errors.Join(incomplete, err)
		}
		data = data[:len(data)+n]
	}
	return data, nil
}

var incomplete = &media.UnreadableError{Reason: "the picture is incomplete"}

func damaged(why string) error {
	return &media.UnreadableError{Reason: "the picture is damaged", Err: errors.New(why)}
}

// NotReadError says that a well-formed file has what is not read here.
type NotReadError struct{ Has string }

func (e *NotReadError) Error() string {
	return "an AVIF or HEIC file with " + e.Has + "; bgremove does not read that"
}

// Read reads the structure of a file of a size. The error is a *NotReadError, or a
// *media.UnreadableError for a file that is damaged or incomplete.
func Read(r io.ReaderAt, size int64) (*Picture, error) {
	f, err := readMeta(r, size)
	if err != nil {
		return nil, err
	}
	p := &Picture{Coding: f.coding(f.primary)}
	colours, err := f.layer(f.primary)
	if err != nil {
		return nil, err
	}
	p.Colours = *colours
	if err := f.findAlpha(p); err != nil {
		return nil, err
	}
	return p, f.findTransforms(p)
}
