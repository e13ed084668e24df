package pipeline

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"

	"github.com/bgremove/bgremove/internal/media"
)

// Look shows at most n frames, spread evenly over the clip, to see. The
// picture is seen's only for the length of the call. It is how a method learns
// what it must know of the clip before its first matte.
func Look(ctx context.Context, clip media.Clip, n int, see func(*image.NRGBA)) error {
	every := max(1, (clip.Info().Frames+n-1)/n)
	pool := new(media.Pool)
	src, err := clip.Open(ctx, media.ReadOptions{Every: every, Pool: pool})
	if err != nil {
		return fmt.Errorf("open the clip: %w", err)
	}
	defer src.Close()
	for {
		f, err := src.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		see(f.Image)
		pool.Put(f.Image)
	}
}
