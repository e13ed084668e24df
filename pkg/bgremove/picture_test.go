package bgremove_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdgif "image/gif"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// readPNG reads a picture, whose pixels must be stored as RGBA.
func readPNG(t *testing.T, path string) *image.NRGBA {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	rgba, ok := img.(*image.NRGBA)
	if !ok {
		t.Fatalf("%s is a %T", path, img)
	}
	return rgba
}

// photo is a picture of a soft-edged disc before blue.
func photo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "photo.png")
	img := image.NewNRGBA(image.Rect(0, 0, 80, 60))
	for y := range 60 {
		for x := range 80 {
			cover := max(0, min(255, 255-(((x-40)*(x-40)+(y-30)*(y-30))-300)*2))
			mix := func(front, back int) uint8 { return uint8((front*cover + back*(255-cover)) / 255) }
			copy(img.Pix[img.PixOffset(x, y):], []uint8{mix(200+x/2, 40), mix(60+y, 90), mix(30, 220), 255})
		}
	}
	writePNG(t, path, img)
	return path
}

// A picture becomes a PNG, whose pixels are those of an APNG of it, soft edges
// included.
func TestPictureBecomesPNG(t *testing.T) {
	t.Parallel()
	in, dir := photo(t), t.TempDir()
	o := bgremove.Defaults()
	o.Method = bgremove.Fast
	still := remove(t, in, filepath.Join(dir, "out.png"), o)
	if still.OutputFormat != bgremove.PNG || still.Frames != 1 || still.Duration != 0 {
		t.Errorf("the result is %+v", still)
	}
	got := readPNG(t, still.Output)
	o.Format = bgremove.APNG
	apng := remove(t, in, filepath.Join(dir, "out.apng"), o)
	want := pixels(t, apng.Output, apng.Width, apng.Height)
	if len(want) != 1 || !bytes.Equal(got.Pix, want[0].Pix) {
		t.Error("PNG and APNG differ")
	}
	var empty, soft, full int
	for i := 3; i < len(got.Pix); i += 4 {
		switch got.Pix[i] {
		case 0:
			empty++
		case 255:
			full++
		default:
			soft++
		}
	}
	if empty == 0 || soft == 0 || full == 0 {
		t.Errorf("%d pixels are clear, %d soft and %d full", empty, soft, full)
	}
	o.Format, o.Background = bgremove.PNG, "#ff0000"
	red := readPNG(t, remove(t, in, filepath.Join(dir, "red.png"), o).Output)
	if p := red.NRGBAAt(0, 0); p.R != 255 || p.A != 255 {
		t.Errorf("behind the subject is %v", p)
	}
}

// nearest is which of the pictures differs least in alpha: methods that measure the whole
// clip differ a little from those that see one picture.
func nearest(img *image.NRGBA, all []*image.NRGBA) (at int) {
	least := math.MaxInt
	for i, other := range all {
		sum := 0
		for k := 3; k < len(img.Pix); k += 4 {
			sum += max(int(img.Pix[k]), int(other.Pix[k])) - min(int(img.Pix[k]), int(other.Pix[k]))
		}
		if sum < least {
			at, least = i, sum
		}
	}
	return at
}

// The picture of a time is the frame that is shown then, also where frames last for
// seconds, and where the time is rounded.
func TestFrame(t *testing.T) {
	t.Parallel()
	square := func(rate string, seconds int, extra ...string) []string {
		source := fmt.Sprintf(":rate=%s:duration=%d", rate, seconds)
		return append([]string{"-f", "lavfi", "-i", "color=0x20c040:size=96x64" + source, "-f", "lavfi", "-i", "color=red:size=20x20" + source,
			"-filter_complex", fmt.Sprintf("[0][1]overlay=x='5+60*t/%d':y=20:shortest=1,format=bgr0", seconds)}, extra...)
	}
	for name, c := range map[string]struct {
		in    string
		times map[string]int // the frames that are shown
	}{
		"gif":  {generate(t, "in.gif", square("10", 1)...), map[string]int{"0s": 0, "99ms": 0, "100ms": 1, "950ms": 9}},
		"slow": {generate(t, "slow.mkv", square("0.25", 20, "-c:v", "ffv1")...), map[string]int{"0s": 0, "3.9s": 0, "4s": 1, "15s": 3, "19s": 4}},
		"ntsc": {generate(t, "ntsc.mkv", square("30000/1001", 1, "-c:v", "ffv1")...), map[string]int{"33ms": 1, "67ms": 2, "900ms": 26}},
		// Its first two frames cannot be decoded.
		"cut": {generate(t, "cut.mkv", "-i", generate(t, "key.mp4", square("10", 1, "-g", "5", "-bf", "0", "-pix_fmt", "yuv444p", "-crf", "4")...),
			"-ss", "0.3", "-c", "copy", "-copyinkf"), map[string]int{"0s": 0, "100ms": 0, "200ms": 0, "300ms": 1, "600ms": 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, o := t.TempDir(), bgremove.Options{Method: bgremove.Fast, Key: "#20c040"}
			o.Format = bgremove.APNG
			whole := remove(t, c.in, filepath.Join(dir, "whole.apng"), o)
			want := pixels(t, whole.Output, whole.Width, whole.Height)
			o.Format = ""
			for text, i := range c.times {
				at, err := time.ParseDuration(text)
				if err != nil {
					t.Fatal(err)
				}
				o.Frame = &at
				r := remove(t, c.in, filepath.Join(dir, text+".png"), o)
				if got := nearest(readPNG(t, r.Output), want); r.Frames != 1 || r.OutputFormat != bgremove.PNG || got != i {
					t.Errorf("the picture at %s is frame %d, not %d: %+v", text, got, i, r)
				}
			}
		})
	}
}

// Numbered pictures are the frames of a clip. With a rate they are repeated and left out
// so that it is constant.
func TestNumbered(t *testing.T) {
	t.Parallel()
	in := filepath.Join(t.TempDir(), "uneven.gif")
	clip := &stdgif.GIF{Delay: []int{10, 30, 5, 5, 20}}
	for i := range clip.Delay {
		img := image.NewPaletted(image.Rect(0, 0, 64, 48), color.Palette{color.NRGBA{R: 90, G: 120, B: 130, A: 255}, color.NRGBA{R: 220, G: 30, B: 20, A: 255}})
		for y := range 14 {
			for x := range 14 {
				img.SetColorIndex(5+9*i+x, 16+y, 1)
			}
		}
		clip.Image = append(clip.Image, img)
	}
	var b bytes.Buffer
	if err := errors.Join(stdgif.EncodeAll(&b, clip), os.WriteFile(in, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	o := bgremove.Options{Method: bgremove.Fast, Format: bgremove.APNG}
	whole := remove(t, in, filepath.Join(t.TempDir(), "whole.apng"), o)
	frames := pixels(t, whole.Output, whole.Width, whole.Height)
	for name, c := range map[string]struct {
		file  string
		fps   float64
		shown []int // which frames the pictures are
		rate  float64
	}{
		"each frame": {"f%02d.png", 0, []int{0, 1, 2, 3, 4}, 7.143},
		"at a rate":  {"f%02d.png", 10, []int{0, 1, 1, 1, 2, 4, 4}, 10},
		"webp":       {"f%d.webp", 10, []int{0, 1, 1, 1, 2, 4, 4}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, o := t.TempDir(), o
			o.Format, _ = bgremove.FormatOf(c.file)
			o.FPS = c.fps
			if o.Format == bgremove.WebP {
				o.Quality = 100
			}
			r, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, filepath.Join(dir, c.file), o, bgremove.Extras{Numbered: true})
			if err != nil {
				t.Fatal(err)
			}
			files, err := os.ReadDir(dir)
			if err != nil || len(files) != len(c.shown) || r.Frames != len(c.shown) || r.FrameRate != c.rate || len(r.Notes) != 1 || r.Notes[0].Code != bgremove.TimesLeft {
				t.Errorf("%d files of %+v, %v", len(files), r, err)
			}
			size := int64(0)
			for n, i := range c.shown {
				path := filepath.Join(dir, fmt.Sprintf(c.file, n+1))
				got := pixels(t, path, r.Width, r.Height)
				if len(got) != 1 || !bytes.Equal(got[0].Pix, frames[i].Pix) {
					t.Errorf("%s is not frame %d", path, i)
				}
				if stat, err := os.Stat(path); err == nil {
					size += stat.Size()
				}
			}
			if size != r.OutputSize {
				t.Errorf("the files have %d bytes, and not %d", size, r.OutputSize)
			}
		})
	}
}

// Without all pictures there is none: after a failure in the middle, and after an end
// of the context.
func TestNumberedAllOrNothing(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.gif", movingSquare("-r", "10")...)
	stopped := errors.New("stopped")
	for name, c := range map[string]struct {
		folder string // in the place of a picture
		stop   bool
		want   error
	}{
		"failure": {"f5.png", false, bgremove.OutputIsFolder},
		"stop":    {"", true, stopped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, x := t.TempDir(), bgremove.Extras{Numbered: true}
			if c.folder != "" {
				if err := os.Mkdir(filepath.Join(dir, c.folder), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			x.Progress = func(p bgremove.Progress) {
				if c.stop && p.Frame == 5 {
					cancel(stopped)
				}
			}
			o := bgremove.Options{Method: bgremove.Fast, Format: bgremove.PNG}
			if _, err := bgremove.New(bgremove.Config{}).Remove(ctx, in, filepath.Join(dir, "f%d.png"), o, x); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			files, err := os.ReadDir(dir)
			if err != nil || len(files) > 1 || len(files) == 1 && files[0].Name() != c.folder {
				t.Errorf("%v is left: %v", files, err)
			}
		})
	}
}
