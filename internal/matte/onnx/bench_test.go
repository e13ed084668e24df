package onnx_test

import (
	"fmt"
	"image"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/network/model"
)

// BenchmarkNetwork tells how to share the cores: threads for one inference
// against inferences at once, in one network or in several.
func BenchmarkNetwork(b *testing.B) {
	img := block(640, 360, image.Rect(100, 50, 300, 300))
	for _, tt := range []struct{ threads, sessions, networks int }{
		{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {2, 2, 1}, {4, 1, 1}, {4, 2, 1}, {4, 4, 1}, {8, 2, 1},
	} {
		b.Run(fmt.Sprintf("threads=%d/sessions=%d/networks=%d", tt.threads, tt.sessions, tt.networks), func(b *testing.B) {
			var list []*onnx.Network
			for range tt.networks {
				n := open(b, "unet", func(c *onnx.Config) { c.Threads, c.Sessions = tt.threads, tt.sessions })
				if _, err := n.Matte(b.Context(), img); err != nil {
					b.Fatal(err)
				}
				list = append(list, n)
			}
			b.ReportAllocs()
			frames := 0
			for b.Loop() {
				// One round is eight frames, so that each number of workers ends even.
				g, ctx := errgroup.WithContext(b.Context())
				g.SetLimit(tt.sessions * tt.networks)
				for i := range 8 {
					g.Go(func() error {
						_, err := list[i%len(list)].Matte(ctx, img)
						return err
					})
				}
				if err := g.Wait(); err != nil {
					b.Fatal(err)
				}
				frames += 8
			}
			b.ReportMetric(float64(frames)/b.Elapsed().Seconds(), "frames/s")
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(frames), "ms/frame")
		})
	}
}

// BenchmarkAround measures what is done around a network that does next to
// nothing, and so pre- and post-processing with the crossing to C.
func BenchmarkAround(b *testing.B) {
	for _, size := range [][2]int{{320, 320}, {640, 360}, {1920, 1080}} {
		for _, side := range []int{320, 1024} {
			b.Run(fmt.Sprintf("%dp/%d", size[1], side), func(b *testing.B) {
				n := open(b, "logits", spec(model.Spec{
					Input:  model.Input{Width: side, Height: side, Mean: [3]float32{.5, .5, .5}},
					Output: model.Output{Sigmoid: true},
				}))
				c := n.NewClip(onnx.ClipOptions{NoReuse: true})
				img := block(size[0], size[1], image.Rect(20, 20, 200, 200))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Estimate(b.Context(), img); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
			})
		}
	}
}

// BenchmarkReuse measures a frame that repeats.
func BenchmarkReuse(b *testing.B) {
	c := open(b, "unet").NewClip(onnx.ClipOptions{})
	img := block(1920, 1080, image.Rect(20, 20, 200, 200))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Estimate(b.Context(), img); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

// BenchmarkRecurrent measures tensors of full size going in and out.
func BenchmarkRecurrent(b *testing.B) {
	for _, net := range []string{"averager", "averager16"} {
		b.Run(net, func(b *testing.B) {
			c := open(b, net).NewClip(onnx.ClipOptions{NoReuse: true})
			img := block(1920, 1080, image.Rect(20, 20, 200, 200))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Estimate(b.Context(), img); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}
