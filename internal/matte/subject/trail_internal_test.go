package subject

import (
	"image"
	"reflect"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// A state that is kept is read back as it was, but for the way of its sight.
func TestStates(t *testing.T) {
	t.Parallel()
	c, err := New(t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	size := image.Rect(0, 0, 64, 48)
	for range 2 {
		step, err := c.Step(t.Context(), image.NewNRGBA(size), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Add(step, image.NewAlpha(size), view.Features{}.Fit(view.Places(16, 12))); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.makeRoom(); err != nil {
		t.Fatal(err)
	}
	n := c.marker().w * c.marker().h
	plane := func(v float32) []float32 { return slices.Repeat([]float32{v, 0.1 * v}, n/2) }
	links, err := c.links(1)
	if err != nil {
		t.Fatal(err)
	}
	bare := &state{marks: marks{plane(1), plane(2)}, matte: slices.Repeat([]uint8{3}, n), links: links}
	whole := *bare
	whole.covered, whole.chosen = true, true
	whole.sight = sight{size: 4, thing: plane(5), others: plane(6), hidden: 7}
	lost := whole
	lost.covered = false
	for i, want := range []*state{bare, &whole, &lost} {
		record, err := c.writeState(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.readState(record, 1); err != nil || !reflect.DeepEqual(want, got) {
			t.Errorf("state %d is another one, %v", i, err)
		}
	}
}
