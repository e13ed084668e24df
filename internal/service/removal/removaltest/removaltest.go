// Package removaltest draws what tests of jobs cut, and lists why cutting fails.
package removaltest

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"testing"
)

// Clip is a GIF of four seconds: a red square that moves before white.
func Clip(t testing.TB) []byte {
	t.Helper()
	g := &gif.GIF{}
	for i := range 8 {
		p := image.NewPaletted(image.Rect(0, 0, 64, 48), color.Palette{color.White, color.NRGBA{R: 200, A: 255}})
		for y := 10; y < 30; y++ {
			for x := 10 + 2*i; x < 30+2*i; x++ {
				p.SetColorIndex(x, y, 1)
			}
		}
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, 50)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
