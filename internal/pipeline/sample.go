package pipeline

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// Sample passes at most n frames of the part that timing chooses to visit. They are
// spread as evenly as the clip's frames are, or its time if there are many. In
// a part that is denser than the rest, the last frames are not shown. The
// picture is valid only during the call. A method uses it to measure the clip
// before its first matte. Without a frame in that part the error is
// ErrNoFrames.
func Sample(ctx context.Context, clip media.Clip, timing Timing, n int, visit func(*image.NRGBA)) error {
	timing.MaxRate = 0 // all frames are counted, whichever of them are kept
	info := clip.Info()
	every := max(1, (timing.expected(info)+n-1)/n)
	picture := func(f *media.Frame) { visit(f.Image) }
	var sampled int
	var err error
	if info.SeekCost > 0 && every > openCost+info.SeekCost {
		sampled, err = sampleBySeeking(ctx, clip, timing, n, visit)
	} else {
		sampled, err = sampleEvery(ctx, clip, timing, every, n, picture)
	}
	if err == nil && sampled == 0 && every > 1 { // none of them is in the part
		sampled, err = sampleEvery(ctx, clip, timing, 1, n, picture)
	}
	if err == nil && sampled == 0 {
		err = ErrNoFrames
	}
	return err
}

// openCost is how many frames are decoded in the time that it takes to open a clip.
const openCost = 150

// sampleBySeeking passes at most n frames to visit, each the first from some time on, and
// counts them. Times while one frame lasts lead to the one after it, which is shown once.
func sampleBySeeking(ctx context.Context, clip media.Clip, timing Timing, n int, visit func(*image.NRGBA)) (sampled int, err error) {
	span := timing.end(clip.Info().Duration) - timing.Start
	last := time.Duration(-1)
	for i := range n {
		part := timing
		part.Start += time.Duration(i) * span / time.Duration(n)
		if part.Start <= last {
			continue
		}
		found, err := sampleEvery(ctx, clip, part, 1, 1, func(f *media.Frame) {
			last = f.PTS
			visit(f.Image)
		})
		if err != nil {
			return sampled, err
		}
		if found == 0 { // nor is there one for later times
			break
		}
		sampled += found
	}
	return sampled, nil
}

// sampleEvery passes one frame of every so many to visit, at most n, and counts them.
func sampleEvery(ctx context.Context, clip media.Clip, timing Timing, every, n int, visit func(*media.Frame)) (sampled int, err error) {
	pool := new(media.Pool)
	src, err := clip.Open(ctx, media.ReadOptions{Every: every, From: timing.Start, To: timing.End, Pool: pool})
	if err != nil {
		return 0, fmt.Errorf("open the clip: %w", err)
	}
	defer src.Close()
	for sampled < n {
		f, err := src.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return sampled, err
		}
		if f.PTS >= timing.Start && (timing.End == 0 || f.PTS < timing.End) {
			visit(f)
			sampled++
		}
		pool.Put(f.Image)
	}
	return sampled, nil
}
