package refine_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/reduce"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/synth"
)

// flicker returns a copy of m as an unsteady network gives it: noise and blobs
// at edges, and holes now and then.
func flicker(m *image.Alpha, rng *rand.Rand) *image.Alpha {
	out := cloneAlpha(m)
	w, h := m.Rect.Dx(), m.Rect.Dy()
	var edges []int
	for i := range m.Pix {
		if x, y := i%w, i/w; x >= 3 && y >= 3 && x < w-3 && y < h-3 && nearEdge(m, x, y) {
			edges = append(edges, i)
			out.Pix[i] = uint8(min(max(int(m.Pix[i])+rng.IntN(121)-60, 0), 255))
		}
	}
	for range len(edges) / 150 {
		i := edges[rng.IntN(len(edges))]
		blob(out, i%w, i/w, 3+rng.IntN(5), rng.IntN(161)-80)
	}
	if rng.IntN(3) == 0 {
		blob(out, rng.IntN(w), rng.IntN(h), 12, -255)
	}
	return out
}

func nearEdge(m *image.Alpha, x, y int) bool {
	w := m.Rect.Dx()
	v := m.Pix[y*w+x]
	for d := -3; d <= 3; d += 3 {
		for e := -3; e <= 3; e += 3 {
			if u := m.Pix[(y+d)*w+x+e]; max(u, v)-min(u, v) > 30 {
				return true
			}
		}
	}
	return false
}

// blob adds v to a disc of radius r.
func blob(m *image.Alpha, cx, cy, r, v int) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	for y := max(cy-r, 0); y <= min(cy+r, h-1); y++ {
		for x := max(cx-r, 0); x <= min(cx+r, w-1); x++ {
			if (x-cx)*(x-cx)+(y-cy)*(y-cy) <= r*r {
				m.Pix[y*w+x] = uint8(min(max(int(m.Pix[y*w+x])+v, 0), 255))
			}
		}
	}
}

func cloneAlpha(m *image.Alpha) *image.Alpha {
	return &image.Alpha{Pix: slices.Clone(m.Pix), Stride: m.Stride, Rect: m.Rect}
}

// trail is the mean absolute error where the subject was one to three frames
// before and is no more, 0..1.
func trail(got, want []*image.Alpha) float64 {
	sum, n := 0.0, 0
	for i := 3; i < len(want); i++ {
		for k, v := range want[i].Pix {
			if v < 10 && max(want[i-1].Pix[k], want[i-2].Pix[k], want[i-3].Pix[k]) > 128 {
				sum += math.Abs(float64(got[i].Pix[k]) - float64(v))
				n++
			}
		}
	}
	return sum / 255 / float64(max(n, 1))
}

func meanError(got, want []*image.Alpha) (sum float64) {
	for i := range got {
		sum += synth.MeanError(got[i], want[i]) / float64(len(got))
	}
	return sum
}

// film draws n frames of a clip over a backdrop, the true mattes, unsteady
// ones, and what the Stabiliser makes of both.
func film(c synth.Clip, kind, n, noisy int) (want, rough, got, clean []*image.Alpha) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s, s2 refine.Stabiliser
	back := texture(c.Width, c.Height, kind)
	for i := range n {
		p := c.Frame(i)
		img := synth.Noise(onto(p, back), noisy, uint64(i))
		r := flicker(p.Alpha, rng)
		g, k := cloneAlpha(r), cloneAlpha(p.Alpha)
		s.Apply(img, g)
		s2.Apply(img, k)
		want, rough, got, clean = append(want, p.Alpha), append(rough, r), append(got, g), append(clean, k)
	}
	return want, rough, got, clean
}

// TestStabiliser: over clips that move and over those that do not, flicker is
// at least halved on the mean, without more error and without a trail; no clip
// falls far behind, and steady mattes stay good.
func TestStabiliser(t *testing.T) {
	t.Parallel()
	for _, frames := range []int{0, 48, 96} {
		t.Run(fmt.Sprintf("turn of %d", frames), func(t *testing.T) {
			t.Parallel()
			var ssd, mae, ghost, n float64
			for _, s := range []synth.Subject{synth.Discs, synth.Soft, synth.Eye} {
				for _, kind := range []int{flat, gradient, waves} {
					c := synth.Clip{Width: 320, Height: 180, Frames: max(frames, 1), Backdrop: synth.Blue, Subject: s, Still: frames == 0}
					want, rough, got, clean := film(c, kind, 32, 3)
					d := synth.DtSSD(got, want) / synth.DtSSD(rough, want)
					e := meanError(got, want) / meanError(rough, want)
					g := trail(got, want) / max(trail(rough, want), 1e-9)
					steady := meanError(clean, want)
					t.Logf("%v/%s: dtSSD %.2f, error %.2f, trail %.2f of what they were; of steady mattes: error %.5f, trail %.4f",
						s, textures[kind], d, e, g, steady, trail(clean, want))
					if d > 0.65 || e > 1.05 || g > 1.3 || steady > 0.004 {
						t.Error("this clip is too bad")
					}
					ssd, mae, ghost, n = ssd+d, mae+e, ghost+g, n+1
				}
			}
			t.Logf("mean: dtSSD %.2f, error %.2f, trail %.2f", ssd/n, mae/n, ghost/n)
			if ssd > n/2 || mae > n || ghost > n {
				t.Error("not steadier, or worse")
			}
		})
	}
}

// lit returns img as it looks when the light is gain times as strong.
func lit(img *image.NRGBA, gain float64) *image.NRGBA {
	out := image.NewNRGBA(img.Rect)
	for i, v := range img.Pix {
		out.Pix[i] = uint8(min(float64(v)*gain+0.5, 255))
		if i%4 == 3 {
			out.Pix[i] = v
		}
	}
	return out
}

// TestStabiliserLight: light that flickers is no change of what is shown, and
// mattes are steadied all the same.
func TestStabiliserLight(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	clip := synth.Clip{Width: 320, Height: 180, Frames: 48, Backdrop: synth.Blue, Subject: synth.Soft}
	back := texture(clip.Width, clip.Height, waves)
	var s refine.Stabiliser
	var want, rough, got []*image.Alpha
	for i := range 24 {
		p := clip.Frame(i)
		m := flicker(p.Alpha, rng)
		steady := cloneAlpha(m)
		s.Apply(synth.Noise(lit(onto(p, back), 1+0.1*math.Sin(2*float64(i))), 3, uint64(i)), steady)
		want, rough, got = append(want, p.Alpha), append(rough, m), append(got, steady)
	}
	ssd, mae := synth.DtSSD(got, want)/synth.DtSSD(rough, want), meanError(got, want)/meanError(rough, want)
	t.Logf("dtSSD %.2f, error %.2f", ssd, mae)
	if ssd > 0.5 || mae > 1 {
		t.Error("not steadier, or worse")
	}
}

// TestStabiliserVanishing: on backdrops too dark or too bright to tell the light
// by, a subject that goes or jumps leaves nothing behind.
func TestStabiliserVanishing(t *testing.T) {
	t.Parallel()
	const w, h, side = 160, 90, 40
	for _, back := range []color.NRGBA{{A: 255}, {255, 255, 255, 255}, {0, 255, 0, 255}} {
		var s refine.Stabiliser
		for i := range 24 {
			img, m := image.NewNRGBA(image.Rect(0, 0, w, h)), image.NewAlpha(image.Rect(0, 0, w, h))
			draw.Draw(img, img.Rect, image.NewUniform(back), image.Point{}, draw.Src)
			if i < 20 { // it stands, then jumps, then is gone
				at := image.Rect(0, 0, side, side).Add(image.Pt(max(i-12, 0)%3*side+10, 20))
				draw.Draw(img, at, image.NewUniform(color.NRGBA{180, 150, 190, 255}), image.Point{}, draw.Src)
				draw.Draw(m, at, image.Opaque, image.Point{}, draw.Src)
			}
			got := cloneAlpha(m)
			s.Apply(img, got)
			if e := synth.MeanError(got, m); e > 0.002 {
				t.Errorf("on %v, frame %d: error %.4f", back, i, e)
			}
		}
	}
}

// TestStabiliserFade: a fade is no flicker. A network sees the subject once there is
// light enough: it is all there soon after the fade, and gone soon after the next.
func TestStabiliserFade(t *testing.T) {
	t.Parallel()
	p := synth.Clip{Width: 320, Height: 180, Frames: 1, Still: true, Backdrop: synth.Blue, Subject: synth.Soft}.Frame(0)
	scene, none := onto(p, texture(320, 180, waves)), image.NewAlpha(p.Alpha.Rect)
	const fade = 25
	var s refine.Stabiliser
	for i := range 4 * fade {
		light := min(float64(i+1)/fade, 1) * min(float64(4*fade-i)/fade, 1)
		m := none
		if light > 0.3 {
			m = p.Alpha
		}
		got := cloneAlpha(m)
		s.Apply(synth.Noise(lit(scene, light), 2, uint64(i)), got)
		if settled := i > fade+2 && light > 0.3 || i > 4*fade-3; settled && synth.MeanError(got, m) > 0.01 {
			t.Errorf("frame %d, light %.2f: error %.4f", i, light, synth.MeanError(got, m))
		}
	}
}

// TestStabiliserCuts: at a cut the matte is taken as it is.
func TestStabiliserCuts(t *testing.T) {
	t.Parallel()
	a := synth.Clip{Width: 160, Height: 90, Frames: 8, Backdrop: synth.Green}.Frame(0)
	b := synth.Clip{Width: 160, Height: 90, Frames: 8, Backdrop: synth.Black, Subject: synth.Eye}.Frame(0)
	full := image.NewAlpha(a.Alpha.Rect)
	for i := range full.Pix {
		full.Pix[i] = 255
	}
	var s refine.Stabiliser
	s.Apply(a.Image, cloneAlpha(a.Alpha))
	m := cloneAlpha(full)
	if s.Apply(a.Image, m); bytes.Equal(m.Pix, full.Pix) {
		t.Error("nothing is remembered")
	}
	m = cloneAlpha(b.Alpha)
	if s.Apply(b.Image, m); !bytes.Equal(m.Pix, b.Alpha.Pix) {
		t.Error("the cut is not seen")
	}
	for _, n := range sizes {
		m := image.NewAlpha(image.Rect(0, 0, n[0], n[1]))
		for range 3 {
			for i := range m.Pix {
				m.Pix[i] ^= 255
			}
			s.Apply(texture(n[0], n[1], noise), m)
		}
	}
	s.Apply(image.NewNRGBA(image.Rectangle{}), image.NewAlpha(image.Rectangle{}))
}

// TestSteadyThenUpsampled: steadying the small matte before it is brought to
// full size, which costs a fraction of doing it after, is as good there: flicker
// at full size is halved without more error.
func TestSteadyThenUpsampled(t *testing.T) {
	t.Parallel()
	small, full := image.Pt(160, 90), image.Pt(640, 360)
	scaler := reduce.New(full, small)
	var ssd, mae, ghost float64
	for _, kind := range []int{flat, gradient, waves} {
		rng := rand.New(rand.NewPCG(3, 4))
		clip := synth.Clip{Width: full.X, Height: full.Y, Frames: 96, Backdrop: synth.Blue, Subject: synth.Soft}
		back := texture(full.X, full.Y, kind)
		var steady refine.Stabiliser
		var up refine.Upsampler
		var want, rough, got []*image.Alpha
		for i := range 24 {
			p := clip.Frame(i)
			img := synth.Noise(onto(p, back), 3, uint64(i))
			guide := image.NewNRGBA(image.Rectangle{Max: small})
			scaler.Draw(guide, img)
			m := flicker(shrink(p.Alpha, small.X, small.Y, 0), rng)
			r, g := image.NewAlpha(p.Alpha.Rect), image.NewAlpha(p.Alpha.Rect)
			up.Upsample(r, img, m, guide)
			steady.Apply(guide, m)
			up.Upsample(g, img, m, guide)
			want, rough, got = append(want, p.Alpha), append(rough, r), append(got, g)
		}
		ssd += synth.DtSSD(got, want) / synth.DtSSD(rough, want) / 3
		mae += meanError(got, want) / meanError(rough, want) / 3
		ghost += trail(got, want) / trail(rough, want) / 3
	}
	t.Logf("mean: dtSSD %.2f, error %.2f, trail %.2f", ssd, mae, ghost)
	if ssd > 0.5 || mae > 1 || ghost > 1 {
		t.Error("not steadier, or worse")
	}
}
