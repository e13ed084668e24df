package ffmpeg_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// A pass that was expected has the frames and times of one that was not, whether it is
// opened with those options, with others, or twice.
func TestExpect(t *testing.T) {
	t.Parallel()
	path := generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=3")
	part := media.ReadOptions{From: time.Second, To: 2 * time.Second}
	for name, expected := range map[string]media.ReadOptions{"whole": {}, "part": part} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clip := probe(t, path)
			defer clip.Expect(t.Context(), expected)()
			for _, o := range []media.ReadOptions{part, {}, {}} {
				equal(t, frames(t, clip, o), frames(t, probe(t, path), o))
			}
		})
	}
}

// equal checks that two passes have the same frames at the same times.
func equal(t *testing.T, got, want []*media.Frame) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].PTS != want[i].PTS || got[i].Duration != want[i].Duration || !slices.Equal(got[i].Image.Pix, want[i].Image.Pix) {
			t.Errorf("frame %d at %v differs from that at %v", i, got[i].PTS, want[i].PTS)
		}
	}
}

// The end of the context of Open ends a pass that was expected with another one.
func TestCancelStopsWhatWasExpected(t *testing.T) {
	t.Parallel()
	clip := probe(t, generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=25:duration=20"))
	defer clip.Expect(t.Context(), media.ReadOptions{})()
	cancelled(t, clip, media.ReadOptions{})
}

// cancelled checks that the end of its context ends a pass.
func cancelled(t *testing.T, clip media.Clip, o media.ReadOptions) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	src, err := clip.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	why := errors.New("interrupted")
	cancel(why)
	for err == nil {
		_, err = src.Next(ctx)
	}
	if !errors.Is(err, why) {
		t.Errorf("Next after cancel = %v, want %v", err, why)
	}
}
