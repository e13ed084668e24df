package pipeline

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// Timing selects frames by their time. A frame is dropped as a whole: the frame
// before lasts longer, and no frame is shown at another time.
type Timing struct {
	// Start and End select the frames of a part of the clip by PTS: Start ≤ PTS
	// < End. End = 0 is the end of the clip.
	Start, End time.Duration
	// MaxRate keeps at most that many frames a second; 0 keeps all.
	MaxRate float64
	// MinGap drops frames that would be shown for less, both ends rounded to Unit, which the
	// output's times have: players stretch frames that are too short. 0 keeps all.
	MinGap, Unit time.Duration
}

func (t Timing) end(clip time.Duration) time.Duration {
	if t.End > 0 && t.End < clip {
		return t.End
	}
	return clip
}

// widened is the part with a margin on both sides.
func (t Timing) widened(margin time.Duration) Timing {
	t.Start = max(t.Start-margin, 0)
	if t.End > 0 {
		t.End += margin
	}
	return t
}

// expected is the estimated number of selected frames, without reading the
// clip.
func (t Timing) expected(info media.Info) int {
	n := info.FramesIn(t.Start, t.End)
	if t.MaxRate > 0 && info.Duration > 0 {
		span := t.end(info.Duration) - t.Start
		n = min(n, int(span.Seconds()*t.MaxRate+0.5))
	}
	return n
}

// timedSource delivers the chosen frames of a source with their times counted from
// the first of them.
type timedSource struct {
	src       media.Source
	timing    Timing
	end       time.Duration // of the chosen part, in the clip's time
	tolerance time.Duration // by which a rounded time may be too early
	pool      *media.Pool
	pending   *media.Frame // the last kept frame, in the clip's time, while the next may have to be added to it
	first     time.Duration
	started   bool
	ended     bool
	dropped   int
}

func newTimedSource(src media.Source, t Timing, info media.Info, pool *media.Pool) *timedSource {
	return &timedSource{src: src, timing: t, end: t.end(info.Duration), tolerance: Rounding(info), pool: pool}
}

// Rounding is how much too early a time of a clip may be, which its container rounds to
// units: less than a unit, so that exact times stay where they are.
func Rounding(info media.Info) time.Duration {
	base := info.TimeBase
	if base.Den <= 0 {
		return 0
	}
	return time.Duration(0.9 * float64(base.Num) / float64(base.Den) * float64(time.Second))
}

// Next returns the next kept frame or io.EOF.
func (t *timedSource) Next(ctx context.Context) (*media.Frame, error) {
	for !t.ended {
		f, err := t.src.Next(ctx)
		if errors.Is(err, io.EOF) {
			t.ended = true
			break
		}
		if err != nil {
			return nil, err
		}
		switch {
		case f.PTS < t.timing.Start:
			t.pool.Put(f.Image)
			continue
		case t.timing.End > 0 && f.PTS >= t.timing.End:
			t.pool.Put(f.Image)
			t.ended = true
			continue
		}
		t.cutAtEnd(f)
		first := !t.started
		if first {
			t.started, t.first = true, f.PTS
		}
		if t.timing.keepsAll() {
			return t.rebased(f), nil
		}
		if first {
			t.pending = f
			continue
		}
		if !t.keeps(f) {
			t.pending.Duration += f.Duration
			t.pending.Delay = t.pending.Duration // no player stretches it any more
			t.pool.Put(f.Image)
			t.dropped++
			continue
		}
		out := t.pending
		t.pending = f
		return t.rebased(out), nil
	}
	if t.pending == nil {
		return nil, io.EOF
	}
	out := t.pending
	t.pending = nil
	return t.rebased(out), nil
}

// cutAtEnd shortens the last chosen frame to the chosen end, but not to a delay that players
// stretch. A delay that they stretched before becomes what is left.
func (t *timedSource) cutAtEnd(f *media.Frame) {
	if over := f.PTS + f.Duration - t.timing.End; t.timing.End > 0 && over > 0 {
		f.Duration -= over
		f.Delay = min(media.Shown(f.Delay), max(f.Duration, shortestDelay))
	}
}

// shortestDelay is the shortest delay of a GIF that players keep to.
const shortestDelay = 20 * time.Millisecond

// keepsAll reports whether no frame of the chosen part is left out.
func (t Timing) keepsAll() bool { return t.MaxRate == 0 && t.MinGap == 0 }

// keeps reports whether f, which is not the first, is shown at all.
func (t *timedSource) keeps(f *media.Frame) bool {
	if r := t.timing.MaxRate; r > 0 {
		slot := func(at time.Duration) int { return int((at-t.first+t.tolerance).Seconds()*r + 1e-6) }
		if slot(f.PTS) == slot(t.pending.PTS) {
			return false
		}
	}
	if gap := t.timing.MinGap; gap > 0 {
		at := func(pts time.Duration) time.Duration { return (pts - t.first).Round(t.timing.Unit) }
		return at(f.PTS)-at(t.pending.PTS) >= gap && at(t.end)-at(f.PTS) >= gap
	}
	return true
}

func (t *timedSource) rebased(f *media.Frame) *media.Frame {
	f.PTS -= t.first
	return f
}

// Close ends the pass.
func (t *timedSource) Close() error {
	if t.pending != nil {
		t.pool.Put(t.pending.Image)
		t.pending = nil
	}
	return t.src.Close()
}
