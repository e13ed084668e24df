package gif_test

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// clip is a test animation of one size, 4 centiseconds a frame.
type clip struct {
	name   string
	frames []*image.NRGBA
}

// syntheticClip draws shaded discs with soft edges that move over a transparent
// background, thin strokes on them, a gradient, and some noise.
func syntheticClip(width, height, frames int) clip {
	c := clip{name: "synthetic"}
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]int, 1<<12)
	for i := range noise {
		noise[i] = rng.IntN(5) - 2
	}
	for f := range frames {
		img := image.NewNRGBA(image.Rect(0, 0, width, height))
		t := float64(f) / float64(frames)
		for d := range 4 {
			phase := 2 * math.Pi * (t + float64(d)/4)
			cx := float64(width) * (0.5 + 0.33*math.Cos(phase))
			cy := float64(height) * (0.5 + 0.3*math.Sin(phase*2+float64(d)))
			drawDisc(img, cx, cy, float64(height)*(0.2+0.04*float64(d)), d, noise[rng.IntN(1024):])
		}
		c.frames = append(c.frames, img)
	}
	return c
}

func drawDisc(img *image.NRGBA, cx, cy, radius float64, kind int, noise []int) {
	base := [4][3]float64{{224, 172, 140}, {60, 90, 180}, {40, 120, 60}, {90, 40, 30}}[kind]
	b := img.Rect.Intersect(image.Rect(int(cx-radius)-1, int(cy-radius)-1, int(cx+radius)+2, int(cy+radius)+2))
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			dx, dy := (float64(x)-cx)/radius, (float64(y)-cy)/radius
			cover := (1 - math.Hypot(dx, dy)) * radius
			if cover <= 0 {
				continue
			}
			light := 0.35 + 0.65*math.Sqrt(max(0, 1-dx*dx-dy*dy))*(0.8-0.3*dx-0.3*dy)
			if u := int(math.Abs(dx*40)) % 9; u == 0 && int(math.Abs(dy*30))%3 != 0 {
				light *= 0.4
			}
			n := noise[(x*7+y*61)%3000]
			var v [3]uint8
			for i := range v {
				v[i] = uint8(min(max(base[i]*light+20*dy*float64(i-1)+float64(n), 0), 255))
			}
			img.SetNRGBA(x, y, color.NRGBA{v[0], v[1], v[2], uint8(min(cover, 1) * 255)})
		}
	}
}

// cutOut keeps a moving ellipse with a soft edge of every frame.
func (c clip) cutOut() clip {
	out := clip{name: c.name + " cut out"}
	for f, img := range c.frames {
		w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
		t := 2 * math.Pi * float64(f) / 60
		cx, cy := w*(0.5+0.12*math.Sin(t)), h*(0.5+0.06*math.Cos(2*t))
		cut := image.NewNRGBA(img.Rect)
		copy(cut.Pix, img.Pix)
		for y := range img.Rect.Dy() {
			for x := range img.Rect.Dx() {
				d := math.Hypot((float64(x)-cx)/(w*0.3), (float64(y)-cy)/(h*0.42))
				d += 0.05 * math.Sin(12*math.Atan2(float64(y)-cy, float64(x)-cx)+t)
				cut.Pix[cut.PixOffset(x, y)+3] = uint8(min(max((1-d)*40, 0), 1) * 255)
			}
		}
		out.frames = append(out.frames, cut)
	}
	return out
}

// loadClip decodes up to n frames of a video with ffmpeg.
func loadClip(tb testing.TB, path string, width, height, n int) clip {
	tb.Helper()
	scale := fmt.Sprintf("scale=%d:%d:force_original_aspect_ratio=increase,crop=%d:%d", width, height, width, height)
	raw := run(tb, "ffmpeg", "-v", "error", "-nostdin", "-i", path, "-frames:v", fmt.Sprint(n), "-vf", scale,
		"-pix_fmt", "rgba", "-f", "rawvideo", "-")
	return clip{name: filepath.Base(path), frames: split(raw, width, height)}
}

func split(raw []byte, width, height int) (out []*image.NRGBA) {
	for size := 4 * width * height; len(raw) >= size; raw = raw[size:] {
		out = append(out, &image.NRGBA{Pix: raw[:size], Stride: 4 * width, Rect: image.Rect(0, 0, width, height)})
	}
	return out
}

func run(tb testing.TB, name string, args ...string) []byte {
	tb.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s %q: %v", name, args, err)
	}
	return out
}
