package media_test

import (
	"image"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
)

func TestPool(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pool *media.Pool
		kept bool
	}{"some": {new(media.Pool), true}, "nil": {nil, false}} {
		first := tt.pool.Get(3, 2)
		tt.pool.Put(nil)
		tt.pool.Put(first)
		if other := tt.pool.Get(2, 3); other == first || other.Rect != image.Rect(0, 0, 2, 3) {
			t.Errorf("%s: a picture of %v for one of 2×3", name, other.Rect)
		}
		if again := tt.pool.Get(3, 2); again == first != tt.kept || again.Rect != image.Rect(0, 0, 3, 2) {
			t.Errorf("%s: the same picture again: %v, want %v", name, again == first, tt.kept)
		}
	}
}
