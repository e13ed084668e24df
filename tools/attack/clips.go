package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ffmpeg makes a clip of that name, by arguments that come before it.
func (t *target) ffmpeg(ctx context.Context, name string, args ...string) ([]byte, error) {
	dir, err := os.MkdirTemp(t.rig.Dir, "clip-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, name)
	args = append([]string{"-nostdin", "-loglevel", "error"}, args...)
	if out, err := exec.CommandContext(ctx, "ffmpeg", append(args, path)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ffmpeg: %w: %s", err, out)
	}
	return os.ReadFile(path)
}

// pattern is the input of ffmpeg for a clip of one second.
func pattern(side, rate int) []string {
	return []string{"-f", "lavfi", "-i", fmt.Sprintf("testsrc2=size=%dx%d:rate=%d:duration=1", side, side, rate)}
}

// lateBlock is a Matroska cluster of one block, shown at so many milliseconds.
func lateBlock(at uint64) []byte {
	cluster := binary.BigEndian.AppendUint64([]byte("\x1f\x43\xb6\x75\x91\xe7\x88"), at)
	return append(cluster, "\xa3\x85\x81\x00\x00\x80\x00"...)
}

// wideGIF has small pictures on a canvas of side×side, 50 a second.
func wideGIF(side, frames int) ([]byte, error) {
	g := &gif.GIF{Config: image.Config{Width: side, Height: side}}
	dot := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black, color.White})
	for range frames {
		g.Image, g.Delay = append(g.Image, dot), append(g.Delay, 2)
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, g)
	return b.Bytes(), err
}

// tagged is an MP4 with so many bytes of tags.
func (t *target) tagged(ctx context.Context, size int) ([]byte, error) {
	const one = 1 << 20
	var tags strings.Builder
	tags.WriteString(";FFMETADATA1\n")
	for i := range size / one {
		fmt.Fprintf(&tags, "tag%d=%s\n", i, strings.Repeat("x", one))
	}
	path := filepath.Join(t.rig.Dir, "tags")
	if err := os.WriteFile(path, []byte(tags.String()), 0o600); err != nil {
		return nil, err
	}
	return t.ffmpeg(ctx, "tags.mp4", append(pattern(64, 25), "-i", path, "-map_metadata", "1", "-movflags", "use_metadata_tags")...)
}

// box is an ISO box.
func box(kind string, content ...[]byte) []byte {
	body := bytes.Join(content, nil)
	return append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), append([]byte(kind), body...)...)
}

func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// endless is an MP4 of some hundred bytes that says it has count samples in
// each of its tracks.
func endless(count uint32, tracks int) []byte {
	matrix := words(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
	entry := bytes.Join([][]byte{words(0, 1, 0, 0, 0, 0, 64<<16|64, 72<<16, 72<<16, 0, 1<<16), make([]byte, 30), words(24<<16 | 0xffff)}, nil)
	stbl := box("stbl", box("stsd", words(0, 1), box("raw ", entry)), box("stts", words(0, 1, count, 1)),
		box("stsc", words(0, 1, 1, count, 1)), box("stsz", words(0, 1, count)), box("stco", words(0, 1, 0)))
	minf := box("minf", box("vmhd", words(1, 0, 0)), box("dinf", box("dref", words(0, 1), box("url ", words(1)))), stbl)
	mdia := box("mdia", box("mdhd", words(0, 0, 0, 1000, count, 0)), box("hdlr", words(0, 0), []byte("vide"), make([]byte, 13)), minf)
	moov := [][]byte{box("mvhd", words(0, 0, 0, 1000, count, 0x10000, 0x1000000, 0, 0), matrix, make([]byte, 24), words(uint32(tracks)+1))}
	for n := range uint32(tracks) {
		tkhd := box("tkhd", words(7, 0, 0, n+1, 0, count, 0, 0, 0, 0), matrix, words(64<<16, 64<<16))
		moov = append(moov, box("trak", tkhd, mdia))
	}
	return append(box("ftyp", []byte("isom"), words(512), []byte("isom")), box("moov", moov...)...)
}
