package bgremove_test

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// haloPairs are colours of a subject and its backdrop. Those that differ in colour
// alone have no edge at full resolution.
var haloPairs = []struct {
	name              string
	subject, backdrop color.NRGBA
	alike             bool // in lightness
}{
	{"red on grey", color.NRGBA{220, 20, 30, 255}, color.NRGBA{208, 208, 208, 255}, false},
	{"blue on white", color.NRGBA{30, 60, 200, 255}, color.NRGBA{255, 255, 255, 255}, false},
	{"white on green", color.NRGBA{250, 250, 250, 255}, color.NRGBA{0, 255, 0, 255}, false},
	{"skin on green", color.NRGBA{224, 172, 140, 255}, color.NRGBA{20, 180, 60, 255}, false},
	{"yellow on blue", color.NRGBA{250, 220, 40, 255}, color.NRGBA{30, 60, 180, 255}, false},
	{"black on white", color.NRGBA{12, 12, 16, 255}, color.NRGBA{255, 255, 255, 255}, false},
	{"white on black", color.NRGBA{250, 250, 250, 255}, color.NRGBA{0, 0, 0, 255}, false},
	{"orange on dark grey", color.NRGBA{240, 140, 20, 255}, color.NRGBA{60, 60, 64, 255}, false},
	{"red on green", color.NRGBA{200, 30, 30, 255}, color.NRGBA{0, 255, 0, 255}, false},
	{"magenta on white", color.NRGBA{220, 40, 200, 255}, color.NRGBA{255, 255, 255, 255}, false},
	{"cyan on black", color.NRGBA{40, 220, 230, 255}, color.NRGBA{0, 0, 0, 255}, false},
	{"brown on sky", color.NRGBA{120, 70, 30, 255}, color.NRGBA{140, 190, 235, 255}, false},
	{"red on its grey", color.NRGBA{220, 20, 30, 255}, color.NRGBA{63, 63, 63, 255}, true},
	{"blue on its orange", color.NRGBA{0, 120, 200, 255}, color.NRGBA{190, 80, 20, 255}, true},
}

// haloEdges are the widths in pixels of the edges of three discs beside each
// other.
var haloEdges = []struct {
	name  string
	width float64
}{{"hard", 0}, {"smooth", 1}, {"soft", 4}}

const (
	haloSide   = 160 // of the square of each disc
	haloRadius = 57.0
	haloFrames = 3
	haloNear   = 4 // how far from the true outline is looked at
)

// insideDisc is how far a pixel lies inside of its disc, which moves by fractions of
// pixels from frame to frame.
func insideDisc(frame, x, y int) float64 {
	at := haloSide/2 + 0.3*float64(frame)
	return haloRadius - math.Hypot(float64(x%haloSide)+0.5-at, float64(y)+0.5-at)
}

// discCoverage is the disc's share of a pixel.
func discCoverage(frame, x, y int) float64 {
	width := haloEdges[x/haloSide].width
	return min(max(insideDisc(frame, x, y)/max(width, 0.01)+0.5, 0), 1)
}

// eachPixel counts through the pixels of all frames.
func eachPixel(f func(at, frame, x, y int)) {
	at := 0
	for frame := range haloFrames {
		for y := range haloSide {
			for x := range haloSide * len(haloEdges) {
				f(at, frame, x, y)
				at++
			}
		}
	}
}

// discs writes the discs, drawn exactly, as H.264 with halved colour.
func discs(t *testing.T, subject, backdrop color.NRGBA, crf int) string {
	t.Helper()
	var raw []byte
	eachPixel(func(_, frame, x, y int) {
		a := discCoverage(frame, x, y)
		mix := func(s, b uint8) byte { return byte(math.Round(a*float64(s) + (1-a)*float64(b))) }
		raw = append(raw, mix(subject.R, backdrop.R), mix(subject.G, backdrop.G), mix(subject.B, backdrop.B))
	})
	path := filepath.Join(t.TempDir(), "discs.mp4")
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
		"-s", fmt.Sprintf("%dx%d", haloSide*len(haloEdges), haloSide), "-i", "pipe:",
		"-vf", "scale=out_color_matrix=bt709", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-crf", strconv.Itoa(crf), path)
	cmd.Stdin = bytes.NewReader(raw)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v\n%s", err, out)
	}
	return path
}

// rim is what is seen of a cut-out near the true outline, as shares of it: pixels
// whose colour is nearer the backdrop's than the subject's, and pixels of the
// subject that are gone; and the mean error of the matte there.
type rim struct{ halo, gnawed, matte float64 }

// rims measures frames of RGBA.
func rims(pix []byte, subject, backdrop color.NRGBA) (r [3]rim) {
	var near [3]float64
	eachPixel(func(at, frame, x, y int) {
		if math.Abs(insideDisc(frame, x, y)) > haloNear {
			return
		}
		p, truth, r := pix[4*at:4*at+4], discCoverage(frame, x, y), &r[x/haloSide]
		apart := func(c color.NRGBA) float64 {
			return math.Hypot(math.Hypot(float64(p[0])-float64(c.R), float64(p[1])-float64(c.G)), float64(p[2])-float64(c.B))
		}
		if p[3] >= 64 && apart(backdrop) < apart(subject) {
			r.halo++
		}
		if truth > 0.75 && p[3] < 128 {
			r.gnawed++
		}
		r.matte += math.Abs(truth - float64(p[3])/255)
		near[x/haloSide]++
	})
	const outline = haloFrames * 2 * math.Pi * haloRadius
	for i := range r {
		r[i] = rim{r[i].halo / outline, r[i].gnawed / outline, r[i].matte / near[i]}
	}
	return r
}

// TestHalo wants no backdrop to be seen at the edges of what H.264 has stored
// with half of the colour's resolution, and little of the subject to be lost.
func TestHalo(t *testing.T) {
	t.Parallel()
	for _, pair := range haloPairs {
		for _, crf := range []int{18, 28} {
			t.Run(fmt.Sprintf("%s/crf%d", pair.name, crf), func(t *testing.T) {
				t.Parallel()
				out := filepath.Join(t.TempDir(), "out.png")
				result := remove(t, discs(t, pair.subject, pair.backdrop, crf), out, bgremove.Options{Format: bgremove.APNG, Method: bgremove.Fast})
				raw, err := os.ReadFile(generate(t, "raw", "-f", "apng", "-i", out, "-f", "rawvideo", "-pix_fmt", "rgba"))
				if err != nil {
					t.Fatal(err)
				}
				if w := result.Quality.Warnings; len(w) > 0 {
					t.Errorf("warned of %+v", w)
				}
				for i, r := range rims(raw, pair.subject, pair.backdrop) {
					t.Logf("%-18s crf %d, %-6s edge: halo %.3f, gnawed %.3f of the outline; matte %.3f", pair.name, crf, haloEdges[i].name, r.halo, r.gnawed, r.matte)
					if !pair.alike && (r.halo > 0.02 || r.gnawed > 0.15 || r.matte > 0.1) {
						t.Errorf("%s edge: %+v", haloEdges[i].name, r)
					}
				}
			})
		}
	}
}
