package ffmpeg_test

import (
	"os"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// A second pass has the frames and times of the first, without the file and without ffmpeg: pictures as they
// are coded, and those that ffmpeg converts, of a whole clip and of a part of one.
func TestReplay(t *testing.T) {
	t.Parallel()
	part := media.ReadOptions{From: time.Second, To: 2 * time.Second}
	for name, c := range map[string]struct {
		format  string
		options media.ReadOptions
		expect  bool
	}{
		"as coded": {"yuv420p", media.ReadOptions{}, false}, "converted": {"yuv444p", media.ReadOptions{}, false},
		"part": {"yuv420p", part, false}, "expected": {"yuv420p", media.ReadOptions{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=3", "-pix_fmt", c.format)
			clip := probe(t, path)
			if c.expect {
				defer clip.Expect(t.Context(), c.options)()
			}
			o := c.options
			o.Recording = media.NewRecording(t.TempDir())
			defer o.Recording.Close()
			want := frames(t, clip, o)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if len(want) < 10 {
				t.Fatalf("%d frames", len(want))
			}
			equal(t, frames(t, clip, o), want)
		})
	}
}

// The end of a context ends a replay, too.
func TestCancelStopsReplay(t *testing.T) {
	t.Parallel()
	clip := probe(t, generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=1"))
	o := media.ReadOptions{Recording: media.NewRecording(t.TempDir())}
	defer o.Recording.Close()
	frames(t, clip, o)
	cancelled(t, clip, o)
}
