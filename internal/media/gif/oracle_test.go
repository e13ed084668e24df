package gif_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	stdgif "image/gif"
	"math/rand/v2"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
)

// TestOracle compares with image/gif on files that image/gif has written.
func TestOracle(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{1, 1}, {7, 3}, {160, 90}, {333, 257}} {
		data := synthetic(t, 6, size.X, size.Y)
		frames, truncated, err := readAll(bytes.NewReader(data), media.Limits{})
		if err != nil || truncated {
			t.Fatalf("%v: truncated %v, error %v", size, truncated, err)
		}
		info, err := gif.Scan(bytes.NewReader(data), media.Limits{})
		if err != nil || anyTransparent(frames) && !info.HasAlpha {
			t.Errorf("%v: alpha %v, error %v, but there are transparent pixels", size, info.HasAlpha, err)
		}
		want := composeStd(t, data)
		if len(frames) != len(want) {
			t.Fatalf("%v: %d frames, want %d", size, len(frames), len(want))
		}
		for i := range want {
			if !samePixels(want[i].Pix, frames[i].Image.Pix) {
				t.Errorf("%v: frame %d differs", size, i)
			}
		}
	}
}

// TestFlat decodes pictures of one colour: the longest strings in LZW, and
// strips that end in the last bytes of the data.
func TestFlat(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{500, 34}, {500, 35}, {16384, 2}, {1, 20000}, {4096, 2200}} {
		m := image.NewPaletted(image.Rectangle{Max: size}, color.Palette{color.Black, color.White})
		for i := range m.Pix {
			m.Pix[i] = 1
		}
		var b bytes.Buffer
		if err := stdgif.Encode(&b, m, nil); err != nil {
			t.Fatal(err)
		}
		frames, truncated, err := readAll(&b, media.Limits{})
		if err != nil || truncated || len(frames) != 1 {
			t.Fatalf("%v: %d frames, truncated %v, error %v", size, len(frames), truncated, err)
		}
		if n := bytes.Count(frames[0].Image.Pix, []byte{255}); n != 4*size.X*size.Y {
			t.Errorf("%v: %d of %d bytes are white", size, n, 4*size.X*size.Y)
		}
	}
}

func anyTransparent(frames []*media.Frame) bool {
	for _, f := range frames {
		for i := 3; i < len(f.Image.Pix); i += 4 {
			if f.Image.Pix[i] == 0 {
				return true
			}
		}
	}
	return false
}

// TestCutAnywhere cuts a clip after every byte. Scan and Reader agree, and the
// remaining frames are those of the whole clip.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	data := synthetic(t, 4, 13, 9)
	whole, _, err := readAll(bytes.NewReader(data), media.Limits{})
	if err != nil || len(whole) != 4 {
		t.Fatalf("%d frames, error %v", len(whole), err)
	}
	for n := range data {
		frames := agree(t, data[:n], media.Limits{})
		for i, f := range frames {
			if i > 0 && !bytes.Equal(f.Image.Pix, whole[i].Image.Pix) {
				t.Errorf("cut at %d: frame %d differs", n, i)
			}
		}
	}
}

// agree reads data with Scan and Reader and compares them.
func agree(t *testing.T, data []byte, lim media.Limits) []*media.Frame {
	t.Helper()
	frames, _, readErr := readAll(bytes.NewReader(data), lim)
	info, scanErr := gif.Scan(bytes.NewReader(data), lim)
	switch {
	case (readErr == nil) != (scanErr == nil):
		t.Errorf("Reader says %v, Scan %v", readErr, scanErr)
	case readErr == nil && len(frames) == 0:
		t.Error("no frame and no error")
	case readErr == nil:
		checkInfo(t, "", info, frames)
	}
	return frames
}

// composeStd decodes with image/gif and composes in the simplest way.
func composeStd(t testing.TB, data []byte) []*image.NRGBA {
	t.Helper()
	g, err := stdgif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	canvas := image.NewNRGBA(image.Rect(0, 0, g.Config.Width, g.Config.Height))
	var out []*image.NRGBA
	for i, m := range g.Image {
		below := clone(canvas)
		draw.Draw(canvas, m.Rect, m, m.Rect.Min, draw.Over)
		out = append(out, clone(canvas))
		switch g.Disposal[i] {
		case stdgif.DisposalBackground:
			draw.Draw(canvas, m.Rect, image.Transparent, image.Point{}, draw.Src)
		case stdgif.DisposalPrevious:
			canvas = below
		}
	}
	return out
}

func clone(m *image.NRGBA) *image.NRGBA {
	c := image.NewNRGBA(m.Rect)
	copy(c.Pix, m.Pix)
	return c
}

// synthetic draws a clip of n frames with image/gif: a noisy gradient with a
// moving disc. It has all disposals, local palettes, a transparent colour and
// pictures smaller than the canvas.
func synthetic(t testing.TB, n, w, h int) []byte {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	g := &stdgif.GIF{Config: image.Config{Width: w, Height: h}, LoopCount: 0}
	for i := range n {
		rect := image.Rect(0, 0, w, h)
		if i%3 == 2 {
			rect = image.Rect(w/4, h/4, w/4+(w+1)/2, h/4+(h+1)/2)
		}
		g.Image = append(g.Image, drawFrame(rnd, i, rect))
		g.Delay = append(g.Delay, i)
		g.Disposal = append(g.Disposal, byte(i%4))
	}
	var b bytes.Buffer
	if err := stdgif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func drawFrame(rnd *rand.Rand, i int, rect image.Rectangle) *image.Paletted {
	pal := make(color.Palette, 256)
	for c := range pal {
		pal[c] = color.NRGBA{uint8(c), uint8(255 - c), uint8(16 * i), 255}
	}
	if i%2 == 1 {
		pal[0] = color.NRGBA{}
	}
	m := image.NewPaletted(rect, pal)
	for y := range rect.Dy() {
		for x := range rect.Dx() {
			index := uint8(x*200/rect.Dx() + rnd.IntN(3))
			if dx, dy := x-rect.Dx()/2-4*i, y-rect.Dy()/2; dx*dx+dy*dy < rect.Dy()*rect.Dy()/9 {
				index = uint8((i + 1) % 2)
			}
			m.Pix[y*m.Stride+x] = index
		}
	}
	return m
}
