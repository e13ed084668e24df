package picture_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/picture"
)

// exif is a directory with an orientation.
func exif(orientation byte) []byte {
	return append([]byte("MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), orientation, 0, 0, 0, 0, 0, 0)
}

// quarters is a picture, twice as wide as high, of which only the upper left eighth is red.
func quarters() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 64, 32))
	for y := range 32 {
		for x := range 64 {
			c := color.NRGBA{B: 255, A: 255}
			if x < 32 && y < 16 {
				c = color.NRGBA{R: 255, A: 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func withJPEG(t *testing.T, orientation byte) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, quarters(), nil); err != nil {
		t.Fatal(err)
	}
	data := append([]byte("Exif\x00\x00"), exif(orientation)...)
	segment := append(binary.BigEndian.AppendUint16([]byte{0xFF, 0xD8, 0xFF, 0xE1}, uint16(len(data)+2)), data...)
	return append(segment, b.Bytes()[2:]...)
}

func encodePNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func withPNG(t *testing.T, orientation byte) []byte {
	return withChunk(encodePNG(t, quarters()), "eXIf", exif(orientation))
}

// withChunk is a PNG with a chunk behind its header.
func withChunk(file []byte, kind string, data []byte) []byte {
	chunk := append([]byte(kind), data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk))
	const header = 8 + 25
	chunk = append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), chunk...)
	return append(bytes.Clone(file[:header]), append(chunk, file[header:]...)...)
}

// A PNG without an alpha channel may name a colour that is transparent.
func TestTransparentColour(t *testing.T) {
	t.Parallel()
	grey := encodePNG(t, image.NewGray(image.Rect(0, 0, 4, 4)))
	opaque := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	for i := range opaque.Pix {
		opaque.Pix[i] = 255
	}
	for name, c := range map[string]struct {
		file []byte
		want bool
	}{
		"grey": {grey, false}, "a clear grey": {withChunk(grey, "tRNS", []byte{0, 0}), true},
		"RGB": {encodePNG(t, opaque), false}, "a clear colour": {withChunk(encodePNG(t, opaque), "tRNS", []byte{0, 255, 0, 255, 0, 255}), true},
	} {
		got, err := picture.ReadConfig(bytes.NewReader(c.file), media.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		img, err := picture.Decode(bytes.NewReader(c.file), media.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if seeThrough := img.Pix[3] == 0; got.HasAlpha != c.want || seeThrough != c.want {
			t.Errorf("%s: it says that it is transparent: %v, and is: %v", name, got.HasAlpha, seeThrough)
		}
	}
}

// Each orientation puts the stored upper left corner where EXIF says it is.
func TestOrientation(t *testing.T) {
	t.Parallel()
	corners := map[byte]string{0: "top left", 1: "top left", 2: "top right", 3: "bottom right", 4: "bottom left",
		5: "top left", 6: "top right", 7: "bottom right", 8: "bottom left", 9: "top left"}
	for orientation, want := range corners {
		for kind, file := range map[string][]byte{"jpeg": withJPEG(t, orientation), "png": withPNG(t, orientation)} {
			img, err := picture.Decode(bytes.NewReader(file), media.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if tall := img.Rect.Dy() > img.Rect.Dx(); tall != (orientation >= 5 && orientation <= 8) || img.Rect.Dx()+img.Rect.Dy() != 96 {
				t.Errorf("%s %d: %v", kind, orientation, img.Rect)
			}
			for name, at := range map[string]image.Point{"top left": {2, 2}, "top right": {img.Rect.Dx() - 3, 2},
				"bottom left": {2, img.Rect.Dy() - 3}, "bottom right": {img.Rect.Dx() - 3, img.Rect.Dy() - 3}} {
				if red := img.NRGBAAt(at.X, at.Y).R > 200; red != (name == want) {
					t.Errorf("%s %d: the red corner is %s: %v, want %s", kind, orientation, name, red, want)
				}
			}
		}
	}
}

// A WebP has its EXIF data behind the picture. webpmux puts them there.
func TestOrientationOfWebP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, out, data := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "exif")
	if err := errors.Join(os.WriteFile(in, encodePNG(t, quarters()), 0o600), os.WriteFile(data, exif(6), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"cwebp", "-quiet", "-lossless", in, "-o", out}, {"webpmux", "-set", "exif", data, out, "-o", in}} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	file, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	img, err := picture.Decode(bytes.NewReader(file), media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if img.Rect != image.Rect(0, 0, 32, 64) || img.NRGBAAt(29, 2) != (color.NRGBA{R: 255, A: 255}) || img.NRGBAAt(2, 2).R != 0 {
		t.Errorf("%v with %v in the upper right corner", img.Rect, img.NRGBAAt(29, 2))
	}
}

// Every kind of PNG keeps its colours and its alpha.
func TestColours(t *testing.T) {
	t.Parallel()
	half := color.NRGBA{200, 100, 50, 128}
	bounds := image.Rect(0, 0, 3, 2)
	deep, indexed, plain := image.NewNRGBA64(bounds), image.NewPaletted(bounds, color.Palette{color.NRGBA{}, half}), image.NewNRGBA(bounds)
	for i := range 6 {
		deep.Set(i%3, i/3, half)
		indexed.SetColorIndex(i%3, i/3, 1)
		plain.SetNRGBA(i%3, i/3, half)
	}
	for name, img := range map[string]image.Image{"16 bits": deep, "palette": indexed, "8 bits": plain} {
		got, err := picture.Decode(bytes.NewReader(encodePNG(t, img)), media.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if c := got.NRGBAAt(2, 1); c != half || got.Stride != 12 {
			t.Errorf("%s: %v, want %v", name, c, half)
		}
	}
}

func TestBadPictures(t *testing.T) {
	t.Parallel()
	file := encodePNG(t, quarters())
	sized := func(w, h uint32) string {
		b := bytes.Clone(file)
		binary.BigEndian.PutUint32(b[16:], w)
		binary.BigEndian.PutUint32(b[20:], h)
		binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
		return string(b)
	}
	broken := bytes.Clone(file)
	broken[len(broken)-20] ^= 1
	l := media.Limits{MaxSide: 16384}
	for name, tt := range map[string]struct {
		file, want string
		limit      bool
	}{
		"empty":    {"", "cannot be read", false},
		"cut":      {string(file[:60]), "cannot be read", false},
		"no size":  {sized(0, 4), "cannot be read", false},
		"huge":     {sized(100_000, 100_000), "picture side: 100000", true},
		"checksum": {string(broken), "cannot be read", false},
	} {
		_, err := picture.Decode(strings.NewReader(tt.file), l)
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, new(*media.LimitError)) != tt.limit {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90\x77\x53\xde\x00\x00\x00\x02eXIfMM"))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x0aExif\x00\x00II"))
	f.Add([]byte("RIFF\x0e\x00\x00\x00WEBPEXIF\x02\x00\x00\x00MM"))
	f.Fuzz(func(t *testing.T, file []byte) {
		img, err := picture.Decode(bytes.NewReader(file), media.Limits{MaxSide: 256})
		if err == nil && (img.Rect.Dx() > 256 || img.Rect.Dy() > 256) {
			t.Errorf("a picture of %v", img.Rect)
		}
	})
}
