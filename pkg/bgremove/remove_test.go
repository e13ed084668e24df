package bgremove_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdgif "image/gif"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/synth"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// generate makes a fixture with the ffmpeg program.
func generate(t *testing.T, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append(append([]string{"-nostdin", "-v", "error"}, args...), path)
	if out, err := exec.CommandContext(t.Context(), "ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg %v: %v\n%s", args, err, out)
	}
	return path
}

// timeStamps are the PTS of the first video stream's packets, in seconds.
func timeStamps(t *testing.T, path string) (stamps []float64) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.FieldsSeq(string(out)) {
		if line = strings.Trim(line, ","); line == "" {
			continue // the line of a packet's side data
		}
		s, err := strconv.ParseFloat(line, 64)
		if err != nil {
			t.Fatal(err)
		}
		stamps = append(stamps, s)
	}
	return stamps
}

func remove(t *testing.T, in, out string, o bgremove.Options) *bgremove.Result {
	t.Helper()
	result, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, out, o, bgremove.Extras{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const onGreen = "color=0x20c040:size=96x64:rate=30000/1001:duration=1"

// movingSquare is a red square that crosses a green picture.
func movingSquare(extra ...string) []string {
	return append([]string{"-f", "lavfi", "-i", onGreen, "-f", "lavfi", "-i", "color=red:size=20x20:rate=30000/1001:duration=1",
		"-filter_complex", "[0][1]overlay=x='10+50*t':y=20:shortest=1"}, extra...)
}

// Video keeps each PTS within a millisecond, at a variable rate too.
func TestVideoKeepsTimes(t *testing.T) {
	t.Parallel()
	constant := generate(t, "constant.mp4", movingSquare()...)
	variable := generate(t, "variable.mp4", "-i", constant, "-vf", "select='not(eq(mod(n,7),3))'", "-fps_mode", "passthrough", "-enc_time_base", "-1")
	for _, in := range []string{constant, variable} {
		for _, format := range []bgremove.Format{bgremove.AVIF, bgremove.WebM, bgremove.MP4, bgremove.MOV, bgremove.Stacked} {
			t.Run(filepath.Base(in)+" to "+string(format), func(t *testing.T) {
				t.Parallel()
				out := filepath.Join(t.TempDir(), "out."+string(format))
				o := bgremove.Defaults()
				o.Format, o.Background = format, "#ffffff"
				result := remove(t, in, out, o)
				want, got := timeStamps(t, in), timeStamps(t, out)
				if len(got) != len(want) || result.Frames != len(want) {
					t.Fatalf("%d frames, reported %d, want %d", len(got), result.Frames, len(want))
				}
				// Packets of the source come in decoding order.
				slices.Sort(want)
				for i := range want {
					if d := math.Abs((got[i] - got[0]) - (want[i] - want[0])); d > 0.001 {
						t.Errorf("frame %d is off by %.4f s", i, d)
					}
				}
				if math.Abs(result.Duration-1.001) > 0.0015 {
					t.Errorf("duration = %v", result.Duration)
				}
			})
		}
	}
}

// TestRandomTimes sends clips of random gaps, many of them half or all of the span
// of a shortened timestamp, through the whole program, and wants each frame's time
// within what the format can say.
func TestRandomTimes(t *testing.T) {
	t.Parallel()
	patterns := [][]int{{3, 2, 7, 8, 20, 3, 47}} // of 60ths of a second; one that went wrong
	r := rand.New(rand.NewPCG(27, 1))
	for range 4 {
		pattern := make([]int, 20)
		for i := range pattern {
			if pattern[i] = []int{8, 16, 24, 32}[r.IntN(4)]; r.IntN(2) == 0 {
				pattern[i] = 2 + r.IntN(60)
			}
		}
		patterns = append(patterns, pattern)
	}
	for i, pattern := range patterns {
		frames, at, times := len(pattern)+1, 0, "0"
		for i, gap := range pattern {
			at += gap
			times += fmt.Sprintf("+%d*gte(N,%d)", gap, i+1)
		}
		in := generate(t, "in.mp4", movingSquare("-frames:v", strconv.Itoa(frames))...)
		in = generate(t, "variable.mp4", "-i", in, "-vf", "settb=1/60,setpts='"+times+"'", "-fps_mode", "passthrough", "-enc_time_base", "1:60")
		want := timeStamps(t, in)
		slices.Sort(want)
		if len(want) != frames || math.Abs(want[frames-1]-float64(at)/60) > 1e-5 {
			t.Fatalf("the source is at %v", want)
		}
		for format, resolution := range map[bgremove.Format]float64{bgremove.WebM: .001, bgremove.APNG: .0005, bgremove.GIF: .005} {
			t.Run(fmt.Sprint(i, " to ", format), func(t *testing.T) {
				t.Parallel()
				out := filepath.Join(t.TempDir(), "out."+string(format))
				o := bgremove.Defaults()
				o.Format, o.Method = format, bgremove.Fast
				remove(t, in, out, o)
				got, want := timeStamps(t, out), want
				if format == bgremove.GIF && len(got) == frames-1 {
					want = want[:frames-1] // the last frame lasts 1/60 s, less than a GIF can say
				}
				if len(got) != len(want) {
					t.Fatalf("%d frames, want %d", len(got), len(want))
				}
				for i := range want {
					if d := math.Abs(got[i] - want[i]); d > resolution+1e-6 {
						t.Errorf("frame %d is at %.4f s, want %.4f", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// Video becomes GIF without drift: the start of each frame is that of the
// source, rounded to centiseconds.
func TestVideoToGIFDoesNotDrift(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", movingSquare()...)
	out := filepath.Join(t.TempDir(), "out.gif")
	remove(t, in, out, bgremove.Defaults())
	g := readGIF(t, out)
	want := timeStamps(t, in)
	slices.Sort(want)
	if len(g.Delay) != len(want) {
		t.Fatalf("%d frames, want %d", len(g.Delay), len(want))
	}
	at := 0
	for i, d := range g.Delay {
		if drift := math.Abs(float64(at)/100 - want[i]); drift > 0.00501 {
			t.Errorf("frame %d drifts by %.4f s", i, drift)
		}
		at += d
	}
	if at != 100 {
		t.Errorf("the GIF lasts %d cs, want 100", at)
	}
}

func readGIF(t *testing.T, path string) *stdgif.GIF {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := stdgif.DecodeAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// More than 50 frames a second are too many for a GIF; the time stays.
func TestFastVideoToGIF(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", "-f", "lavfi", "-i", "color=0x20c040:size=64x64:rate=60:duration=1", "-f", "lavfi", "-i",
		"color=red:size=20x20:rate=60:duration=1", "-filter_complex", "[0][1]overlay=x='10+30*t':y=20:shortest=1")
	out := filepath.Join(t.TempDir(), "out.gif")
	result := remove(t, in, out, bgremove.Defaults())
	total := 0
	for i, d := range readGIF(t, out).Delay {
		if d < 2 {
			t.Errorf("delay %d is %d cs", i, d)
		}
		total += d
	}
	if total != 100 || result.DroppedFrames == 0 || result.Frames+result.DroppedFrames != 60 {
		t.Errorf("%d cs, %d frames, %d dropped", total, result.Frames, result.DroppedFrames)
	}
}

// Browsers show a frame for 100 ms that is to last for 10 or less. A slow-motion video has
// many of them, and keeps its time as an animation.
func TestSlowMotionToAnimation(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mkv", "-f", "lavfi", "-i", "color=0x20c040:size=64x64:rate=200:duration=0.3", "-f", "lavfi", "-i",
		"color=red:size=20x20:rate=200:duration=0.3", "-filter_complex", "[0][1]overlay=x='10+90*t':y=20:shortest=1", "-c:v", "ffv1")
	for name, want := range map[string]int{"out.apng": 20, "out.webp": 20, "out.avif": 20, "out.webm": 60} {
		o := bgremove.Options{Method: bgremove.Fast}
		o.Format, _ = bgremove.FormatOf(name)
		r := remove(t, in, filepath.Join(t.TempDir(), name), o)
		info, err := bgremove.New(bgremove.Config{}).Probe(t.Context(), r.Output)
		if err != nil {
			t.Fatal(err)
		}
		if r.Frames != want || r.DroppedFrames != 60-want || info.Frames > want || info.Duration != 0.3 {
			t.Errorf("%s: %d frames, %d dropped; it says %d in %g s", name, r.Frames, r.DroppedFrames, info.Frames, info.Duration)
		}
	}
}

// A sprite stands on the canvas's last row, unless there is padding under it.
func TestStandsOnTheGround(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", movingSquare()...)
	for pad, stands := range map[int]bool{0: true, option.Pad.Default: false} {
		out := filepath.Join(t.TempDir(), "out.gif")
		remove(t, in, out, bgremove.Options{Crop: true, Pad: pad, CanvasW: 64, CanvasH: 64, Anchor: bgremove.Bottom})
		frame := readGIF(t, out).Image[0]
		touches := false
		for x := range 64 {
			_, _, _, a := frame.At(x, 63).RGBA()
			touches = touches || image.Pt(x, 63).In(frame.Rect) && a > 0
		}
		if touches != stands {
			t.Errorf("with a padding of %d the last row is touched: %v", pad, touches)
		}
	}
}

// TestPixelArt wants a sprite to keep its colours to the pixel, enlarged too unless
// that is to be smooth.
func TestPixelArt(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.gif", "-f", "lavfi", "-i", "color=0x22c030:size=64x48:rate=5:duration=1", "-vf",
		"format=rgb24,drawbox=x=20:y=10:w=20:h=24:c=0x140c1c:t=fill,drawbox=x=22:y=12:w=16:h=20:c=0xe86048:t=fill,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none")
	for _, tt := range []struct {
		scale  bgremove.Scale
		canvas int
		crisp  bool
	}{{"", 0, true}, {"", 200, true}, {bgremove.ScaleNearest, 16, true}, {bgremove.ScaleSmooth, 200, false}} {
		out := filepath.Join(t.TempDir(), "out.png")
		remove(t, in, out, bgremove.Options{Format: bgremove.APNG, Crop: true, Scale: tt.scale, CanvasW: tt.canvas})
		raw, err := os.ReadFile(generate(t, "raw", "-f", "apng", "-i", out, "-f", "rawvideo", "-pix_fmt", "rgba"))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[[4]uint8]bool{}
		for i := 0; i+4 <= len(raw); i += 4 {
			if raw[i+3] > 0 {
				seen[[4]uint8(raw[i:])] = true
			}
		}
		if len(seen) < 2 || (len(seen) == 2) != tt.crisp {
			t.Errorf("scale %q to %d has %d colours: %v", tt.scale, tt.canvas, len(seen), seen)
		}
	}
}

// The transparency that a source has stays, multiplied by the matte.
func TestSourceAlphaIsKept(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mov", "-f", "lavfi", "-i", "color=black@0:size=64x64:rate=10:duration=0.5,format=argb", "-f", "lavfi", "-i",
		"color=red@0.5:size=32x32:rate=10:duration=0.5,format=argb", "-filter_complex", "[0][1]overlay=16:16:format=auto:alpha=straight,format=argb", "-c:v", "qtrle")
	out := filepath.Join(t.TempDir(), "out.apng")
	o := bgremove.Options{Format: bgremove.APNG}
	var seen color.NRGBA
	_, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, out, o, bgremove.Extras{
		Preview: func(_, after *image.NRGBA) { seen = after.NRGBAAt(32, 32) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen.A < 120 || seen.A > 136 || seen.R < 245 {
		t.Errorf("the half transparent red is %v", seen)
	}
}

// Sound goes along into WebM, MP4 and MOV, unless it is not wanted.
func TestSound(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", append([]string{"-f", "lavfi", "-i", "sine=duration=1"}, "-f", "lavfi", "-i", onGreen, "-shortest")...)
	for _, format := range []bgremove.Format{bgremove.WebM, bgremove.MP4, bgremove.MOV, bgremove.Stacked} {
		for _, silent := range []bool{false, true} {
			out := filepath.Join(t.TempDir(), "out."+string(format))
			o := bgremove.Options{Format: format, Background: "#000000", NoAudio: silent}
			remove(t, in, out, o)
			info, err := bgremove.New(bgremove.Config{}).Probe(t.Context(), out)
			if err != nil {
				t.Fatal(err)
			}
			if info.HasAudio == silent {
				t.Errorf("%s, silent %v: sound is %v", format, silent, info.HasAudio)
			}
		}
	}
}

// Editors read AAC and PCM in a MOV, so other sound becomes PCM.
func TestSoundOfMOV(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"in.mp4": "aac", "in.webm": "pcm_s16le"} {
		in := generate(t, name, append([]string{"-f", "lavfi", "-i", "sine=duration=1"}, "-f", "lavfi", "-i", onGreen, "-shortest")...)
		out := filepath.Join(t.TempDir(), "out.mov")
		remove(t, in, out, bgremove.Options{Format: bgremove.MOV})
		got, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name", "-of", "csv=p=0", out).Output()
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("the sound of %s is %s, want %s: %v", name, got, want, err)
		}
	}
}

// Nothing of the backdrop is left under alpha 0: read as if it had no alpha,
// the file shows no green.
func TestBackdropDoesNotLeak(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", movingSquare()...)
	out := filepath.Join(t.TempDir(), "out.webm")
	remove(t, in, out, bgremove.Options{Format: bgremove.WebM})
	// ffmpeg's own VP9 decoder ignores the alpha.
	raw, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-c:v", "vp9", "-i", out, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+2 < len(raw); i += 3 {
		if r, g, b := int(raw[i]), int(raw[i+1]), int(raw[i+2]); g > r+60 && g > b+60 {
			t.Fatalf("pixel %d,%d is %d,%d,%d", i/3%96, i/3/96, r, g, b)
		}
	}
}

// A playlist or script under a video's name is refused by its content, and
// what it points to is not opened.
func TestNothingElseIsOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.mp4")
	data, err := os.ReadFile(generate(t, "in.mp4", movingSquare()...))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"hls":    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" + secret + "\n#EXT-X-ENDLIST\n",
		"concat": "ffconcat version 1.0\nfile '" + secret + "'\n",
		"dash":   "<?xml version=\"1.0\"?><MPD><BaseURL>file://" + secret + "</BaseURL></MPD>",
	} {
		in := filepath.Join(dir, name+".mp4")
		if err := os.WriteFile(in, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := bgremove.New(bgremove.Config{}).Probe(t.Context(), in)
		if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.Unreadable {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}

// A GIF bomb is refused before a picture is decoded, and so leaves no trace.
func TestLimits(t *testing.T) {
	t.Parallel()
	in := filepath.Join(t.TempDir(), "in.gif")
	g := stdgif.GIF{}
	for range 5 {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, 20, 20), color.Palette{color.Black}))
		g.Delay = append(g.Delay, 5)
	}
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(stdgif.EncodeAll(f, &g), f.Close()); err != nil {
		t.Fatal(err)
	}
	for name, limits := range map[string]bgremove.Limits{
		"frames": {MaxFrames: 4}, "side": {MaxSide: 19}, "pixels": {MaxPixels: 1999},
	} {
		_, err := bgremove.New(bgremove.Config{Limits: limits}).Probe(t.Context(), in)
		if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.TooLarge {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	if _, err := bgremove.New(bgremove.Config{}).Probe(t.Context(), in); err != nil {
		t.Error(err)
	}
}

// Same-coloured areas inside the subject stay, and the crop is exact.
func TestEnclosedAreaSurvives(t *testing.T) {
	t.Parallel()
	clip := synth.Clip{Width: 320, Height: 180, Frames: 4, Backdrop: synth.Blue, Subject: synth.Window}
	dir := t.TempDir()
	for i := range 4 {
		writePNG(t, filepath.Join(dir, strconv.Itoa(i)+".png"), clip.Frame(i).Image)
	}
	in := generate(t, "in.mov", "-framerate", "10", "-i", filepath.Join(dir, "%d.png"), "-c:v", "png", "-pix_fmt", "rgb24")
	var after *image.NRGBA
	_, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, filepath.Join(dir, "out.apng"), bgremove.Options{Format: bgremove.APNG},
		bgremove.Extras{Preview: func(_, p *image.NRGBA) { after = p }})
	if err != nil {
		t.Fatal(err)
	}
	truth := clip.Frame(0)
	matte := image.NewAlpha(after.Rect)
	for i := range matte.Pix {
		matte.Pix[i] = after.Pix[4*i+3]
	}
	if iou := synth.IoU(matte, truth.Alpha); iou < 0.995 {
		t.Errorf("IoU = %.4f", iou)
	}
}

func TestResultIsJSON(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", movingSquare()...)
	result := remove(t, in, filepath.Join(t.TempDir(), "out.gif"), bgremove.Defaults())
	data, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"input", "output", "method", "reason", "model", "frames", "width", "height", "duration",
		"inputSize", "outputSize", "outputFormat", "timings", "device", "droppedFrames", "placement"} {
		if _, ok := keys[key]; !ok {
			t.Errorf("no %q in %s", key, data)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	negative := -1
	tests := map[string]struct {
		o    bgremove.Options
		want []string
	}{
		"zero":     {bgremove.Options{}, nil},
		"defaults": {bgremove.Defaults(), nil},
		"all": {bgremove.Options{Method: "x", Holes: "x", Anchor: "x", Format: "x", Tolerance: 33, Pad: -1, CanvasW: 15, CanvasH: 4097,
			Background: "red", Key: "#12345", EdgeColour: "#gggggg", Start: -1, End: -1, FPS: -1, Quality: 101, Loop: &negative},
			[]string{"method", "holes", "anchor", "outputFormat", "tolerance", "pad", "canvasW", "canvasH", "bgColor", "key", "edgeColour",
				"start", "end", "end", "fps", "quality", "loop"}},
		"upper case colour": {bgremove.Options{Background: "#FFAA00"}, nil},
		"signed colour":     {bgremove.Options{Background: "#+12345"}, []string{"bgColor"}},
		"end before start":  {bgremove.Options{Start: 2, End: 1}, []string{"end"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			if joined, ok := bgremove.Validate(tt.o).(interface{ Unwrap() []error }); ok {
				for _, err := range joined.Unwrap() {
					var e *bgremove.Error
					if !errors.As(err, &e) {
						t.Fatalf("%v is no *bgremove.Error", err)
					}
					got = append(got, e.Field)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestOutputPath(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a.gif": "a-nobg.webm", "dir.x/clip": "dir.x/clip-nobg.webm", "a.b.mp4": "a.b-nobg.webm"} {
		if got := bgremove.OutputPath(in, bgremove.WebM); got != want {
			t.Errorf("OutputPath(%q) = %q, want %q", in, got, want)
		}
	}
}
