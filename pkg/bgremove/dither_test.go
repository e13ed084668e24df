package bgremove_test

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/synth"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// slopes are backdrops of no one colour, at u and v from 0 to 1 in a picture.
var slopes = []struct {
	name string
	at   func(u, v float64) [3]float64
}{
	{"sky", func(_, v float64) [3]float64 { return [3]float64{70 + 135*v, 130 + 98*v, 215 + 35*v} }},
	{"vignette", func(u, v float64) [3]float64 {
		far := (u-0.5)*(u-0.5) + (v-0.45)*(v-0.45)
		return [3]float64{214 - 150*far, 204 - 150*far, 196 - 150*far}
	}},
}

const (
	slopeWidth, slopeHeight = 240, 160
	slopeFrames             = 3
)

// slopeSubject is a shaded disc with a dark bar, and its coverage.
func slopeSubject(frame int, x, y float64) (colour [3]float64, coverage float64) {
	cx, cy := 110+7*float64(frame), 82.0
	inside := 52 - math.Hypot(x-cx, y-cy)
	shade := (y - cy + 52) / 104
	colour = [3]float64{205 - 60*shade, 84 - 40*shade, 30 + 40*shade}
	if math.Abs(x-cx) < 8 {
		colour = [3]float64{24, 20, 40}
	}
	return colour, min(max(inside+0.5, 0), 1)
}

// ditheredClip writes the subject before a slope as a GIF of a palette.
func ditheredClip(t *testing.T, slope func(u, v float64) [3]float64, colours int, dither string) string {
	t.Helper()
	var raw []byte
	for at := range slopeFrames * slopeWidth * slopeHeight {
		x, y := float64(at%slopeWidth)+0.5, float64(at/slopeWidth%slopeHeight)+0.5
		f, a := slopeSubject(at/(slopeWidth*slopeHeight), x, y)
		b := slope(x/slopeWidth, y/slopeHeight)
		for k := range f {
			raw = append(raw, byte(math.Round(a*f[k]+(1-a)*b[k])))
		}
	}
	path := filepath.Join(t.TempDir(), "clip.gif")
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", fmt.Sprintf("%dx%d", slopeWidth, slopeHeight),
		"-framerate", "10", "-i", "pipe:", "-vf", fmt.Sprintf("split[a][b];[a]palettegen=max_colors=%d[p];[b][p]paletteuse=dither=%s", colours, dither), path)
	cmd.Stdin = bytes.NewReader(raw)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v\n%s", err, out)
	}
	return path
}

// judgeSlope says which share of the pixels at the edge of a cut-out is within 50 of
// the backdrop, and how its matte fits the true one.
func judgeSlope(pix []byte, slope func(u, v float64) [3]float64) (left, iou float64) {
	edge, both, either := 0.0, 0.0, 0.0
	frame := image.Rect(0, 0, slopeWidth, slopeHeight)
	for at := range len(pix) / 4 {
		n, x, y := at/(slopeWidth*slopeHeight), at%slopeWidth, at/slopeWidth%slopeHeight
		kept := func(x, y int) bool {
			return image.Pt(x, y).In(frame) && pix[4*((n*slopeHeight+y)*slopeWidth+x)+3] >= 128
		}
		_, truth := slopeSubject(n, float64(x)+0.5, float64(y)+0.5)
		in := kept(x, y)
		if in && truth >= 0.5 {
			both++
		}
		if in || truth >= 0.5 {
			either++
		}
		if !in || kept(x-1, y) && kept(x+1, y) && kept(x, y-1) && kept(x, y+1) {
			continue
		}
		edge++
		b, far := slope((float64(x)+0.5)/slopeWidth, (float64(y)+0.5)/slopeHeight), 0.0
		for k := range b {
			far += (float64(pix[4*at+k]) - b[k]) * (float64(pix[4*at+k]) - b[k])
		}
		if math.Sqrt(far) < 50 {
			left++
		}
	}
	return left / max(edge, 1), both / either
}

// TestDither wants auto to choose fast, and that to cut out, before slopes of colour, however a GIF's palette
// has broken them up.
func TestDither(t *testing.T) {
	t.Parallel()
	for _, slope := range slopes {
		for _, dither := range []string{"bayer:bayer_scale=2", "sierra2_4a", "none"} {
			for _, colours := range []int{16, 32, 64, 128, 256} {
				t.Run(fmt.Sprintf("%s/%s/%d", slope.name, dither, colours), func(t *testing.T) {
					t.Parallel()
					out := filepath.Join(t.TempDir(), "out.png")
					result := remove(t, ditheredClip(t, slope.at, colours, dither), out, bgremove.Options{Format: bgremove.APNG})
					if result.Method != bgremove.Fast {
						t.Errorf("cut out by %s: %s", result.Method, result.Reason)
					}
					if w := result.Quality.Warnings; len(w) > 0 {
						t.Errorf("warned of %+v", w)
					}
					raw, err := os.ReadFile(generate(t, "raw", "-f", "apng", "-i", out, "-f", "rawvideo", "-pix_fmt", "rgba"))
					if err != nil {
						t.Fatal(err)
					}
					left, iou := judgeSlope(raw, slope.at)
					t.Logf("%-8s %-19s %3d colours: %.3f of the edge left, IoU %.3f", slope.name, dither, colours, left, iou)
					if left > 0.01 || iou < 0.97 {
						t.Errorf("%.3f of the edge is left, IoU %.3f", left, iou)
					}
				})
			}
		}
	}
}

// TestFixedPalette wants auto to cut out before flat colours, as FFmpeg's fixed palette breaks them up. It is
// what a GIF gets without a filter.
func TestFixedPalette(t *testing.T) {
	t.Parallel()
	for _, colour := range []string{"77bee7", "3366cc", "f0e0d0", "ffd0e0", "202020", "808080", "ffffff", "0000ff"} {
		t.Run(colour, func(t *testing.T) {
			t.Parallel()
			in := generate(t, "clip.gif", "-f", "lavfi", "-i", "color=0x"+colour+":size=200x150:rate=5:duration=0.6,format=rgb24",
				"-f", "lavfi", "-i", "color=0xcc2211:size=60x60:rate=5:duration=0.6", "-filter_complex", "[0][1]overlay=x=30+40*t:y=40")
			out := filepath.Join(t.TempDir(), "out.png")
			result := remove(t, in, out, bgremove.Options{Format: bgremove.APNG})
			if w := result.Quality.Warnings; result.Method != bgremove.Fast || len(w) > 0 {
				t.Errorf("cut out by %s, warned of %+v", result.Method, w)
			}
			frames := pixels(t, out, 200, 150)
			if len(frames) != 3 {
				t.Errorf("%d frames", len(frames))
			}
			for i, img := range frames {
				got, want := image.NewAlpha(img.Rect), image.NewAlpha(img.Rect)
				draw.Draw(got, got.Rect, img, image.Point{}, draw.Src)
				draw.Draw(want, image.Rect(30, 40, 90, 100).Add(image.Pt(8*i, 0)), image.Opaque, image.Point{}, draw.Src)
				if iou := synth.IoU(got, want); iou < 0.97 {
					t.Errorf("frame %d: IoU %.3f", i, iou)
				}
			}
		})
	}
}
