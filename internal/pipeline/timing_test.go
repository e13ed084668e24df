package pipeline_test

import (
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/pipeline"
)

// A frame that the end cuts is shown for as long as is left of it, though players
// stretched its delay before.
func TestEndCutsStretchedDelay(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	hasty := walk(3)
	hasty.delay = 10 * ms
	for left, want := range map[time.Duration]time.Duration{50 * ms: 50 * ms, 5 * ms: 20 * ms} {
		s, _ := run(t, hasty, func(j *pipeline.Job) { j.Timing.End = 2*tenth + left })
		if last := s.frames[len(s.frames)-1]; last.Delay != want || last.Duration != left {
			t.Errorf("the last frame lasts %v and has a delay of %v, want %v", last.Duration, last.Delay, want)
		}
	}
}
