//go:build linux && cgo

package main

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/synth"
)

const frameTime = time.Second / 25

// turn is the number of different pictures in a clip, because drawing is slow.
const turn = 50

// backdrop is the green that the networks of testdata recognise.
var backdrop = color.NRGBA{0, 177, 64, 255}

// clip writes a synthetic clip as H.264: shaded discs that move in front of
// green.
func (b *bench) clip(ctx context.Context, width, height, frames int) (path string, err error) {
	path = b.path(fmt.Sprintf("%dx%d-%d.mp4", width, height, frames))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	pool := new(media.Pool)
	sink, err := b.tools.NewSink(ctx, path, ffmpeg.SinkOptions{
		Format: ffmpeg.MP4, Width: width, Height: height, Opaque: true, End: time.Duration(frames) * frameTime, Pool: pool,
	})
	if err != nil {
		return "", err
	}
	drawing := synth.Clip{Width: width, Height: height, Frames: turn, Backdrop: backdrop, Subject: synth.Discs}
	var pictures [turn][]uint8
	for i := range frames {
		if pictures[i%turn] == nil {
			pictures[i%turn] = drawing.Frame(i).Image.Pix
		}
		img := pool.Get(width, height)
		copy(img.Pix, pictures[i%turn])
		f := &media.Frame{Image: img, PTS: time.Duration(i) * frameTime, Duration: frameTime}
		if err := sink.Write(ctx, f); err != nil {
			sink.Abort()
			return "", err
		}
	}
	return path, sink.Close()
}
