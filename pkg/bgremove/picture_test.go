package bgremove_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

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
	var clear, soft, full int
	for i := 3; i < len(got.Pix); i += 4 {
		switch got.Pix[i] {
		case 0:
			clear++
		case 255:
			full++
		default:
			soft++
		}
	}
	if clear == 0 || soft == 0 || full == 0 {
		t.Errorf("%d pixels are clear, %d soft and %d full", clear, soft, full)
	}
	o.Format, o.Background = bgremove.PNG, "#ff0000"
	red := readPNG(t, remove(t, in, filepath.Join(dir, "red.png"), o).Output)
	if p := red.NRGBAAt(0, 0); p.R != 255 || p.A != 255 {
		t.Errorf("behind the subject is %v", p)
	}
}
