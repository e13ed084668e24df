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
	why, broken := errors.New("no more"), errors.New("broken")
	for name, want := range map[string]error{"cancelled": why, "damaged": broken} {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		painted := 0
		clip := picture.NewAnimation(path, media.Info{Width: 3, Height: 2}, make([]picture.Part, 4), func(io.ReaderAt, picture.Part) (*image.NRGBA, error) {
			if painted++; painted == 2 && want == broken {
				return nil, broken
			}
			if want == why {
				cancel(why)
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
		defer src.Close()
		if _, err := src.Next(ctx); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if pool.Get(3, 2) != only {
			t.Errorf("%s: the pool lacks the picture", name)
		}
	}
}
