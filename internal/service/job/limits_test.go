package job_test

import (
	"fmt"
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

// TestDurationLimit checks that both durations are in words.
func TestDurationLimit(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		20 * time.Minute:        "the duration of 20 minutes is over the limit of 10 minutes",
		601*time.Second + 234e6: "the duration of 601.234 seconds is over the limit of 10 minutes",
		10*time.Minute - 1e6:    "",
	} {
		err := job.DefaultLimits().Check(job.Media{Duration: d, Width: 1, Height: 1, FrameCount: 1})
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestSpanText(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{7 * 24 * time.Hour: "7 days", 24 * time.Hour: "24 hours", time.Hour: "1 hour", 90 * time.Minute: "90 minutes", 61 * time.Second: "61 seconds", time.Second: "1 second", 0: "0 seconds", 1500 * time.Millisecond: "1.5 seconds"} {
		if got := job.SpanText(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
