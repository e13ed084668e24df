package view_test

import (
	"slices"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/view"
)

// Training fits features in the same way (test_features_fit_the_cells).
func TestFit(t *testing.T) {
	t.Parallel()
	f := view.Features{W: 4, H: 3, Pix: make([]uint8, view.FeatureCount*12)}
	for i := range f.Pix {
		f.Pix[i] = uint8(i % 12)
	}
	small := f.Fit(3, 2)
	if got, want := small.Pix[:6], []uint8{0, 2, 3, 8, 10, 11}; !slices.Equal(got, want) {
		t.Errorf("places %v, want %v", got, want)
	}
	if last := small.Pix[len(small.Pix)-6:]; !slices.Equal(last, small.Pix[:6]) {
		t.Errorf("the last plane is %v", last)
	}
	if none := (view.Features{}).Fit(5, 4); len(none.Pix) != view.FeatureCount*20 || slices.Max(none.Pix) != 0 {
		t.Error("a network that does not tell has features")
	}
}
