package ffmpeg

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bgremove/bgremove/internal/media/ffmpeg/ffmpeggo"
	"github.com/bgremove/bgremove/pkg/option"
)

// Stills encodes pictures of one size as WebP, each by itself, by one ffmpeg
// child. One goroutine writes pictures, and another reads their files in the same
// order: the child does not read on while nobody reads.
type Stills struct {
	child *process
	in    io.WriteCloser
	out   io.ReadCloser
	size  int // of a picture in bytes
}

// NewStills starts a child for pictures of a size. Quality is 1 to 100, which is
// lossless; 0 means option.QualityWebP.
func (t *Tools) NewStills(ctx context.Context, width, height, quality int) (*Stills, error) {
	s := &Stills{size: 4 * width * height}
	s.child = t.command(ctx, "encode webp", t.FFmpeg, stillArgs(width, height, quality), files{})
	s.child.cmd.Env = append(s.child.cmd.Env, keepMemory...)
	var err error
	if s.in, err = s.child.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if s.out, err = s.child.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	enlargePipe(s.in)
	return s, s.child.start()
}

// keepMemory makes glibc keep memory that the encoder frees after a picture and needs
// again for the next. New pages from the system took a fifth of its time.
var keepMemory = []string{"MALLOC_TRIM_THRESHOLD_=536870912", "MALLOC_MMAP_THRESHOLD_=536870912"}

// stillArgs are the command line of a child that reads BGRA, which the encoder
// takes as it is, and writes files one after the other.
func stillArgs(width, height, quality int) []string {
	in := ffmpeggo.KwArgs{"f": "rawvideo", "pixel_format": "bgra", "protocol_whitelist": "pipe",
		"video_size": fmt.Sprintf("%dx%d", width, height)}
	out := ffmpeggo.KwArgs{"f": "image2pipe", "c:v": "libwebp", "fps_mode": "passthrough", "flush_packets": "1"}
	if quality = cmp.Or(quality, option.QualityWebP); quality == option.Quality.Max {
		out["lossless"] = "1"
	} else {
		// One level below libwebp's default: the same size and PSNR in five sixths of the time.
		out["quality"], out["compression_level"] = strconv.Itoa(quality), "3"
	}
	return ffmpeggo.Output([]*ffmpeggo.Stream{ffmpeggo.Input("pipe:0", in).Video()}, "pipe:1", out).
		GlobalArgs(quiet...).GetArgs()
}

// Write takes a picture of blue, green, red and straight alpha, without gaps.
func (s *Stills) Write(bgra []byte) error {
	if len(bgra) != s.size {
		return fmt.Errorf("encode webp: a picture of %d bytes, want %d", len(bgra), s.size)
	}
	if _, err := s.in.Write(bgra); err != nil {
		return s.child.writeError(err)
	}
	return nil
}

// End says that no picture follows.
func (s *Stills) End() error { return s.in.Close() }

// maxStill bounds the file of a picture, in bytes.
const maxStill = 1 << 30

// Read returns the next picture's file. After the last one it waits for the
// child, and returns io.EOF if that has ended well.
func (s *Stills) Read() ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(s.out, head[:]); err != nil {
		return nil, s.endError(err)
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if string(head[:4]) != "RIFF" || size > maxStill {
		return nil, fmt.Errorf("encode webp: not a WebP file: %q", head)
	}
	file := bytes.NewBuffer(head[:]) // grows with the received bytes, whatever the header promises
	if _, err := io.CopyN(file, s.out, int64(size)); err != nil {
		return nil, s.endError(io.ErrUnexpectedEOF)
	}
	return file.Bytes(), nil
}

// endError explains the end of the output by the child's.
func (s *Stills) endError(err error) error {
	if exit := s.child.finish(); exit != nil {
		return exit
	}
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return fmt.Errorf("encode webp: %w", err)
}

// Kill ends the child at once and waits for it.
func (s *Stills) Kill() {
	s.child.kill()
	_ = s.child.wait() // killed on purpose
}
