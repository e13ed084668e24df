package job_test

import (
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
)

// TestFrameRate checks that clips with exactly the allowed frame rate pass,
// whatever their length: durations are rounded to milliseconds.
func TestFrameRate(t *testing.T) {
	t.Parallel()
	for frames := int64(2); frames < 3000; frames++ {
		m := job.Media{FrameCount: int(frames), Width: 1, Height: 1, Duration: time.Duration(frames * 1000 / 240 * int64(time.Millisecond))}
		if err := (job.Limits{MaxFPS: 240}).Check(m); err != nil {
			t.Fatalf("%d frames in %v: %v", frames, m.Duration, err)
		}
		if m.FrameCount += 2 + m.FrameCount/100; m.Duration >= time.Second && (job.Limits{MaxFPS: 240}).Check(m) == nil {
			t.Fatalf("%d frames in %v pass", m.FrameCount, m.Duration)
		}
	}
}
