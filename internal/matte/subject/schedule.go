package subject

import "context"

// Neighbouring frames show much the same, and the network says much the same of them. So it does
// not look at all of them. Its matte of one is carried along the motion to the next ones, until too
// much of those is not found in the frames before. Deep feature flow does so (X. Zhu et al.,
// "Deep Feature Flow for Video Recognition", CVPR 2017), there with features alone.
const (
	// carriedMost is in how many frames on end the network does not look.
	carriedMost = 3
	// doubtMost is what may be lost on the way, as a share of the subject and leastSubject of the
	// picture. lostMost is as much of the whole picture: more would be in doubt with most subjects.
	doubtMost, leastSubject, lostMost = 0.4, 0.02, 0.1
	// worstMost is what may be lost of a square of the subject, as a share of it, and square the cells of
	// its side. Without this bound a quick hand would be left behind.
	worstMost, square = 0.4, 8
	// behind is how many frames back the matte is, at most, that tells where the subject is. So the network
	// can look at as many frames at once.
	behind = 8
)

// schedule decides at which frames the network looks. It goes ahead of the mattes.
type schedule struct {
	frames, first int           // so far, and the first of the shot
	mattes        chan coverage // of the frames that were added
	last          coverage      // of these
	links         []*Links      // of the frames after that
	since         losses
}

// losses are what was lost on the way in the frames since the network looked. They are shares of the
// picture, of the subject, and of the square that lost most.
type losses struct {
	frames             int
	lost, doubt, worst float32
}

// coverage is what the matte of a frame covers of cells, of 255.
type coverage struct {
	frame int
	cells []uint8
}

func newSchedule() schedule {
	return schedule{mattes: make(chan coverage, behind+1), last: coverage{frame: -1}}
}

// judge sets a step's Due. told is that it is due in any case.
func (s *schedule) judge(ctx context.Context, step *Step, told bool) error {
	n := s.frames
	s.frames++
	s.links = append(s.links, &step.links)
	s.since.frames++
	s.since.lost += step.lost
	need := n - behind // also after a cut, or the mattes of many cuts in a row would find no room
	if step.cut {
		s.first = n
	} else {
		need = max(need, s.first)
	}
	if err := s.await(ctx, need); err != nil {
		return err
	}
	if step.Due = told || step.cut || s.since.frames > carriedMost || s.since.lost > lostMost; !step.Due {
		step.Due = s.since.exceed(step, s.covered())
	}
	if step.Due {
		s.since = losses{}
	}
	return nil
}

// await takes the mattes up to that of a frame.
func (s *schedule) await(ctx context.Context, frame int) error {
	for s.last.frame < frame {
		select {
		case m := <-s.mattes:
			s.links = s.links[m.frame-s.last.frame:]
			s.last = m
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// covered is what the last matte covers of the frame at hand, where it has moved since.
func (s *schedule) covered() []uint8 {
	cells := s.last.cells
	for _, l := range s.links {
		cells = carried(cells, &l.Back)
	}
	return cells
}

// exceed adds the losses of a step, and reports whether they are too many for a subject that covers cells.
func (l *losses) exceed(s *Step, covered []uint8) bool {
	sum := 0
	for _, v := range covered {
		sum += int(v)
	}
	l.doubt += s.lost / (float32(sum)/float32(255*len(covered)) + leastSubject)
	l.worst += s.links.worst(covered)
	return l.doubt > doubtMost || l.worst > worstMost
}

// worst is the greatest share of a square with some of a matte that is not found in the frame before.
func (l *Links) worst(covered []uint8) (worst float32) {
	w, h := l.Back.W, l.Back.H
	for v := 0; v < h; v += square {
		for u := 0; u < w; u += square {
			lost, some := float32(0), false
			right, below := min(u+square, w), min(v+square, h)
			for y := v; y < below; y++ {
				for x := u; x < right; x++ {
					lost += 1 - l.Trust[y*w+x]
					some = some || float32(covered[y*w+x]) > 255*open
				}
			}
			if some {
				worst = max(worst, lost/float32((right-u)*(below-v)))
			}
		}
	}
	return worst
}
