package gif_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/draw"
	stdgif "image/gif"
	"io"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
)

const benchFrames = 24

func reportFrames(b *testing.B) {
	b.ReportMetric(benchFrames*float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkReader composes every frame of a 640x360 clip.
func BenchmarkReader(b *testing.B) {
	data := synthetic(b, benchFrames, 640, 360)
	pool := new(media.Pool)
	b.ReportAllocs()
	for b.Loop() {
		r, err := gif.NewReader(bytes.NewReader(data), media.Limits{}, pool)
		if err != nil {
			b.Fatal(err)
		}
		for {
			f, err := r.Next(context.Background())
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			pool.Put(f.Image)
		}
	}
	reportFrames(b)
}

// BenchmarkScan counts the frames of the same clip.
func BenchmarkScan(b *testing.B) {
	data := synthetic(b, benchFrames, 640, 360)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := gif.Scan(bytes.NewReader(data), media.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
	reportFrames(b)
}

// BenchmarkImageGIF runs the standard library on the same clip, with and
// without composing.
func BenchmarkImageGIF(b *testing.B) {
	data := synthetic(b, benchFrames, 640, 360)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := stdgif.DecodeAll(bytes.NewReader(data)); err != nil {
				b.Fatal(err)
			}
		}
		reportFrames(b)
	})
	b.Run("compose", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g, err := stdgif.DecodeAll(bytes.NewReader(data))
			if err != nil {
				b.Fatal(err)
			}
			canvas := image.NewNRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
			for _, m := range g.Image {
				draw.Draw(canvas, m.Rect, m, m.Rect.Min, draw.Over)
			}
		}
		reportFrames(b)
	})
}
