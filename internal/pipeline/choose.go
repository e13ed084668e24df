package pipeline

import (
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// pick is a frame that is written. Times count from the first kept frame.
type pick struct {
	index           int           // in the chosen part of the clip
	pts             time.Duration // in the clip's time
	start, duration time.Duration
}

func (p pick) end() time.Duration { return p.start + p.duration }

// rounding is how much too early the time of a frame may be that its container has
// rounded to milliseconds.
const rounding = time.Millisecond

// choose chooses the frames of a variant among the kept ones.
func (m *measurements) choose(keep span, v Variant) []pick {
	end := m.frames[keep.last].end - m.frames[keep.first].start
	if v.Length > 0 {
		end = min(end, v.Length)
	}
	gap := v.Gap
	picks := m.thin(keep, gap, end)
	for v.MaxFrames > 0 && len(picks) > v.MaxFrames {
		gap = max(gap+gap/20, end/time.Duration(v.MaxFrames), rounding+1) // a smaller gap leaves out none
		picks = m.thin(keep, gap, end)
	}
	if v.Sample != nil {
		return v.Sample.of(picks, end)
	}
	return picks
}

// thin chooses frames that begin a gap or more after the one before, and before the
// end. None at the end is shown for less time than players of GIF need.
func (m *measurements) thin(keep span, gap, end time.Duration) []pick {
	origin := m.frames[keep.first].start
	picks := []pick{{index: keep.first, pts: m.origin + origin}}
	for i := keep.first + 1; i <= keep.last; i++ {
		f, last := m.frames[i], &picks[len(picks)-1]
		at := f.start - origin
		if f.end-origin > end && end-at < shortestDelay {
			break
		}
		if gap > 0 && at-last.start < gap-rounding {
			continue
		}
		last.duration = at - last.start
		picks = append(picks, pick{index: i, pts: m.origin + f.start, start: at})
	}
	last := &picks[len(picks)-1]
	last.duration = end - last.start
	return picks
}

// of chooses the frames in the parts.
func (s Sampling) of(picks []pick, end time.Duration) (some []pick) {
	half := s.Span / time.Duration(2*s.Parts)
	for i := range s.Parts {
		middle := end * time.Duration(2*i+1) / time.Duration(2*s.Parts)
		for _, p := range picks {
			if p.start >= middle-half && p.start < middle+half {
				some = append(some, p)
			}
		}
	}
	if len(some) == 0 {
		return picks[:1]
	}
	return some
}

// length is how long frames are shown that are written one after the other.
func length(picks []pick) (sum time.Duration) {
	for _, p := range picks {
		sum += p.duration
	}
	return sum
}

// apply gives a frame its times.
func (p pick) apply(f *media.Frame, start time.Duration) {
	if f.Duration != p.duration {
		f.Duration, f.Delay = p.duration, p.duration
	}
	f.PTS = start
}
