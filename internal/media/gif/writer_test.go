package gif_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/synth"
)

// randomClip draws rectangles in few colours that appear, stay, move, vanish
// and overlap. Some frames repeat the previous one, and some are empty.
func randomClip(seed uint64) clip {
	rng := rand.New(rand.NewPCG(seed, 7))
	w, h := 1+rng.IntN(70), 1+rng.IntN(50)
	colours := make([]color.NRGBA, 1+rng.IntN(60))
	for i := range colours {
		colours[i] = color.NRGBA{uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(128 + rng.IntN(128))}
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	out := clip{name: fmt.Sprint("random ", seed)}
	for range 1 + rng.IntN(12) {
		for range rng.IntN(4) {
			x, y := rng.IntN(w), rng.IntN(h)
			r := image.Rect(x, y, x+1+rng.IntN(w), y+1+rng.IntN(h))
			c := colours[rng.IntN(len(colours))]
			if rng.IntN(3) == 0 {
				c.A = uint8(rng.IntN(128))
			}
			draw.Draw(img, r, image.NewUniform(c), image.Point{}, draw.Src)
			for i := range 5 {
				img.SetNRGBA(rng.IntN(w), rng.IntN(h), colours[(i+x)%len(colours)])
			}
		}
		if rng.IntN(10) == 0 {
			clear(img.Pix)
		}
		frame := image.NewNRGBA(img.Rect)
		copy(frame.Pix, img.Pix)
		out.frames = append(out.frames, frame)
	}
	return out
}

func TestFramesAreShownAsIntended(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		c := randomClip(seed)
		got, _ := compose(t, encodeClip(t, c, gif.WriterOptions{Quality: 100}))
		sameFrames(t, got, c.frames, 0)
		got, _ = compose(t, encodeClip(t, c, gif.WriterOptions{}))
		sameFrames(t, got, c.frames, 0)
		got, _ = compose(t, encodeClip(t, c, gif.WriterOptions{Quality: 60}))
		sameFrames(t, got, c.frames, 40)
	}
}

func TestOtherDecodersAgree(t *testing.T) {
	t.Parallel()
	tools := map[string]func(tb testing.TB, file string, size image.Point) []*image.NRGBA{
		"ffmpeg": decodeFFmpeg,
		"convert": func(tb testing.TB, file string, _ image.Point) []*image.NRGBA {
			dir := tb.TempDir()
			return composeTool(tb, dir, "convert", file, "-coalesce", "PNG32:"+filepath.Join(dir, "%04d.png"))
		},
		"gifsicle": func(tb testing.TB, file string, _ image.Point) []*image.NRGBA {
			whole := filepath.Join(tb.TempDir(), "whole.gif")
			run(tb, "gifsicle", "--no-warnings", "--unoptimize", file, "-o", whole)
			data, err := os.ReadFile(whole)
			if err != nil {
				tb.Fatal(err)
			}
			got, _ := compose(tb, data)
			return got
		},
	}
	for name, decode := range tools {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(err)
			}
			for seed := range uint64(8) {
				c := randomClip(1000 + seed)
				file := writeFile(t, encodeClip(t, c, gif.WriterOptions{}))
				sameFrames(t, decode(t, file, c.frames[0].Rect.Size()), c.frames, 0)
			}
			card := clip{frames: []*image.NRGBA{image.NewNRGBA(image.Rect(0, 0, 30, 20))}}
			draw.Draw(card.frames[0], image.Rect(5, 5, 25, 15), image.NewUniform(color.NRGBA{200, 30, 30, 255}), image.Point{}, draw.Src)
			file := writeFile(t, encodeClip(t, card, gif.WriterOptions{}))
			sameFrames(t, decode(t, file, card.frames[0].Rect.Size()), card.frames, 0)
		})
	}
}

func TestBusyClipStaysCloseAndSharp(t *testing.T) {
	t.Parallel()
	tests := map[int]float64{100: 38, 90: 37, 80: 36, 60: 33, 20: 26}
	c := syntheticClip(160, 90, 12)
	for quality, want := range tests {
		file := encodeClip(t, c, gif.WriterOptions{Quality: quality})
		got, _ := compose(t, file)
		sameFrames(t, got, c.frames, 120)
		if p := synth.PSNR(got, c.frames); p < want {
			t.Errorf("quality %d: %.2f dB, want %.2f", quality, p, want)
		}
	}
}

func TestLowerQualityIsSmaller(t *testing.T) {
	t.Parallel()
	c := syntheticClip(160, 90, 12)
	last := 0
	for _, quality := range []int{20, 60, 80, 90, 100} {
		n := len(encodeClip(t, c, gif.WriterOptions{Quality: quality}))
		if n < last {
			t.Errorf("quality %d makes %d bytes, a lower one %d", quality, n, last)
		}
		last = n
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	tests := map[string]struct {
		in   []time.Duration
		want []int
	}{
		"gif":         {[]time.Duration{0, 10 * ms, 20 * ms, 0, 70 * ms, 1230 * ms}, []int{0, 1, 2, 0, 7, 123}},
		"30 a second": {[]time.Duration{33366667, 33366667, 33366667, 33366667, 33366667, 33366667}, []int{3, 4, 3, 3, 4, 3}},
		"60 a second": {[]time.Duration{16666667, 16666667, 16666667, 16666667}, []int{2, 1, 2, 2}},
		"negative":    {[]time.Duration{-5 * ms, 40 * ms}, []int{0, 4}},
		"too long":    {[]time.Duration{40 * ms, 1400 * time.Second, 40 * ms}, []int{4, 65535, 65535, 8930, 4}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var frames []*media.Frame
			for i, d := range tt.in {
				img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
				img.SetNRGBA(i, i, color.NRGBA{200, 0, 0, 255})
				frames = append(frames, &media.Frame{Image: img, Delay: d})
			}
			shown, g := compose(t, write(t, frames, gif.WriterOptions{}))
			if diff := cmp.Diff(tt.want, g.Delay); diff != "" {
				t.Error(diff)
			}
			if last := shown[len(shown)-1].NRGBAAt(len(tt.in)-1, len(tt.in)-1); last.R != 200 {
				t.Errorf("the last frame shows %v", last)
			}
		})
	}
}

func TestPlays(t *testing.T) {
	t.Parallel()
	for plays, want := range map[int]int{0: 0, 1: -1, 2: 1, 10: 9, 65536: 65535, 65537: 65535, math.MaxInt32: 65535} {
		_, g := compose(t, encodeClip(t, randomClip(3), gif.WriterOptions{Plays: plays}))
		if g.LoopCount != want {
			t.Errorf("plays %d: loop count %d, want %d", plays, g.LoopCount, want)
		}
	}
}

func TestUnchangedAndEmptyFramesCostLittle(t *testing.T) {
	t.Parallel()
	one := syntheticClip(160, 90, 1)
	still := clip{frames: []*image.NRGBA{one.frames[0], one.frames[0], one.frames[0]}}
	_, g := compose(t, encodeClip(t, still, gif.WriterOptions{}))
	for i, p := range g.Image[1:] {
		if p.Rect.Dx() != 1 || p.Rect.Dy() != 1 {
			t.Errorf("unchanged frame %d writes %v", i+1, p.Rect)
		}
	}
	empty := clip{}
	for range 3 {
		empty.frames = append(empty.frames, image.NewNRGBA(image.Rect(0, 0, 9, 9)))
	}
	got, _ := compose(t, encodeClip(t, empty, gif.WriterOptions{}))
	sameFrames(t, got, empty.frames, 0)
}

func TestNoiseLeavesStillPictureStill(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	base := syntheticClip(240, 135, 1).frames[0]
	for i := range base.Pix {
		if i%4 == 3 {
			base.Pix[i] = 255
		} else {
			base.Pix[i] = max(base.Pix[i], uint8(i/4%240/2+40))
		}
	}
	var c clip
	for f := range 8 {
		img := image.NewNRGBA(base.Rect)
		copy(img.Pix, base.Pix)
		for i := range img.Pix {
			if i%4 != 3 {
				img.Pix[i] = uint8(min(max(int(img.Pix[i])+rng.IntN(5)-2, 0), 255))
			}
		}
		for x := range 40 { // something vanishes, so that a part is redrawn
			img.SetNRGBA(20+f*9+x, 30, color.NRGBA{})
		}
		c.frames = append(c.frames, img)
	}
	got, _ := compose(t, encodeClip(t, c, gif.WriterOptions{}))
	changed, total := 0, 0
	for f := 1; f < len(got)-1; f++ { // lossy pixels settle in the second frame
		for i := 0; i < len(base.Pix); i += 4 {
			if y := i / 4 / 240; y == 30 {
				continue
			}
			total++
			if !bytes.Equal(got[f].Pix[i:i+4], got[f+1].Pix[i:i+4]) {
				changed++
			}
		}
	}
	if share := float64(changed) / float64(total); share >= 0.005 {
		t.Errorf("%.2f%% of the still pixels change", 100*share)
	}
}

func TestEdgeColour(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 4, 1))
	for x, a := range []uint8{20, 64, 191, 255} {
		img.SetNRGBA(x, 0, color.NRGBA{200, 100, 0, a})
	}
	frame := func() []*media.Frame { return []*media.Frame{{Image: img}} }
	got, _ := compose(t, write(t, frame(), gif.WriterOptions{EdgeColour: &color.NRGBA{0, 0, 200, 255}}))
	want := []color.NRGBA{{}, {50, 25, 150, 255}, {150, 75, 50, 255}, {200, 100, 0, 255}}
	for x, w := range want {
		if g := got[0].NRGBAAt(x, 0); max(gap(g.R, w.R), gap(g.G, w.G), gap(g.B, w.B), gap(g.A, w.A)) > 12 {
			t.Errorf("pixel %d: %v, want about %v", x, g, w)
		}
	}
	got, _ = compose(t, write(t, frame(), gif.WriterOptions{}))
	for x, a := range []uint8{0, 0, 255, 255} {
		if got[0].NRGBAAt(x, 0).A != a {
			t.Errorf("without an edge colour: pixel %d is %v", x, got[0].NRGBAAt(x, 0))
		}
	}
}

func TestSceneChangeGetsPalette(t *testing.T) {
	t.Parallel()
	var c clip
	for f := range 16 {
		img := image.NewNRGBA(image.Rect(0, 0, 128, 128))
		for i := range 128 * 128 {
			v := color.NRGBA{uint8(i % 128 * 2), uint8(i / 128 * 2), 0, 255}
			if f == 15 {
				v = color.NRGBA{0, uint8(i % 128), uint8(128 + i/128), 255}
			}
			img.SetNRGBA(i%128, i/128, v)
		}
		c.frames = append(c.frames, img)
	}
	got, g := compose(t, encodeClip(t, c, gif.WriterOptions{}))
	if p := synth.PSNR(got[15:], c.frames[15:]); p < 36 {
		t.Errorf("the other scene has %.2f dB", p)
	}
	first, last := g.Image[0].Palette, g.Image[15].Palette
	if cmp.Equal(first, last) {
		t.Error("the other scene has the same palette")
	}
}

func TestWorkersDoNotMatter(t *testing.T) {
	t.Parallel()
	c := syntheticClip(120, 80, 10)
	want := encodeClip(t, c, gif.WriterOptions{Workers: 1})
	if got := encodeClip(t, c, gif.WriterOptions{Workers: 5, Pool: new(media.Pool)}); !bytes.Equal(got, want) {
		t.Error("five workers write something else than one")
	}
}

// write writes frames without a survey.
func write(t *testing.T, frames []*media.Frame, o gif.WriterOptions) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := gif.NewWriter(&buf, frames[0].Image.Rect.Dx(), frames[0].Image.Rect.Dy(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		if err := w.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func readPNG(tb testing.TB, path string) *image.NRGBA {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		tb.Fatal(err)
	}
	out := image.NewNRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out
}

func BenchmarkSurvey(b *testing.B) {
	c := syntheticClip(480, 270, 8)
	for _, img := range c.frames { // opaque everywhere, the discs and the rest
		for i := range img.Pix {
			if i%4 == 3 {
				img.Pix[i] = 255
			} else if img.Pix[i] == 0 {
				img.Pix[i] = uint8(i / 4 % 480 / 4)
			}
		}
	}
	var survey gif.Survey
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		survey.Add(c.frames[i%8])
	}
	pixels := float64(b.N) * 480 * 270
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/pixels, "ns/pixel")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
}

func BenchmarkWriter(b *testing.B) {
	c := syntheticClip(480, 270, 20)
	for _, quality := range []int{100, 90, 80} {
		b.Run(fmt.Sprint("quality ", quality), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				encodeClip(b, c, gif.WriterOptions{Quality: quality})
			}
			b.ReportMetric(float64(b.N*len(c.frames))/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

func gap(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
