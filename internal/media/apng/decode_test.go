package apng_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// picture is a composed frame of a decoded animation.
type picture struct {
	Image    *image.NRGBA
	Num, Den uint16
}

// animation is the result of decode.
type animation struct {
	Frames, Plays int // from acTL
	Pictures      []picture
	At            []image.Rectangle // the painted area of each picture
	Blends        []byte
}

type chunk struct {
	kind string
	data []byte
}

// chunks splits a PNG and checks lengths and checksums.
func chunks(b []byte) ([]chunk, error) {
	if !bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) {
		return nil, fmt.Errorf("no signature")
	}
	var list []chunk
	for b = b[8:]; len(b) > 0; {
		if len(b) < 12 || len(b) < 12+int(binary.BigEndian.Uint32(b)) {
			return nil, fmt.Errorf("chunk %d is cut", len(list))
		}
		n := int(binary.BigEndian.Uint32(b))
		if crc32.ChecksumIEEE(b[4:8+n]) != binary.BigEndian.Uint32(b[8+n:]) {
			return nil, fmt.Errorf("chunk %d %q: wrong CRC", len(list), b[4:8])
		}
		list = append(list, chunk{string(b[4:8]), b[8 : 8+n]})
		b = b[12+n:]
	}
	if len(list) == 0 || list[0].kind != "IHDR" || list[len(list)-1].kind != "IEND" {
		return nil, fmt.Errorf("no IHDR or IEND")
	}
	return list, nil
}

// decode is a small and strict reader of APNG. It refuses colour under alpha 0,
// even where composing would hide it. It wraps each picture as a single one,
// and image/png decodes the pixels.
func decode(b []byte) (*animation, error) {
	list, err := chunks(b)
	if err != nil {
		return nil, err
	}
	if len(list) < 2 || list[1].kind != "acTL" {
		return nil, fmt.Errorf("no acTL behind IHDR")
	}
	a := &animation{
		Frames: int(binary.BigEndian.Uint32(list[1].data)),
		Plays:  int(binary.BigEndian.Uint32(list[1].data[4:])),
	}
	ihdr := list[0].data
	canvas := image.NewNRGBA(image.Rect(0, 0,
		int(binary.BigEndian.Uint32(ihdr)), int(binary.BigEndian.Uint32(ihdr[4:]))))
	var seq uint32
	for i := 2; i < len(list)-1; i++ {
		fc := list[i].data
		if list[i].kind != "fcTL" || binary.BigEndian.Uint32(fc) != seq {
			return nil, fmt.Errorf("chunk %d is %q, want fcTL number %d", i, list[i].kind, seq)
		}
		seq++
		var data []byte
		for ; i+1 < len(list) && (list[i+1].kind == "IDAT" || list[i+1].kind == "fdAT"); i++ {
			next := list[i+1]
			if (next.kind == "IDAT") != (len(a.Pictures) == 0) {
				return nil, fmt.Errorf("%s in frame %d", next.kind, len(a.Pictures))
			}
			if next.kind == "fdAT" {
				if binary.BigEndian.Uint32(next.data) != seq {
					return nil, fmt.Errorf("fdAT number %d, want %d", binary.BigEndian.Uint32(next.data), seq)
				}
				seq++
				next.data = next.data[4:]
			}
			data = append(data, next.data...)
		}
		if err := a.paint(canvas, ihdr, fc, data); err != nil {
			return nil, fmt.Errorf("frame %d: %w", len(a.Pictures), err)
		}
	}
	return a, nil
}

// paint decodes a frame's data and composes it onto canvas.
func (a *animation) paint(canvas *image.NRGBA, ihdr, fc, data []byte) error {
	u := func(at int) int { return int(binary.BigEndian.Uint32(fc[at:])) }
	size := image.Rect(0, 0, u(4), u(8))
	at := size.Add(image.Pt(u(12), u(16)))
	if size.Empty() || !at.In(canvas.Rect) || len(a.Pictures) == 0 && at != canvas.Rect {
		return fmt.Errorf("rectangle %v outside %v", at, canvas.Rect)
	}
	single := append([]byte(nil), ihdr...)
	copy(single, fc[4:12])
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	for _, c := range []chunk{{"IHDR", single}, {"IDAT", data}, {"IEND", nil}} {
		body := append([]byte(c.kind), c.data...)
		_ = binary.Write(&b, binary.BigEndian, uint32(len(c.data)))
		b.Write(body)
		_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(body))
	}
	decoded, err := png.Decode(&b)
	if err != nil {
		return err
	}
	src, ok := decoded.(*image.NRGBA)
	if !ok {
		src = image.NewNRGBA(size)
		draw.Draw(src, size, decoded, image.Point{}, draw.Src)
	}
	if fc[24] != 0 || fc[25] > 1 {
		return fmt.Errorf("dispose %d, blend %d", fc[24], fc[25])
	}
	for y := range size.Max.Y {
		for x := range size.Max.X {
			c := src.NRGBAAt(x, y)
			if c.A == 0 && c != (color.NRGBA{}) {
				return fmt.Errorf("colour %v under alpha 0 at %d,%d", c, x, y)
			}
			if fc[25] == 1 {
				over(canvas, at.Min.X+x, at.Min.Y+y, c)
			} else {
				canvas.SetNRGBA(at.Min.X+x, at.Min.Y+y, c)
			}
		}
	}
	a.Pictures = append(a.Pictures, picture{
		clone(canvas), binary.BigEndian.Uint16(fc[20:]), binary.BigEndian.Uint16(fc[22:]),
	})
	a.At = append(a.At, at)
	a.Blends = append(a.Blends, fc[25])
	return nil
}
