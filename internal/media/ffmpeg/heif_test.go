package ffmpeg_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/heif"
	"github.com/bgremove/bgremove/internal/media/yuv"
)

// softDisc is a picture of smooth colours with a soft disc of alpha, and something in
// each corner that tells it from the others.
func softDisc(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			dx, dy := float64(x-w/3), float64(y-h/2)
			cover := (float64(h)/3-math.Hypot(dx, dy))/6 + 0.5
			if x < w/5 && y < h/5 {
				cover = 1
			}
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(40 + 180*x/w), G: uint8(60 + 150*y/h), B: uint8(200 - 120*x/w), A: uint8(255 * max(0, min(1, cover)))})
		}
	}
	return img
}

// place makes a picture of another, each pixel from where from says.
func place(img *image.NRGBA, w, h int, from func(x, y int) (int, int)) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			out.SetNRGBA(x, y, img.NRGBAAt(from(x, y)))
		}
	}
	return out
}

func writePNG(t *testing.T, img image.Image) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.png")
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(png.Encode(f, img), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// readStill reads a picture that is a clip of one frame.
func readStill(t *testing.T, path string, container media.Container) (*image.NRGBA, media.Info, error) {
	t.Helper()
	clip, err := tools(t).Probe(t.Context(), path, container, media.Limits{})
	if err != nil {
		return nil, media.Info{}, err
	}
	src, err := clip.Open(t.Context(), media.ReadOptions{Pool: new(media.Pool)})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	frame, err := src.Next(t.Context())
	if err != nil {
		return nil, clip.Info(), err
	}
	if _, err := src.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the picture: %v", err)
	}
	return frame.Image, clip.Info(), nil
}

// difference is how far two pictures are apart: the mean of visible colours and of
// alpha, and the greatest of each.
func difference(a, b *image.NRGBA) (meanColour, meanAlpha float64, maxColour, maxAlpha int) {
	for i := 0; i < len(a.Pix); i += 4 {
		d := int(a.Pix[i+3]) - int(b.Pix[i+3])
		d = max(d, -d)
		meanAlpha, maxAlpha = meanAlpha+float64(d), max(maxAlpha, d)
		for c := range 3 {
			d := (int(a.Pix[i+c])*int(a.Pix[i+3]) - int(b.Pix[i+c])*int(b.Pix[i+3])) / 255
			d = max(d, -d)
			meanColour, maxColour = meanColour+float64(d)/3, max(maxColour, d)
		}
	}
	n := float64(len(a.Pix) / 4)
	return meanColour / n, meanAlpha / n, maxColour, maxAlpha
}

// Files of libavif are read with the pixels that it was given, upright.
func TestStillAVIF(t *testing.T) {
	t.Parallel()
	img := softDisc(256, 192)
	odd := softDisc(97, 61)
	turned := func(x, y int) (int, int) { return 256 - 1 - y, x }
	for name, tt := range map[string]struct {
		args      []string
		img, want *image.NRGBA
		most      int // 0 is lossless
	}{
		"straight":      {nil, img, img, 10},
		"premultiplied": {[]string{"-p"}, img, img, 16},
		"limited":       {[]string{"-r", "limited"}, img, img, 10},
		"4:2:0":         {[]string{"-y", "420"}, img, img, 10},
		"10 bit":        {[]string{"-d", "10"}, img, img, 10},
		"12 bit 4:2:0":  {[]string{"-d", "12", "-y", "420", "-r", "limited"}, img, img, 10},
		"BT.709":        {[]string{"--cicp", "1/13/1"}, img, img, 10},
		"lossless":      {[]string{"-l"}, img, img, 0},
		"odd":           {[]string{"-y", "420"}, odd, odd, 12},
		"odd premult":   {[]string{"-p"}, odd, odd, 16},
		"grid":          {[]string{"-g", "2x2"}, img, img, 10},
		"grid 4:2:0":    {[]string{"-g", "4x3", "-y", "420"}, img, img, 10},
		"irot":          {[]string{"--irot", "1"}, img, place(img, 192, 256, turned), 10},
		"imir 0":        {[]string{"--imir", "0"}, img, place(img, 256, 192, func(x, y int) (int, int) { return x, 191 - y }), 10},
		"imir 1":        {[]string{"--imir", "1"}, img, place(img, 256, 192, func(x, y int) (int, int) { return 255 - x, y }), 10},
		"crop":          {[]string{"--crop", "10,20,100,80"}, img, place(img, 100, 80, func(x, y int) (int, int) { return x + 10, y + 20 }), 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := tt.args
			if tt.most > 0 {
				args = append([]string{"--min", "0", "--max", "12", "--minalpha", "0", "--maxalpha", "12"}, args...)
			}
			got, info, err := readStill(t, avifFile(t, tt.img, args...), media.AVIF)
			if err != nil {
				t.Fatal(err)
			}
			if !info.Still || !info.HasAlpha || info.Codec != "av1" {
				t.Errorf("it is %+v", info)
			}
			checkNear(t, got, tt.want, 1, tt.most)
		})
	}
}

// The weights of colours in luma are those of the picture's matrix, or near it.
func TestStillLuma(t *testing.T) {
	t.Parallel()
	for cicp, want := range map[string]yuv.Matrix{
		"2/2/2": yuv.BT601, "1/13/5": yuv.BT601, "1/13/6": yuv.BT601, "1/13/1": yuv.BT709, "9/13/9": yuv.BT709,
	} {
		path := avifFile(t, softDisc(64, 48), "-y", "420", "--cicp", cicp)
		clip, err := tools(t).Probe(t.Context(), path, media.AVIF, media.Limits{})
		if err != nil || clip.Info().Luma != want.Weights() {
			t.Errorf("matrix %s: %v, %v", cicp, clip.Info().Luma, err)
		}
	}
}

// An ffmpeg needs HEVC also for alpha behind colours of AV1.
func TestStillNeeds(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(avifFile(t, softDisc(64, 48)))
	if err != nil {
		t.Fatal(err)
	}
	mixed := bytes.Clone(file)
	for from, to := range map[string]string{"av01": "hvc1", "av1C": "hvcC"} {
		copy(mixed[bytes.LastIndex(mixed, []byte(from)):], to) // of the alpha, which is the last
	}
	for want, file := range map[string][]byte{"": file, "hevc": mixed} {
		clip, err := tools(t).Probe(t.Context(), save(t, "x.avif", file), media.AVIF, media.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if needs := strings.Join(clip.Needs(), " "); needs != want {
			t.Errorf("it needs %q, not %q", needs, want)
		}
	}
}

// Files of libheif are read with the pixels that it was given.
func TestHEIC(t *testing.T) {
	t.Parallel()
	for name, img := range map[string]*image.NRGBA{
		"whole": softDisc(200, 150), "opaque": softDisc(200, 150), "tiles": softDisc(200, 150), "odd": softDisc(97, 61),
		"444": softDisc(200, 150), "10bit": softDisc(200, 150), "limited": softDisc(200, 150),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, info, err := readStill(t, "../../../testdata/heif/"+name+".heic", media.HEIF)
			if err != nil {
				t.Fatal(err)
			}
			if opaque := name == "opaque"; info.HasAlpha == opaque || !info.Still || info.Codec != "hevc" {
				t.Errorf("it is %+v", info)
			} else if opaque {
				for i := 3; i < len(img.Pix); i += 4 {
					img.Pix[i] = 255
				}
			}
			checkNear(t, got, img, 1, 10)
		})
	}
}

// checkNear compares pictures, of which the first is read. Alpha and visible colours may
// differ by mean on the mean, and by most.
func checkNear(t *testing.T, got, want *image.NRGBA, mean float64, most int) {
	t.Helper()
	if got.Rect != want.Rect {
		t.Fatalf("the picture has %v, want %v", got.Rect, want.Rect)
	}
	c, a, mc, ma := difference(got, want)
	if max(c, a) > mean || max(mc, ma) > most {
		t.Errorf("colours differ by %.2f on the mean and by %d at most, alpha by %.2f and %d", c, mc, a, ma)
	}
}

// avifFile is a file that avifenc makes.
func avifFile(t *testing.T, img image.Image, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.avif")
	out, err := exec.CommandContext(t.Context(), "avifenc", append(args, writePNG(t, img), path)...).CombinedOutput()
	if err != nil {
		t.Fatalf("avifenc: %v: %s", err, out)
	}
	return path
}

// A file may say less than its pictures need, and a part of it may be no picture.
func TestHostileStill(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(avifFile(t, softDisc(256, 192), "-g", "2x2"))
	if err != nil {
		t.Fatal(err)
	}
	change := func(from int, with ...byte) string {
		return save(t, "x.avif", append(append(bytes.Clone(file[:from]), with...), file[from+len(with):]...))
	}
	place := bytes.Index(file, []byte("mdat"))
	for name, path := range map[string]string{
		"a tile of zeros": change(place+4, make([]byte, 300)...),
		"its end missing": save(t, "x.avif", file[:len(file)-1]),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := readStill(t, path, media.AVIF); !errors.As(err, new(*media.UnreadableError)) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	small := bytes.Replace(file, []byte("\x00\x00\x00\x80\x00\x00\x00\x60"), []byte("\x00\x00\x00\x08\x00\x00\x00\x06"), 1) // ispe of the tiles
	small = bytes.ReplaceAll(small, []byte("\x00\x01\x01\x01\x00\x00\xc0"), []byte("\x00\x01\x01\x00\x10\x00\x0c"))         // and both grids
	if _, _, err := readStill(t, save(t, "x.avif", small), media.AVIF); !errors.As(err, new(*media.UnreadableError)) {
		t.Errorf("larger pictures than the file says: %v", err)
	}
	clip, err := tools(t).Probe(t.Context(), save(t, "y.avif", file), media.AVIF, media.Limits{MaxArea: 128 * 96})
	if !errors.As(err, new(*media.LimitError)) {
		t.Errorf("over the limit: %v, %v", clip, err)
	}
	heic := []byte("\x00\x00\x00\x18ftyphevc\x00\x00\x00\x00mif1hevc")
	if _, _, err := readStill(t, save(t, "x.heic", heic), media.HEIF); !errors.As(err, new(*heif.NotReadError)) {
		t.Errorf("a sequence: %v", err)
	}
}
