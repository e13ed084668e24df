package ffmpeg_test

import (
	"image/color"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// Every time stamp and the end of the last frame survive encoding, with
// irregular intervals and in both formats.
func TestSinkKeepsTime(t *testing.T) {
	t.Parallel()
	durations := []time.Duration{20, 5, 120, 33, 700, 10, 40, 40, 40, 250}
	for _, format := range []ffmpeg.Format{ffmpeg.WebM, ffmpeg.MP4} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out."+string(format))
			var end time.Duration
			for _, d := range durations {
				end += d * time.Millisecond
			}
			sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{
				Format: format, Width: 64, Height: 48, Opaque: format == ffmpeg.MP4, End: end,
			})
			if err != nil {
				t.Fatal(err)
			}
			at := time.Duration(0)
			for i, d := range durations {
				img := picture(64, 48, color.NRGBA{uint8(25 * i), 90, 40, 255})
				if err := sink.Write(t.Context(), &media.Frame{Image: img, PTS: at, Duration: d * time.Millisecond}); err != nil {
					t.Fatal(err)
				}
				at += d * time.Millisecond
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			got := frames(t, probe(t, path), media.ReadOptions{})
			if len(got) != len(durations) {
				t.Fatalf("%d frames came back, want %d", len(got), len(durations))
			}
			at = 0
			for i, f := range got {
				if !near(f.PTS, at, time.Millisecond) {
					t.Errorf("frame %d at %v, want %v", i, f.PTS, at)
				}
				at += durations[i] * time.Millisecond
			}
			if info := probe(t, path).Info(); !near(info.Duration, end, time.Millisecond) {
				t.Errorf("duration = %v, want %v", info.Duration, end)
			}
			if out := containerDuration(t, path); math.Abs(out-end.Seconds()) > 0.0015 {
				t.Errorf("the container says %.3f s, want %.3f", out, end.Seconds())
			}
		})
	}
}

// MP4 cannot show two frames at the same time: the second follows within a
// tick.
func TestSinkKeepsFramesOfOneTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.mp4")
	sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.MP4, Width: 16, Height: 16, Opaque: true, End: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Duration{0, 100, 100, 100, 150} {
		if err := sink.Write(t.Context(), &media.Frame{Image: picture(16, 16, color.NRGBA{A: 255}), PTS: at * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	got := frames(t, probe(t, path), media.ReadOptions{})
	if len(got) != 5 || !near(got[3].PTS, 100*time.Millisecond, time.Millisecond) || !near(got[4].PTS, 150*time.Millisecond, time.Millisecond) {
		t.Errorf("%d frames came back", len(got))
	}
}

// reencode writes a clip with its sound as a WebM. The error is the encoder's
// final one.
func reencode(t *testing.T, path string, clip *ffmpeg.Clip) error {
	t.Helper()
	info := clip.Info()
	sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: info.Width, Height: info.Height, End: info.Duration, Audio: clip})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames(t, clip, media.ReadOptions{}) {
		if err := sink.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	return sink.Close()
}
