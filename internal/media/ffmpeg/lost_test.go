package ffmpeg_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// Of a clip that was cut between key frames, the beginning cannot be decoded. The other frames
// keep their places, in which the sound and a part of the clip have them, too.
func TestLostBeginning(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"b.mkv", "b.mp4"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=2", "-g", "12", "-bf", "2", "-sc_threshold", "0")
			clip := probe(t, generate(t, name, "-i", whole, "-ss", "0.6", "-c", "copy", "-copyinkf"))
			all, from := frames(t, clip, media.ReadOptions{}), 600*time.Millisecond
			if first := all[0].PTS; first < 200*time.Millisecond {
				t.Errorf("the first frame that can be decoded is at %v", first)
			}
			part := frames(t, clip, media.ReadOptions{From: from})
			for all[0].PTS < from {
				all = all[1:]
			}
			if len(part) != len(all) {
				t.Fatalf("%d frames of the part, want %d", len(part), len(all))
			}
			for i, f := range part {
				if f.PTS != all[i].PTS || !bytes.Equal(f.Image.Pix, all[i].Image.Pix) {
					t.Errorf("frame %d, at %v, is another in a pass over the whole clip", i, f.PTS)
				}
			}
		})
	}
}
