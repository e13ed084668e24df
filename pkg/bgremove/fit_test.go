package bgremove_test

import (
	"encoding/json"
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/synth"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// grainy draws a clip with a subject that is hard to compress, and sound.
func grainy(t *testing.T, frames, rate int) string {
	t.Helper()
	c := synth.Clip{Width: 200, Height: 150, Frames: 40, Backdrop: synth.Blue, Subject: synth.Discs}
	raw, err := os.Create(filepath.Join(t.TempDir(), "raw"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range frames {
		p := c.Frame(i)
		for at, alpha := range p.Alpha.Pix {
			for ch := range 3 {
				if v := &p.Image.Pix[4*at+ch]; alpha == 255 {
					*v = uint8(min(max(int(*v)+r.IntN(60)-30, 0), 255))
				}
			}
		}
		if _, err := raw.Write(p.Image.Pix); err != nil {
			t.Fatal(err)
		}
	}
	return generate(t, "in.mov", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", "200x150", "-r", strconv.Itoa(rate), "-i", raw.Name(),
		"-f", "lavfi", "-i", "sine=300", "-shortest", "-c:v", "png", "-pix_fmt", "rgb24", "-c:a", "pcm_s16le")
}

// facts are what ffprobe finds in a file.
type facts struct {
	codecs        []string
	width, height int
	frames        int
	seconds       float64
}

func probeFacts(t *testing.T, path string) (f facts) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-count_packets", "-show_streams", "-show_format", "-show_entries", "packet=pts_time,duration_time,stream_index", "-of", "json", path).Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var probed struct {
		Streams []struct {
			Codec         string `json:"codec_name"`
			Width, Height int
			Packets       string `json:"nb_read_packets"`
		}
		Format struct {
			Duration string
		}
		Packets []struct {
			Index    int    `json:"stream_index"`
			PTS      string `json:"pts_time"`
			Duration string `json:"duration_time"`
		}
	}
	if err := json.Unmarshal(out, &probed); err != nil {
		t.Fatal(err)
	}
	for _, s := range probed.Streams {
		f.codecs = append(f.codecs, s.Codec)
	}
	f.width, f.height = probed.Streams[0].Width, probed.Streams[0].Height
	for _, p := range probed.Packets {
		if p.Index == 0 {
			at, _ := strconv.ParseFloat(p.PTS, 64)
			shown, _ := strconv.ParseFloat(p.Duration, 64)
			f.frames, f.seconds = f.frames+1, max(f.seconds, at+shown)
		}
	}
	if f.codecs[0] == "vp9" { // a WebM has no duration of its last packet
		f.seconds, _ = strconv.ParseFloat(probed.Format.Duration, 64)
	}
	return f
}

// webpFacts are what Google's webpmux finds; ffmpeg 5 reads no animated WebP.
func webpFacts(t *testing.T, path string) (f facts) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "webpmux", "-info", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	f.codecs = []string{"webp"}
	for line := range strings.Lines(string(out)) {
		if size, ok := strings.CutPrefix(line, "Canvas size: "); ok {
			w, h, _ := strings.Cut(strings.TrimSpace(size), " x ")
			f.width, _ = strconv.Atoi(w)
			f.height, _ = strconv.Atoi(h)
		}
		if fields := strings.Fields(line); len(fields) > 6 && strings.HasSuffix(fields[0], ":") && fields[0] != "No.:" {
			ms, _ := strconv.Atoi(fields[6])
			f.frames, f.seconds = f.frames+1, f.seconds+float64(ms)/1000
		}
	}
	return f
}

func factsOf(t *testing.T, path string) facts {
	t.Helper()
	if filepath.Ext(path) == ".webp" {
		return webpFacts(t, path)
	}
	return probeFacts(t, path)
}

// Whatever the format, an output keeps within its size, uses most of it, and says what
// it gave up.
func TestMaxSize(t *testing.T) {
	t.Parallel()
	in := grainy(t, 80, 20)
	for _, format := range []bgremove.Format{bgremove.GIF, bgremove.APNG, bgremove.WebP, bgremove.AVIF, bgremove.WebM, bgremove.MP4} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			o := bgremove.Defaults()
			o.Method, o.Format = bgremove.Fast, format
			if format == bgremove.MP4 {
				o.Background = "#ffffff"
			}
			dir := t.TempDir()
			whole := remove(t, in, filepath.Join(dir, "whole."+format.Extension()), o)
			for _, share := range []float64{1.2, 0.5, 0.2} {
				var before, after image.Point
				o.MaxSize = int64(share * float64(whole.OutputSize))
				out := filepath.Join(dir, strconv.Itoa(int(100*share))+"."+format.Extension())
				got, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, out, o,
					bgremove.Extras{Preview: func(a, b *image.NRGBA) { before, after = a.Rect.Size(), b.Rect.Size() }})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%.1f of %d bytes: %d, %+v", share, whole.OutputSize, got.OutputSize, *got.Fit)
				if got.OutputSize > o.MaxSize || share < 1 && float64(got.OutputSize) < 0.45*float64(o.MaxSize) {
					t.Errorf("%d bytes of %d", got.OutputSize, o.MaxSize)
				}
				if got.Fit.Encodes < 1 || got.Fit.Encodes > 3 || got.Fit.Limit != o.MaxSize || (len(got.Notes) == 0) != (share > 1) {
					t.Errorf("%+v, notes %v", *got.Fit, got.Notes)
				}
				if f := factsOf(t, out); f.frames != got.Frames || f.width != got.Width || f.height != got.Height || math.Abs(f.seconds-got.Duration) > 0.03 { // sound may end later
					t.Errorf("the file has %+v, the result says %d frames of %d×%d, %v s", f, got.Frames, got.Width, got.Height, got.Duration)
				}
				if after != (image.Point{X: got.Width, Y: got.Height}) || before != after {
					t.Errorf("the preview is %v and %v", before, after)
				}
			}
		})
	}
}

// One picture gives up quality, colours and size, and no frame rate: it has none.
func TestMaxSizeOfPicture(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.png", "-i", grainy(t, 1, 10), "-frames:v", "1")
	for _, format := range []bgremove.Format{bgremove.PNG, bgremove.WebP} {
		o, dir := bgremove.Options{Method: bgremove.Fast, Format: format}, t.TempDir()
		o.MaxSize = remove(t, in, filepath.Join(dir, "whole."+format.Extension()), o).OutputSize / 4
		got := remove(t, in, filepath.Join(dir, "small."+format.Extension()), o)
		t.Logf("%d of %d bytes, %+v, %v", got.OutputSize, o.MaxSize, *got.Fit, got.Notes)
		if got.OutputSize > o.MaxSize || got.Fit.FPS != 0 || got.Fit.Scale == 0 {
			t.Errorf("%s: %d of %d bytes, %+v, %v", format, got.OutputSize, o.MaxSize, *got.Fit, got.Notes)
		}
	}
}

// Where a size cannot be reached, the error says how far it went, and nothing is left.
func TestMaxSizeNotReached(t *testing.T) {
	t.Parallel()
	in := grainy(t, 12, 10)
	dir := t.TempDir()
	o := bgremove.Defaults()
	o.Method, o.MaxSize = bgremove.Fast, 100
	_, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, filepath.Join(dir, "out.gif"), o, bgremove.Extras{})
	if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.Failed || e.Cause != bgremove.SizeNotReached ||
		!strings.Contains(err.Error(), "the smallest output has ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	o.MaxSize = 1000
	o.Format = bgremove.MOV
	if err := bgremove.Validate(o); err == nil || !strings.Contains(err.Error(), "maxSize is for gif, apng, webp, avif, webm, mp4, png only") {
		t.Errorf("MOV: %v", err)
	}
}

// The outputs of every preset are within all of its limits, as other programs read
// them: of long clips and short ones, with sound, in each of its formats.
func TestPresets(t *testing.T) {
	t.Parallel()
	long, fluent, short := grainy(t, 110, 20), grainy(t, 160, 50), grainy(t, 3, 5)
	for _, name := range option.Presets()[1:] {
		limits, _ := name.Limits()
		for _, format := range limits.Formats {
			t.Run(string(name)+" "+string(format), func(t *testing.T) {
				t.Parallel()
				in := []string{long, short}
				if limits.MaxRate > 0 {
					in[0] = fluent
				}
				for _, in := range in {
					o := bgremove.Defaults()
					o.Method, o.Preset, o.Format = bgremove.Fast, name, format
					out := filepath.Join(t.TempDir(), "out."+format.Extension())
					got := remove(t, in, out, o)
					t.Logf("%d bytes, %d frames, %v s, %+v %v", got.OutputSize, got.Frames, got.Duration, *got.Fit, got.Notes)
					checkLimits(t, limits, out)
				}
			})
		}
	}
}

func checkLimits(t *testing.T, l option.Limits, path string) {
	t.Helper()
	f := factsOf(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	sides := []int{f.width, f.height}
	for what, wrong := range map[string]bool{
		"bytes":    info.Size() > l.MaxBytes,
		"sides":    slices.Min(sides) < l.MinSide || slices.Max(sides) > l.MaxSide,
		"longer":   l.LongSide > 0 && slices.Max(sides) != l.LongSide,
		"square":   l.Square && f.width != f.height,
		"frames":   f.frames < 1 || l.MaxFrames > 0 && f.frames > l.MaxFrames,
		"duration": l.MaxSeconds > 0 && f.seconds > l.MaxSeconds+0.001,
		"rate":     l.MaxRate > 0 && float64(f.frames)/f.seconds > l.MaxRate+0.01,
		"codec":    l.Codec != "" && f.codecs[0] != l.Codec,
		"sound":    l.Silent && len(f.codecs) > 1,
	} {
		if wrong {
			t.Errorf("%s: %d bytes, %+v", what, info.Size(), f)
		}
	}
}

// A preset cuts what is too long, and says so; trimmed clips are cut after that.
func TestPresetCuts(t *testing.T) {
	t.Parallel()
	clip := generate(t, "in.gif", "-i", grainy(t, 70, 10), "-vf", "tpad=start=10:start_mode=clone")
	for _, trim := range []bool{false, true} {
		o := bgremove.Defaults()
		o.Method, o.Preset, o.Trim, o.Format = bgremove.Fast, "discord-sticker", trim, ""
		got := remove(t, clip, filepath.Join(t.TempDir(), "out.png"), o)
		cut := slices.ContainsFunc(got.Notes, func(n bgremove.Note) bool { return n.Code == bgremove.CutShort })
		if got.Duration > 5 || got.Duration < 1 || !cut && got.Fit.Length == 0 {
			t.Errorf("trim %t: %v s, %v", trim, got.Duration, got.Notes)
		}
	}
}
