package picture_test

import (
	"context"
	"errors"
	"image"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/picture"
)

// A pass that ends between a frame and those that are left out gives the picture back.
func TestEndAmongFramesLeftOut(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string]bool{"cancelled": false, "damaged": true} {
		want := errors.New(name)
		ctx, cancel := context.WithCancelCause(t.Context())
		painted := 0
		clip := picture.NewAnimation(path, media.Info{Width: 3, Height: 2}, make([]picture.Part, 4), func(io.ReaderAt, picture.Part) (*image.NRGBA, error) {
			if painted++; painted == 2 && damaged {
				return nil, want
			}
			if !damaged {
				cancel(want)
			}
			return image.NewNRGBA(image.Rectangle{}), nil
		})
		pool := new(media.Pool)
		only := pool.Get(3, 2)
		pool.Put(only)
		src, err := clip.Open(ctx, media.ReadOptions{Every: 2, Pool: pool})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := src.Next(ctx); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		cancel(nil)
		if err := src.Close(); err != nil {
			t.Error(err)
		}
		if pool.Get(3, 2) != only {
			t.Errorf("%s: the pool lacks the picture", name)
		}
	}
}

// What was before the first frame is transparent, and may be so again.
func TestFirstFrameTakenAway(t *testing.T) {
	t.Parallel()
	small, whole := image.Rect(0, 0, 1, 1), image.Rect(0, 0, 3, 2)
	for name, c := range map[string]struct {
		parts []picture.Part
		want  bool
	}{
		"kept":            {[]picture.Part{{Rect: whole}, {Rect: small}}, false},
		"cleared":         {[]picture.Part{{Rect: whole, Dispose: picture.Clear}, {Rect: small}}, true},
		"as before":       {[]picture.Part{{Rect: whole, Dispose: picture.Previous}, {Rect: small}}, true},
		"a later one":     {[]picture.Part{{Rect: whole}, {Rect: small, Dispose: picture.Previous}}, false},
		"a smaller frame": {[]picture.Part{{Rect: small}}, true},
	} {
		clip := picture.NewAnimation("", media.Info{Width: 3, Height: 2}, c.parts, nil)
		if got := clip.Info().HasAlpha; got != c.want {
			t.Errorf("%s: transparent %v, want %v", name, got, c.want)
		}
	}
}
