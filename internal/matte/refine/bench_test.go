package refine_test

import (
	"fmt"
	"image"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte"
	"github.com/bgremove/bgremove/internal/matte/reduce"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/synth"
)

// net is the side of the square that networks take.
const net = 320

// scene is a frame with its small matte; uncertain is the share of 16 × 16
// tiles that the small matte leaves open.
type scene struct {
	img          *image.NRGBA
	small, matte *image.Alpha
	uncertain    float64
}

func newScene(w, h int) scene {
	p := synth.Clip{Width: w, Height: h, Frames: 8, Backdrop: synth.Blue, Subject: synth.Discs}.Frame(1)
	s := scene{img: onto(p, texture(w, h, waves)), small: shrink(p.Alpha, net, net, 1), matte: image.NewAlpha(p.Alpha.Rect)}
	new(refine.Upsampler).Upsample(s.matte, s.img, s.small, nil)
	s.uncertain = openTiles(s.small, w, h)
	return s
}

func bench(b *testing.B, f func(s scene) func()) {
	for _, size := range [][2]int{{640, 360}, {1920, 1080}} {
		b.Run(fmt.Sprintf("%dp", size[1]), func(b *testing.B) {
			s := newScene(size[0], size[1])
			step := f(s)
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
			b.ReportMetric(s.uncertain, "open")
		})
	}
}

func BenchmarkUpsample(b *testing.B) {
	bench(b, func(s scene) func() {
		var u refine.Upsampler
		return func() { u.Upsample(s.matte, s.img, s.small, nil) }
	})
}

func BenchmarkDecontaminate(b *testing.B) {
	bench(b, func(s scene) func() {
		var f refine.Foreground
		return func() { f.Decontaminate(s.img, s.matte) }
	})
}

// BenchmarkFrame is all that is done before and after the network but for its
// tensors: the picture it sees, its matte at full size, the colour of edges,
// and alpha multiplied as the pipeline does. Each time it gets a fresh copy of
// the frame, which is not counted.
func BenchmarkFrame(b *testing.B) {
	bench(b, func(s scene) func() {
		var u refine.Upsampler
		var f refine.Foreground
		dst := image.NewNRGBA(image.Rect(0, 0, net, net))
		scaler := reduce.New(s.img.Rect.Size(), dst.Rect.Size())
		img := *s.img
		img.Pix = slices.Clone(s.img.Pix)
		return func() {
			b.StopTimer()
			copy(img.Pix, s.img.Pix)
			b.StartTimer()
			scaler.Draw(dst, &img)
			u.Upsample(s.matte, &img, s.small, dst)
			f.Decontaminate(&img, s.matte)
			matte.Multiply(&img, s.matte)
		}
	})
}

func BenchmarkStabilise(b *testing.B) {
	bench(b, func(s scene) func() {
		var st refine.Stabiliser
		p := synth.Clip{Width: s.img.Rect.Dx(), Height: s.img.Rect.Dy(), Frames: 96, Backdrop: synth.Blue, Subject: synth.Discs}
		p0, p1 := p.Frame(0), p.Frame(1)
		i := 0
		return func() {
			if i++; i%2 == 0 {
				st.Apply(p0.Image, p0.Alpha)
			} else {
				st.Apply(p1.Image, p1.Alpha)
			}
		}
	})
}
