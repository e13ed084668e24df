package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bgremove/bgremove/internal/synth/hostile"
)

// ffmpeg makes a clip with a name; the arguments come before the name.
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

// wideGIF has small pictures on a canvas of side×side, 50 per second.
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

// tagged is an MP4 with size bytes of tags.
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

// endless is an MP4 of about 2 kB that claims 64 million samples in each of its
// tracks.
func endless() []byte { return hostile.Samples{Count: 1 << 26, Chunks: 1, Tracks: 4}.MP4() }
