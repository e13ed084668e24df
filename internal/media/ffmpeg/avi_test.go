package ffmpeg_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// An AVI with B-frames does not say when frames are shown. A part of it is found all
// the same: the pass shows the frames that a pass over the whole clip does.
func TestPartOfAVI(t *testing.T) {
	t.Parallel()
	clip := probe(t, generate(t, "a.avi", "-f", "lavfi", "-i", testsrc, "-c:v", "mpeg4", "-bf", "2"))
	from := 500 * time.Millisecond
	whole, part := frames(t, clip, media.ReadOptions{}), frames(t, clip, media.ReadOptions{From: from, To: 2 * from})
	for len(part) > 0 && part[0].PTS < from {
		part = part[1:]
	}
	for len(whole) > 0 && whole[0].PTS < from {
		whole = whole[1:]
	}
	if len(part) != 15 || len(whole) != len(part) {
		t.Fatalf("%d frames of the part, want 15 of %d", len(part), len(whole))
	}
	for i, f := range part {
		if f.PTS != whole[i].PTS || !bytes.Equal(f.Image.Pix, whole[i].Image.Pix) {
			t.Errorf("frame %d is another", i)
		}
	}
}
