package bgremove_test

import (
	"encoding/json"
	"errors"
	"image"
	"image/color"
	stdgif "image/gif"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/synth"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

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
