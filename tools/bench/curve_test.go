//go:build linux && cgo

package main

import (
	"math"
	"testing"
)

func TestCurveAt(t *testing.T) {
	t.Parallel()
	c := curve{{bytes: 400, psnr: 40, flicker: 1}, {bytes: 100, psnr: 30, flicker: 3}, {bytes: 300, psnr: 29, flicker: 9}}
	for size, want := range map[int]point{
		100: {psnr: 30, flicker: 3},
		200: {psnr: 35, flicker: 2},
		400: {psnr: 40, flicker: 1},
		999: {psnr: 40, flicker: 1},
	} {
		got, ok := c.at(size)
		if !ok || math.Abs(got.psnr-want.psnr) > 1e-9 || math.Abs(got.flicker-want.flicker) > 1e-9 {
			t.Errorf("at %d: %v, %v, want %v", size, got, ok, want)
		}
	}
	if got, ok := c.at(99); ok {
		t.Errorf("below the smallest file: %v", got)
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	ours := curve{{quality: 60, bytes: 100, psnr: 30, flicker: 1}, {quality: 100, bytes: 200, psnr: exact}}
	var got tally
	for _, g := range []point{
		{bytes: 50, psnr: 20, flicker: 5},
		{bytes: 100, psnr: 29, flicker: 0.5},
		{bytes: 100, psnr: 31, flicker: 2},
		{bytes: 300, psnr: exact},
	} {
		got.compare(g, ours)
	}
	if want := (tally{points: 4, reached: 3, psnr: 2, flicker: 2, both: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestShown reads back a clip with a repeated frame.
func TestShown(t *testing.T) {
	t.Parallel()
	a := animation{}
	for _, i := range []int{0, 1, 1, 2} {
		a.frames = append(a.frames, pixelArt(20*i))
	}
	data, err := writeGIF(t.Context(), a, 100)
	if err != nil {
		t.Fatal(err)
	}
	got, err := shown(t.Context(), data, len(a.frames))
	if err != nil || len(got) != len(a.frames) {
		t.Fatalf("%d frames, error %v", len(got), err)
	}
	for i, img := range a.frames {
		if string(img.Pix) != string(got[i].Pix) {
			t.Errorf("frame %d differs", i)
		}
	}
}

// TestDrawings checks that every drawing moves, is partly opaque, and has no
// half-transparent pixel.
func TestDrawings(t *testing.T) {
	t.Parallel()
	for _, d := range drawings {
		first, later := d.frame(0), d.frame(drawnFrames/4)
		if string(first.Pix) == string(later.Pix) {
			t.Errorf("%s stands still", d.name)
		}
		var count [256]int
		for i := 3; i < len(first.Pix); i += 4 {
			count[first.Pix[i]]++
		}
		if count[0] < 1000 || count[255] < 1000 || count[0]+count[255] != drawnWidth*drawnHeight {
			t.Errorf("%s: %d pixels are empty and %d are opaque, of %d", d.name, count[0], count[255], drawnWidth*drawnHeight)
		}
	}
}
