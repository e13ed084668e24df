// Package inspect reads what a picture file, animated or not, says of itself: its size, its
// frames and their times. It shares no code with the writers of APNG and WebP, so that
// it can check them. It decodes no picture.
package inspect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"os"
	"time"

	"golang.org/x/image/webp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
)

// Facts are what a file says of itself.
type Facts struct {
	Container media.Container
	Size      image.Point
	Frames    int
	Duration  time.Duration
	// Shortest is the least time that a frame is shown; it is not known of a GIF.
	Shortest time.Duration
}

var errDamaged = errors.New("the file is damaged")

// File reads a GIF, or a PNG or WebP, animated or not, which it holds in memory.
func File(path string) (Facts, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Facts{}, err
	}
	f := Facts{Container: media.Sniff(data)}
	switch f.Container {
	case media.GIF:
		clip, err := gif.Probe(path, media.Limits{})
		if err != nil {
			return f, err
		}
		info := clip.Info()
		f.Size, f.Frames, f.Duration = image.Pt(info.Width, info.Height), info.Frames, info.Duration
		return f, nil
	case media.PNG:
		return f, f.readPNG(data)
	case media.WebP:
		return f, f.readWebP(data)
	}
	return f, fmt.Errorf("not an animated picture: %q", f.Container)
}

// add counts a frame.
func (f *Facts) add(shown time.Duration) {
	if f.Frames == 0 || shown < f.Shortest {
		f.Shortest = shown
	}
	f.Frames++
	f.Duration += shown
}

// readPNG walks the chunks of an APNG (PNG, third edition, 5.3 and 11.3.6).
func (f *Facts) readPNG(data []byte) error {
	const signature, overhead = 8, 12 // of a chunk: length, type and checksum
	promised, still, ended := 0, false, false
	for rest := data[signature:]; len(rest) >= overhead; {
		size := int(binary.BigEndian.Uint32(rest))
		if size > len(rest)-overhead {
			return errDamaged
		}
		kind, body := string(rest[4:8]), rest[8:8+size]
		rest = rest[overhead+size:]
		switch {
		case kind == "IHDR" && size >= 8:
			f.Size = image.Pt(int(binary.BigEndian.Uint32(body)), int(binary.BigEndian.Uint32(body[4:])))
		case kind == "acTL" && size >= 4:
			promised = int(binary.BigEndian.Uint32(body))
		case kind == "fcTL" && size >= 24:
			num, den := binary.BigEndian.Uint16(body[20:]), binary.BigEndian.Uint16(body[22:])
			if den == 0 {
				den = 100
			}
			f.add(time.Duration(num) * time.Second / time.Duration(den))
		case kind == "IDAT":
			still = promised == 0
		case kind == "IEND":
			ended = len(rest) == 0
		}
	}
	if still && f.Frames == 0 && ended {
		f.Frames = 1
		return nil
	}
	if !ended || promised != f.Frames || f.Frames == 0 {
		return errDamaged
	}
	return nil
}

// readWebP walks the chunks of an animated WebP (Google's "WebP Container
// Specification").
func (f *Facts) readWebP(data []byte) error {
	if int(binary.LittleEndian.Uint32(data[4:]))+8 != len(data) {
		return errDamaged
	}
	for rest := data[12:]; len(rest) > 0; {
		if len(rest) < 8 {
			return errDamaged
		}
		size := int(binary.LittleEndian.Uint32(rest[4:]))
		if size+size&1 > len(rest)-8 {
			return errDamaged
		}
		body := rest[8 : 8+size]
		switch kind := string(rest[:4]); {
		case kind == "VP8X" && size >= 10:
			f.Size = image.Pt(number24(body[4:])+1, number24(body[7:])+1)
		case kind == "ANMF" && size >= 16:
			f.add(time.Duration(number24(body[12:])) * time.Millisecond)
		}
		rest = rest[8+size+size&1:]
	}
	if f.Frames == 0 {
		return f.readStillWebP(data)
	}
	return nil
}

// readStillWebP reads the head of a WebP without an animation.
func (f *Facts) readStillWebP(data []byte) error {
	c, err := webp.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return errDamaged
	}
	f.Size, f.Frames = image.Pt(c.Width, c.Height), 1
	return nil
}

func number24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
