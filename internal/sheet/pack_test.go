package sheet_test

import (
	"errors"
	"image"
	"math/rand/v2"
	"testing"

	"github.com/bgremove/bgremove/internal/sheet"
)

// checkPlaces checks that all sprites are inside their pages, and apart from each
// other by the padding and what is extruded.
func checkPlaces(t *testing.T, sizes []image.Point, places []sheet.Place, pages []image.Point, l sheet.Limits) {
	t.Helper()
	if len(places) != len(sizes) {
		t.Fatalf("%d places of %d sprites", len(places), len(sizes))
	}
	for i, page := range pages {
		if page.X < 1 || page.Y < 1 || page.X > l.Max || page.Y > l.Max || l.PowerOfTwo && (page.X&(page.X-1) != 0 || page.Y&(page.Y-1) != 0) {
			t.Errorf("page %d has %v", i, page)
		}
	}
	taken := make([][]image.Rectangle, len(pages))
	for i, p := range places {
		if p.Page < 0 || p.Page >= len(pages) {
			t.Fatalf("sprite %d is on page %d of %d", i, p.Page, len(pages))
		}
		r := image.Rectangle{Min: p.At, Max: p.At.Add(sizes[i])}.Inset(-l.Extrude)
		if !r.In(image.Rectangle{Max: pages[p.Page]}) {
			t.Errorf("sprite %d at %v is not inside %v", i, r, pages[p.Page])
		}
		for _, other := range taken[p.Page] {
			if r.Inset(-l.Padding).Overlaps(other) {
				t.Errorf("sprite %d at %v is too near to one at %v", i, r, other)
			}
		}
		taken[p.Page] = append(taken[p.Page], r)
	}
	for i, list := range taken {
		if len(list) == 0 {
			t.Errorf("nothing is on page %d", i)
		}
	}
}

func FuzzPack(f *testing.F) {
	f.Add(uint64(1), uint8(30), uint8(20), uint8(40), uint16(200), uint8(2), uint8(1), false)
	f.Add(uint64(2), uint8(100), uint8(60), uint8(3), uint16(64), uint8(0), uint8(0), true)
	f.Add(uint64(3), uint8(1), uint8(200), uint8(200), uint16(256), uint8(9), uint8(16), true)
	f.Add(uint64(4), uint8(250), uint8(8), uint8(8), uint16(1000), uint8(1), uint8(0), false)
	f.Add(uint64(5), uint8(3), uint8(255), uint8(255), uint16(100), uint8(0), uint8(0), false)
	f.Fuzz(func(t *testing.T, seed uint64, n, w, h uint8, longest uint16, padding, extrude uint8, power bool) {
		l := sheet.Limits{Max: max(1, int(longest)), PowerOfTwo: power, Padding: int(padding), Extrude: int(extrude % 17)}
		r := rand.New(rand.NewPCG(seed, 0))
		sizes := make([]image.Point, n)
		for i := range sizes {
			sizes[i] = image.Pt(1+r.IntN(int(w)+1), 1+r.IntN(int(h)+1))
		}
		places, pages, err := sheet.Pack(sizes, l)
		if err == nil {
			checkPlaces(t, sizes, places, pages, l)
		}
		whole := image.Pt(int(w)+1, int(h)+1)
		for i := range sizes {
			sizes[i] = whole
		}
		grid, gridPages, gridErr := sheet.Grid(whole, int(n), l)
		if gridErr == nil {
			checkPlaces(t, sizes, grid, gridPages, l)
		}
		longer := max(whole.X, whole.Y) + 2*l.Extrude
		if tooLarge := (*sheet.SizeError)(nil); errors.As(gridErr, &tooLarge) != (longer > tooLargeFrom(l)) || err != nil && gridErr == nil {
			t.Errorf("%v, %v for %v in %+v", err, gridErr, whole, l)
		}
	})
}

// tooLargeFrom is the longest side that fits.
func tooLargeFrom(l sheet.Limits) int {
	side := 1
	for 2*side <= l.Max {
		side *= 2
	}
	if !l.PowerOfTwo {
		side = l.Max
	}
	return side
}

// Little room is lost, and pages are nearly square.
func TestPackIsTight(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for name, draw := range map[string]func() image.Point{
		"equal":   func() image.Point { return image.Pt(40, 30) },
		"similar": func() image.Point { return image.Pt(50+r.IntN(20), 80+r.IntN(20)) },
		"mixed":   func() image.Point { return image.Pt(5+r.IntN(100), 5+r.IntN(100)) },
	} {
		sizes, area := make([]image.Point, 200), 0
		for i := range sizes {
			sizes[i] = draw()
			area += sizes[i].X * sizes[i].Y
		}
		l := sheet.Limits{Max: 4096}
		places, pages, err := sheet.Pack(sizes, l)
		if err != nil || len(pages) != 1 {
			t.Fatalf("%s: %d pages, %v", name, len(pages), err)
		}
		checkPlaces(t, sizes, places, pages, l)
		p := pages[0]
		filled := float64(area) / float64(p.X*p.Y)
		t.Logf("%s: %v, %.1f %% filled", name, p, 100*filled)
		if filled < 0.9 || max(p.X, p.Y) > 2*min(p.X, p.Y) {
			t.Errorf("%s: %v, %.1f %% filled", name, p, 100*filled)
		}
	}
}

// A grid keeps the order of frames, in rows from the left.
func TestGrid(t *testing.T) {
	t.Parallel()
	places, pages, err := sheet.Grid(image.Pt(10, 20), 7, sheet.Limits{Max: 45, Padding: 2, Extrude: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []sheet.Place{
		{At: image.Pt(1, 1)}, {At: image.Pt(15, 1)}, {At: image.Pt(29, 1)},
		{Page: 1, At: image.Pt(1, 1)}, {Page: 1, At: image.Pt(15, 1)}, {Page: 1, At: image.Pt(29, 1)},
		{Page: 2, At: image.Pt(1, 1)},
	}
	for i, p := range places {
		if p != want[i] {
			t.Errorf("frame %d is at %+v, want %+v", i, p, want[i])
		}
	}
	if len(pages) != 3 || pages[0] != image.Pt(40, 22) || pages[2] != image.Pt(12, 22) {
		t.Errorf("the pages are %v", pages)
	}
}

func BenchmarkPack(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	sizes := make([]image.Point, 1000)
	for i := range sizes {
		sizes[i] = image.Pt(50+r.IntN(50), 80+r.IntN(50))
	}
	for b.Loop() {
		if _, _, err := sheet.Pack(sizes, sheet.Limits{Max: 4096, Padding: 2}); err != nil {
			b.Fatal(err)
		}
	}
}
