package bgremove_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

const studioWidth, studioHeight, studioFrames = 400, 300, 2

// studio is a person before a screen, with known coverage.
type studio struct {
	name   string
	screen [3]float64
	uneven float64 // how much of the light is missing at the corners
	shadow float64 // how much the person's shadow takes
	noise  float64 // standard deviation
}

var studios = []studio{
	{"even green", [3]float64{52, 168, 74}, 0.05, 0, 1.5},
	{"uneven green", [3]float64{52, 168, 74}, 0.5, 0, 2},
	{"green with shadow", [3]float64{52, 168, 74}, 0.4, 0.35, 2},
	{"noisy green", [3]float64{40, 150, 60}, 0.4, 0.2, 6},
	{"uneven blue", [3]float64{38, 70, 180}, 0.5, 0.2, 2},
}

// backdrop is the lit screen at a place.
func (s studio) backdrop(frame int, x, y float64) (c [3]float64) {
	u, v := x/studioWidth-0.45, y/studioHeight-0.35
	light := 1.1 - s.uneven*2.2*(u*u+v*v)
	cx, cy := person(frame)
	d := math.Hypot((x-cx-45)/60, (y-cy-50)/110)
	light *= 1 - s.shadow/(1+math.Exp(12*(d-1)))
	for k := range c {
		c[k] = min(s.screen[k]*light, 255)
	}
	return c
}

// person is where the head's middle is.
func person(frame int) (x, y float64) { return 190 + 4*float64(frame), 105 }

// subject is the person's colour and coverage at a place, and how far inside it is.
func (s studio) subject(frame int, x, y float64) (c [3]float64, coverage, inside float64) {
	cx, cy := person(frame)
	x, y = x-cx, y-cy
	put := func(colour [3]float64, in, soft float64) {
		a := min(max(in/soft+0.5, 0), 1)
		if a <= 0 {
			return
		}
		total := a + coverage*(1-a)
		for k := range c {
			c[k] = (a*colour[k] + (1-a)*coverage*c[k]) / total
		}
		coverage, inside = total, max(inside, in)
	}
	r := math.Hypot(x, y)
	for i := range 46 { // hair, as curved strands
		if r < 30 || r > 70 {
			break
		}
		from := math.Pi * (0.95 + 1.1*float64(i)/45)
		length := 46 + 9*math.Sin(5*float64(i))
		bend := from + 0.15*math.Sin(r/9+float64(i))
		off := math.Abs(math.Mod(math.Atan2(y, x)-bend+3*math.Pi, 2*math.Pi)-math.Pi) * r
		if r < length+12 {
			put([3]float64{34, 26, 22}, 0.6-off, 1)
		}
	}
	put([3]float64{38, 30, 26}, 44-math.Hypot(x, (y+6)*1.05), 1.5)
	shade := 1 - 0.25*x/40
	put([3]float64{224 * shade, 172 * shade, 140 * shade}, 36-math.Hypot(x, y*0.85), 1.2)
	stripes := 118 + 30*math.Sin(y/3)
	put([3]float64{stripes, stripes, stripes + 4}, min(y-44, 78-math.Abs(x)+0.3*(y-60)), 1.5)
	put([3]float64{240, 238, 232}, min(y-46, 70-y, 16-math.Abs(x)), 1)
	put([3]float64{214, 160, 128}, 20-math.Hypot((x-105)/1.6, y-40), 18) // a hand in motion
	return c, coverage, inside
}

// frame draws one frame, and what its person alone looks like with its coverage.
func (s studio) frame(n int, dice *rand.Rand) (shot, truth []byte) {
	const fine = 3
	for y := range studioHeight {
		for x := range studioWidth {
			var mix, own [3]float64
			var coverage float64
			for i := range fine * fine {
				u, v := float64(x)+(float64(i%fine)+0.5)/fine, float64(y)+(float64(i/fine)+0.5)/fine
				f, a, inside := s.subject(n, u, v)
				b := s.backdrop(n, u, v)
				for k := range f {
					own[k] += a * min(f[k], 255) / (fine * fine)
					mix[k] += (a*min(f[k]+0.15*math.Exp(-max(inside, 0)/8)*b[k], 255) + (1-a)*b[k]) / (fine * fine)
				}
				coverage += a / (fine * fine)
			}
			for k := range mix {
				shot = append(shot, uint8(min(max(mix[k]+s.noise*dice.NormFloat64(), 0), 255)))
				truth = append(truth, uint8(min(own[k]/max(coverage, 1e-6), 255)+0.5))
			}
			truth = append(truth, uint8(255*coverage+0.5))
		}
	}
	return shot, truth
}

// shoot writes the clip as H.264 and returns its path and truth.
func (s studio) shoot(t *testing.T, crf int) (path string, truth []byte) {
	t.Helper()
	dice := rand.New(rand.NewPCG(1, 2))
	var shots []byte
	for n := range studioFrames {
		shot, own := s.frame(n, dice)
		shots, truth = append(shots, shot...), append(truth, own...)
	}
	path = filepath.Join(t.TempDir(), "studio.mp4")
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", fmt.Sprintf("%dx%d", studioWidth, studioHeight),
		"-i", "pipe:", "-vf", "scale=out_color_matrix=bt709", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-crf", strconv.Itoa(crf), path)
	cmd.Stdin = bytes.NewReader(shots)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v\n%s", err, out)
	}
	return path, truth
}

// off is how far a cut-out is from the true one: the mean error of its matte, and of
// what it looks like over grey, both 0 to 1.
type off struct{ matte, look float64 }

func compare(got, want []byte) (o off) {
	n := float64(len(want) / 4)
	for at := 0; at < len(want); at += 4 {
		a, b := float64(got[at+3])/255, float64(want[at+3])/255
		o.matte += math.Abs(a-b) / n
		for k := range 3 {
			o.look += math.Abs(a*(float64(got[at+k])-128)-b*(float64(want[at+k])-128)) / 255 / 3 / n
		}
	}
	return o
}

// chromakeyed is the best that ffmpeg's filters give with any of many settings.
func (s studio) chromakeyed(t *testing.T, path string, truth []byte) off {
	t.Helper()
	kind := "green"
	if s.screen[2] > s.screen[1] {
		kind = "blue"
	}
	var filters []string
	for _, similarity := range []float64{0.05, 0.08, 0.11, 0.14, 0.18, 0.22} {
		for _, blend := range []float64{0.01, 0.05, 0.1, 0.2} {
			filters = append(filters, fmt.Sprintf("chromakey=0x%02x%02x%02x:%v:%v,despill=%s", int(s.screen[0]), int(s.screen[1]), int(s.screen[2]), similarity, blend, kind))
		}
	}
	graph := fmt.Sprintf("split=%d", len(filters))
	ends := ""
	for i := range filters {
		graph += fmt.Sprintf("[in%d]", i)
	}
	for i, f := range filters {
		graph += fmt.Sprintf(";[in%d]%s,format=rgba[out%d]", i, f, i)
		ends += fmt.Sprintf("[out%d]", i)
	}
	all := rgba(t, "-i", path, "-filter_complex", fmt.Sprintf("%s;%svstack=inputs=%d", graph, ends, len(filters)))
	best := off{1, 1}
	for i := range filters {
		var own []byte
		for n := range studioFrames {
			at := (n*len(filters) + i) * len(truth) / studioFrames
			own = append(own, all[at:at+len(truth)/studioFrames]...)
		}
		o := compare(own, truth)
		best = off{min(best.matte, o.matte), min(best.look, o.look)}
	}
	return best
}

func rgba(t *testing.T, args ...string) []byte {
	t.Helper()
	raw, err := os.ReadFile(generate(t, "raw", append(args, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgba")...))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestScreens wants people before screens to be cut out, over all, at most half as wrong
// as by ffmpeg's chromakey and despill with the best of their settings, and nowhere
// more than three quarters as wrong.
func TestScreens(t *testing.T) {
	t.Parallel()
	var ours, theirs off
	for _, s := range studios {
		for _, crf := range []int{18, 28} {
			path, truth := s.shoot(t, crf)
			out := filepath.Join(t.TempDir(), "out.apng")
			result := remove(t, path, out, bgremove.Options{Format: bgremove.APNG})
			us, them := compare(rgba(t, "-f", "apng", "-i", out), truth), s.chromakeyed(t, path, truth)
			t.Logf("%-18s crf %d: error of the matte %.4f, ffmpeg %.4f (%.2f); over grey %.4f, ffmpeg %.4f (%.2f)", s.name, crf,
				us.matte, them.matte, us.matte/them.matte, us.look, them.look, us.look/them.look)
			if !strings.Contains(result.Reason, " screen") || us.matte > 0.75*them.matte || us.look > them.look || len(result.Quality.Warnings) > 0 {
				t.Errorf("%s: %+v", result.Reason, result.Quality)
			}
			ours.matte, ours.look = ours.matte+us.matte/10, ours.look+us.look/10
			theirs.matte, theirs.look = theirs.matte+them.matte/10, theirs.look+them.look/10
		}
	}
	t.Logf("mean: error of the matte %.4f, ffmpeg %.4f (%.2f); over grey %.4f, ffmpeg %.4f (%.2f)",
		ours.matte, theirs.matte, ours.matte/theirs.matte, ours.look, theirs.look, ours.look/theirs.look)
	if ours.matte > theirs.matte/2 {
		t.Errorf("more than half as wrong as ffmpeg")
	}
}

// TestKeys wants a screen to be found by any colour near its hue, and no other.
func TestKeys(t *testing.T) {
	t.Parallel()
	path, truth := studios[1].shoot(t, 23)
	for _, tt := range []struct {
		key  string
		good bool
	}{{"", true}, {"auto", true}, {"green", true}, {"#00ff00", true}, {"#30a040", true}, {"blue", false}, {"#ff00ff", false}} {
		out := filepath.Join(t.TempDir(), "out.apng")
		result := remove(t, path, out, bgremove.Options{Format: bgremove.APNG, Method: bgremove.Fast, Key: tt.key})
		if good := compare(rgba(t, "-f", "apng", "-i", out), truth).matte < 0.01; good != tt.good {
			t.Errorf("key %q: right is %v, want %v (%s)", tt.key, good, tt.good, result.Reason)
		}
	}
}

// TestDrawn wants a drawn figure in another green than its backdrop to be kept, however
// the clip was spoilt, and so with one in the colour that is given.
func TestDrawn(t *testing.T) {
	t.Parallel()
	const w, h, frames = 240, 180, 4
	draw := func(subject, backdrop [3]float64, noise float64) (raw, truth []byte) {
		dice := rand.New(rand.NewPCG(3, 4))
		for at := range w * h * frames {
			x, y, c := float64(at%w), float64(at/w%h), backdrop
			inside := 60 - math.Hypot(x-110-5*float64(at/(w*h)), y-100)
			if inside > 0 {
				if c = subject; inside < 4 {
					c = [3]float64{10, 30, 10}
				}
			}
			for k := range c {
				raw = append(raw, uint8(min(max(c[k]+noise*dice.NormFloat64(), 0), 255)))
			}
			truth = append(truth, 0, 0, 0, uint8(255*min(max(inside, 0), 1)))
		}
		return raw, truth
	}
	h264 := []string{"-pix_fmt", "yuv420p", "-c:v", "libx264", "-crf"}
	frog, lawn := [3]float64{90, 200, 60}, [3]float64{40, 170, 70}
	for _, tt := range []struct {
		name              string
		subject, backdrop [3]float64
		noise             float64
		key, file         string
		args              []string
	}{
		{"poor video", frog, lawn, 0, "", "a.mp4", append(h264, "36", "-preset", "ultrafast")},
		{"noisy video", frog, lawn, 4, "", "a.mp4", append(h264, "20")},
		{"dithered", frog, lawn, 0, "", "a.gif", []string{"-vf", "split[a][b];[a]palettegen=max_colors=16[p];[b][p]paletteuse=dither=bayer"}},
		{"diffused", frog, lawn, 4, "", "a.gif", []string{"-vf", "split[a][b];[a]palettegen=max_colors=48[p];[b][p]paletteuse"}},
		{"skin before a beige that is given", [3]float64{224, 172, 140}, [3]float64{235, 205, 170}, 0, "#ebcdaa", "a.mp4", append(h264, "20")},
		{"orange before a red that is given", [3]float64{250, 160, 60}, [3]float64{220, 60, 40}, 0, "#dc3c28", "a.mp4", append(h264, "20")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			raw, truth := draw(tt.subject, tt.backdrop, tt.noise)
			path := filepath.Join(t.TempDir(), tt.file)
			cmd := exec.CommandContext(t.Context(), "ffmpeg", append([]string{"-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", fmt.Sprintf("%dx%d", w, h), "-i", "pipe:"},
				append(tt.args, path)...)...)
			cmd.Stdin = bytes.NewReader(raw)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("ffmpeg: %v\n%s", err, out)
			}
			out := filepath.Join(t.TempDir(), "out.apng")
			result := remove(t, path, out, bgremove.Options{Format: bgremove.APNG, Key: tt.key})
			if o := compare(rgba(t, "-f", "apng", "-i", out), truth); o.matte > 0.01 {
				t.Errorf("error of the matte %.4f (%s)", o.matte, result.Reason)
			}
		})
	}
}

// TestKeepShadow wants the shadow on a screen to be black where it is kept, and to be
// gone where it is not.
func TestKeepShadow(t *testing.T) {
	t.Parallel()
	s := studios[2]
	path, _ := s.shoot(t, 18)
	cx, cy := person(0)
	x, y := int(cx)+62, int(cy)-30 // in the shadow, beside the head
	for _, keep := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out.apng")
		remove(t, path, out, bgremove.Options{Format: bgremove.APNG, Key: "green", KeepShadow: keep})
		pix := rgba(t, "-f", "apng", "-i", out)
		p, light := pix[4*(y*studioWidth+x):], pix[4*(20*studioWidth+20):]
		if kept := p[3] > 60 && p[3] < 120 && max(p[0], p[1], p[2]) < 24; kept != keep || !keep && p[3] > 4 || light[3] > 4 {
			t.Errorf("keep %v: the shadow is %v, the light screen %v", keep, p[:4], light[:4])
		}
	}
}

// TestKeepShadowOfDrawing wants a drawn flat green to be a screen where its shadows are kept: the
// flood, which it is for otherwise, knows none.
func TestKeepShadowOfDrawing(t *testing.T) {
	t.Parallel()
	path := generate(t, "drawn.mp4", "-f", "lavfi", "-i", "color=0x2fb457:size=320x180:rate=10:duration=0.5,"+
		"drawbox=x=150:y=60:w=60:h=80:color=0x1a6430:t=fill,drawbox=x=110:y=50:w=60:h=90:color=0xc8a08c:t=fill", "-pix_fmt", "yuv420p")
	out := filepath.Join(t.TempDir(), "out.apng")
	result := remove(t, path, out, bgremove.Options{Format: bgremove.APNG, KeepShadow: true})
	pix := rgba(t, "-f", "apng", "-i", out)
	at := func(x, y int) []byte { return pix[4*(y*320+x):][:4] }
	shadow, subject, screen := at(195, 100), at(140, 100), at(40, 40)
	if shadow[3] < 80 || shadow[3] > 140 || shadow[1] > 24 || subject[3] != 255 || screen[3] > 4 {
		t.Errorf("%s: the shadow is %v, the subject %v, the screen %v", result.Reason, shadow, subject, screen)
	}
}
