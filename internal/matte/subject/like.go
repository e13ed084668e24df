package subject

import (
	"github.com/bgremove/bgremove/internal/matte/view"
)

const (
	// most is how many places' features are remembered of the hints for one frame.
	most = 32
	// looked is in how many frames of a shot what was marked elsewhere is looked for.
	looked = 8
	// alike is the least likeness of a place to what was marked elsewhere.
	alike = 0.9
)

// samples are features of places, each of length 1.
type samples [][view.FeatureCount]float32

// sample remembers the features at all that hints keep.
func (f *follower) sample() error {
	for i, hints := range f.hints {
		plane := make([]float32, f.marks.w*f.marks.h)
		for _, h := range hints {
			if h.Keep {
				f.marks.mark(plane, &h)
			}
		}
		v, err := f.clip.Frame(i)
		if err != nil {
			return err
		}
		f.liked.add(&v.Features, plane, f.marks)
	}
	return nil
}

// add remembers the features of marked pixels.
func (s *samples) add(seen *view.Features, plane []float32, m marker) {
	var marked []int
	for k, m := range plane {
		if m > 0 {
			marked = append(marked, k)
		}
	}
	n := min(len(marked), most)
	for i := range n {
		k := marked[(2*i+1)*len(marked)/(2*n)]
		var of [view.FeatureCount]float32
		length := seen.At(k%m.w*seen.W/m.w, k/m.w*seen.H/m.h, &of)
		for p := range of {
			of[p] /= length + 1
		}
		*s = append(*s, of)
	}
}

// likest is the place of features that is most like one of the samples, and the cosine of
// their angle.
func (s samples) likest(seen *view.Features) (x, y int, cosine float32) {
	var of [view.FeatureCount]float32
	for j := range seen.H {
		for i := range seen.W {
			length := seen.At(i, j, &of)
			for k := range s {
				sum := float32(0)
				for p, b := range of {
					sum += b * s[k][p]
				}
				if c := sum / (length + 1); c > cosine {
					x, y, cosine = i, j, c
				}
			}
		}
	}
	return x, y, cosine
}

// guess adds a hint to a shot: a click on the place that is most like what hints keep
// elsewhere. It reports whether there is any like it.
func (f *follower) guess(s *shot) (bool, error) {
	if f.liked == nil {
		if err := f.sample(); err != nil {
			return false, err
		}
	}
	n := s.last - s.first + 1
	best, click, frame := float32(alike), Point{}, 0
	for i := range min(n, looked) {
		at := s.first + (2*i+1)*n/(2*min(n, looked))
		v, err := f.clip.Frame(at)
		if err != nil {
			return false, err
		}
		if x, y, cosine := f.liked.likest(&v.Features); cosine > best {
			best, frame = cosine, at
			click = centre(x, y, v.Features.W, v.Features.H)
		}
	}
	if best > alike {
		f.add(Hint{Frame: frame, Keep: true, Click: &click})
	}
	return best > alike, nil
}
