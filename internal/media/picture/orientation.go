package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"

	"github.com/bgremove/bgremove/internal/media"
)

// orientation is the value of EXIF's tag 0x0112 (CIPA DC-008, 4.6.5.1.6): which
// sides of the shown picture the stored rows and columns are. 0 and 1 are upright.
type orientation int

// swaps reports whether rows become columns.
func (o orientation) swaps() bool { return o >= 5 && o <= 8 }

// apply returns the picture upright.
func (o orientation) apply(img *image.NRGBA) *image.NRGBA {
	if o <= 1 || o > 8 {
		return img
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	if o.swaps() {
		out = image.NewNRGBA(image.Rect(0, 0, h, w))
	}
	// start is where the stored first pixel goes; along is the way of a row.
	width, height := out.Rect.Dx(), out.Rect.Dy()
	right, down := 4, 4*width
	last := 4 * (width - 1)
	bottom := 4 * width * (height - 1)
	way := [...]struct{ start, along, next int }{
		2: {last, -right, down}, 3: {last + bottom, -right, -down}, 4: {bottom, right, -down},
		5: {0, down, right}, 6: {last, down, -right}, 7: {last + bottom, -down, -right}, 8: {bottom, -down, right},
	}[o]
	for y := range h {
		to := way.start + y*way.next
		for row := img.Pix[y*img.Stride:][:4*w]; len(row) > 0; row = row[4:] {
			copy(out.Pix[to:to+4], row)
			to += way.along
		}
	}
	return out
}

// maxExif bounds the metadata that is read, in bytes: JPEG's has at most 64 kB.
const maxExif = 1 << 20

// readOrientation finds the EXIF data of a picture. Missing or senseless data is
// upright; the error is one of reading.
func readOrientation(r io.ReadSeeker, kind media.Container) (orientation, error) {
	var exif []byte
	var err error
	switch kind {
	case media.JPEG:
		exif, err = jpegExif(r)
	case media.PNG:
		exif, err = findChunk(r, 8, "eXIf", "IEND", binary.BigEndian)
	case media.WebP:
		exif, err = findChunk(r, 12, "EXIF", "", binary.LittleEndian)
	}
	if err != nil && !incomplete(err) {
		return 0, err
	}
	return parseExif(bytes.TrimPrefix(exif, []byte("Exif\x00\x00"))), nil
}

// jpegExif walks over the segments before the picture's data (ITU-T T.81, B.1.1).
func jpegExif(r io.ReadSeeker) ([]byte, error) {
	if _, err := r.Seek(2, io.SeekStart); err != nil {
		return nil, err
	}
	for {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, err
		}
		size := int64(binary.BigEndian.Uint16(head[2:])) - 2
		const app1, startOfScan = 0xE1, 0xDA
		switch {
		case head[0] != 0xFF || head[1] == startOfScan || size < 0:
			return nil, nil
		case head[1] == app1:
			data := make([]byte, size)
			if _, err := io.ReadFull(r, data); err != nil {
				return nil, err
			}
			if exif, ok := bytes.CutPrefix(data, []byte("Exif\x00\x00")); ok {
				return exif, nil
			}
			continue
		}
		if _, err := r.Seek(size, io.SeekCurrent); err != nil {
			return nil, err
		}
	}
}

// maxChunks bounds the walk over a file's chunks.
const maxChunks = 10_000

// findChunk is the data of the first chunk of a name in a PNG or WebP, nil if there is none
// before the last. They differ in the order of the chunks' heads: a PNG's has the size first,
// and a checksum behind the data.
func findChunk(r io.ReadSeeker, at int64, name, last string, order binary.ByteOrder) ([]byte, error) {
	for range maxChunks {
		if _, err := r.Seek(at, io.SeekStart); err != nil {
			return nil, err
		}
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil, err
		}
		kind, size, around := string(head[:4]), int64(order.Uint32(head[4:])), int64(8)
		if order == binary.ByteOrder(binary.BigEndian) {
			kind, size, around = string(head[4:]), int64(order.Uint32(head[:])), 12
		} else {
			around += size & 1
		}
		if kind == name && size <= maxExif {
			data := make([]byte, size)
			_, err := io.ReadFull(r, data)
			return data, err
		}
		if kind == last {
			return nil, nil
		}
		at += size + around
	}
	return nil, nil
}

// parseExif finds the orientation in the first directory of EXIF data, which are a
// TIFF file (TIFF 6.0, section 2).
func parseExif(b []byte) orientation {
	if len(b) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(b[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return 0
	}
	entries := b[at+2:]
	for range order.Uint16(b[at:]) {
		if len(entries) < 12 {
			return 0
		}
		const tag, short = 0x0112, 3
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short {
			return orientation(order.Uint16(entries[8:]))
		}
		entries = entries[12:]
	}
	return 0
}
