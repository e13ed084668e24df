package webp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/picture"
	"github.com/bgremove/bgremove/internal/media/yuv"
)

// disposed is the flag of ANMF of a frame that is taken away after it was shown.
const disposed = 0x01

// maxChunks bounds the chunks beside frames that are read.
const maxChunks = 10_000

// Probe reads the structure of an animated WebP: no picture is decoded. The
// background colour is not used, as in browsers: the canvas begins transparent. A
// file that is not right is a *media.UnreadableError, one beyond l a *media.LimitError.
func Probe(path string, l media.Limits) (*picture.Animation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s, err := scan(f, stat.Size(), l)
	if err != nil {
		return nil, err
	}
	s.info.Truncated = s.info.Truncated || media.Truncated(f, stat.Size(), media.WebP)
	return picture.NewAnimation(path, s.info, s.parts, decodePart), nil
}

// scanned is what is known of a file so far.
type scanned struct {
	info   media.Info
	canvas image.Rectangle
	parts  []picture.Part
	limits media.Limits
}

func malformed(format string, args ...any) error {
	return &media.UnreadableError{Reason: "the WebP is malformed: " + fmt.Sprintf(format, args...)}
}

// minFile is the least size that the head of a file can say. One that is being written says
// less.
const minFile = 12

// scan walks over the chunks of a file. A cut file has the frames that are whole.
func scan(r io.ReaderAt, size int64, l media.Limits) (*scanned, error) {
	s := &scanned{info: media.Info{Container: media.WebP, Codec: "webp"}, limits: l}
	whole, err := readChunk(r, 0)
	if err != nil {
		return nil, err
	}
	if whole.size >= minFile {
		size = min(size, whole.end()) // what follows is no part of it
	}
	others := 0
	for at := int64(12); at < size; {
		c, err := readChunk(r, at)
		if err != nil {
			return nil, err
		}
		if c.end() > size {
			s.info.Truncated = true
			break
		}
		if err := s.add(r, c); err != nil {
			return nil, err
		}
		if others++; others-len(s.parts) > maxChunks {
			return nil, malformed("it has too many chunks")
		}
		at = c.end() + c.size&1
	}
	if len(s.parts) == 0 {
		return nil, &media.UnreadableError{Reason: "the WebP has no whole frame"}
	}
	return s, nil
}

// storedChunk is a chunk of a file.
type storedChunk struct {
	kind     string
	at, size int64  // of its data
	head     []byte // the first of them
}

func (c storedChunk) end() int64 { return c.at + c.size }

// frameHead is the length of what ANMF has before the picture.
const frameHead = 16

// readChunk reads the head of the chunk at an offset, and the first bytes of its
// data. The rest of a cut file is a chunk that reaches beyond it.
func readChunk(r io.ReaderAt, at int64) (storedChunk, error) {
	var b [8 + frameHead]byte
	n, err := r.ReadAt(b[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return storedChunk{}, err
	}
	c := storedChunk{kind: string(b[:4]), at: at + 8, size: int64(binary.LittleEndian.Uint32(b[4:]))}
	if n < 8 {
		return c, nil
	}
	c.head = b[8:min(int64(n), 8+c.size)]
	return c, nil
}

func (s *scanned) add(r io.ReaderAt, c storedChunk) error {
	switch c.kind {
	case "VP8X":
		if len(c.head) < 10 || s.info.Width > 0 {
			return malformed("the chunk VP8X")
		}
		s.info.HasAlpha = c.head[0]&hasAlpha != 0
		s.info.Width, s.info.Height = number24(c.head[4:])+1, number24(c.head[7:])+1
		s.canvas = image.Rect(0, 0, s.info.Width, s.info.Height)
		return s.limits.CheckPicture(s.info.Width, s.info.Height)
	case "ANIM":
		if len(c.head) < 6 {
			return malformed("the chunk ANIM")
		}
		s.info.Plays = int(binary.LittleEndian.Uint16(c.head[4:]))
	case "ANMF":
		return s.addFrame(r, c)
	}
	return nil
}

func (s *scanned) addFrame(r io.ReaderAt, c storedChunk) error {
	if len(c.head) < frameHead || s.info.Width == 0 {
		return malformed("frame %d", len(s.parts)+1)
	}
	at := image.Pt(2*number24(c.head), 2*number24(c.head[3:]))
	p := picture.Part{
		Rect:  image.Rectangle{Min: at, Max: at.Add(image.Pt(number24(c.head[6:])+1, number24(c.head[9:])+1))},
		Delay: time.Duration(number24(c.head[12:])) * time.Millisecond, Over: c.head[15]&noBlend == 0,
		Offset: c.at + frameHead, Size: c.size - frameHead,
	}
	if c.head[15]&disposed != 0 {
		p.Dispose = picture.Clear
	}
	if err := picture.CheckParts(s.parts, p, s.canvas, s.limits); err != nil {
		return err
	}
	if len(s.parts) == 0 {
		first, err := readChunk(r, p.Offset)
		if err != nil {
			return err
		}
		if first.kind != "VP8L" { // which keeps colour at its full resolution
			s.info.Luma = yuv.BT601.Weights()
		}
	}
	s.parts = append(s.parts, p)
	return nil
}

func number24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// decodePart reads a frame's picture, as a still file that says its size: the decoder
// refuses one of another size before there is memory for it.
func decodePart(r io.ReaderAt, p picture.Part) (*image.NRGBA, error) {
	file := make([]byte, p.Size)
	if _, err := r.ReadAt(file, p.Offset); err != nil {
		return nil, err
	}
	flags := uint32(0)
	if bytes.HasPrefix(file, []byte("ALPH")) {
		flags = hasAlpha
	}
	extended := binary.LittleEndian.AppendUint32(nil, flags)
	extended = append24(append24(extended, p.Rect.Dx()-1), p.Rect.Dy()-1)
	body := append([]byte("WEBP"), chunk("VP8X", extended)...)
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(int64(len(body))+p.Size))
	return picture.DecodeWebP(io.MultiReader(bytes.NewReader(head), bytes.NewReader(body), bytes.NewReader(file)))
}
