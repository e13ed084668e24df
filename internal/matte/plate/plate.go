// Package plate collects the clean plate of a clip: the backdrop without the
// subject, as film makers call the empty set. A part of the backdrop that is
// uncovered in one frame is then known for all frames in which the camera sees
// it.
package plate

import (
	"image"
	"math"

	"github.com/bgremove/bgremove/internal/buffer"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/matte/view"
)

const (
	// backdropBelow is the coverage below which a pixel belongs to the backdrop, if all
	// pixels within margin of it do.
	backdropBelow, margin = 26, 2
	// history is how many of the frames that it has learnt from a place remembers: after
	// that many, older ones count less and less, as light and things change.
	history = 48
	// warmup is for how many frames a new plate learns from each; then every
	// second one is enough.
	warmup = 24
	// maxGain bounds how much lighter a frame may be than the plate. minValue and
	// maxValue are the range of values that are compared for that. If too few are
	// comparable, the lightness may differ by lightTolerance, in 1/255.
	maxGain, minValue, maxValue, lightTolerance = 4, 24, 230, 6
	// MaxSamples bounds the samples, as each is tried at every cut, and
	// where the camera is lost, but not sooner than after recallInterval frames.
	MaxSamples, recallInterval = 24, 12
	// minFrames is 16 times the frames that a place must have been seen in to be
	// known. A frame that is a sample, too, counts twice.
	minFrames = 24
	// noiseFloor is the least deviation, in 1/255: that of a picture's own noise.
	noiseFloor = 4
)

// Plate is the clean plate of a clip with a camera that stands, shakes or pans.
// Frames are aligned by their common backdrop, which registration finds in each
// frame (B. D. Lucas and T. Kanade, "An Iterative Image Registration Technique
// with an Application to Stereo Vision", IJCAI 1981), and brought to the same
// light. If that fails, for example when the camera walks through a room, and
// at cuts, it restarts. The zero value is ready. It is for one goroutine, in
// the order of the frames.
type Plate struct {
	cuts    refine.CutDetector
	samples []frame
	canvas  canvas
	// at is where the last frame lies on the canvas, gain how its light is
	// against the canvas's.
	at   point
	gain [3]float64

	since         int  // frames since the samples were tried
	recallPending bool // whether they are to be tried again

	lightKnown bool // whether the light of the frame found last is known
	current    frame
	predicted  prediction // the canvas's view of that frame
	align      aligner
}

// frame is a frame with its backdrop marked.
type frame struct {
	w, h int
	pix  []uint8 // RGBA
	kind []uint8 // of each pixel: backdrop, subject or 0, uncertain
}

// The kinds of pixels.
const backdrop, subject = 1, 2

// prediction is the canvas's view of a frame: what a frame there would show of the backdrop.
type prediction struct {
	pix     []uint8 // RGBA, 0 where not known
	known   []uint8 // backdrop or 0
	spread  []uint8
	frames  []uint8
	claimed []uint8
}

type point struct{ x, y float64 }

// Sample shows the plate a frame of the clip before the first one is viewed, so
// that it knows more from the beginning. Samples of a clip come in its order, and
// have the size of its frames. Neither img nor m is kept.
func (p *Plate) Sample(img *image.NRGBA, m *image.Alpha) {
	if len(p.samples) < MaxSamples {
		var s frame
		s.set(img, m)
		p.samples = append(p.samples, s)
	}
}

// Next looks at the next frame and gives the view of it, without motion. The plate does
// not change it later.
func (p *Plate) Next(img *image.NRGBA, m *image.Alpha) view.View {
	cut := p.cuts.Next(img)
	p.current.set(img, m)
	p.since++
	known := !cut && p.canvas.frame == image.Pt(p.current.w, p.current.h)
	if known && p.find(&p.current, true) {
		if p.recallPending && p.since > recallInterval {
			p.recall()
		}
		v := p.view(m)
		if p.since < warmup || p.since%2 == 0 {
			p.add(&p.current)
		}
		return v
	}
	if known && p.since <= recallInterval {
		p.recallPending = true
		p.begin(&p.current)
	} else {
		p.restart()
	}
	return p.view(m)
}

// restart makes a plate of the frame in work and of the samples that show what
// lies near it.
func (p *Plate) restart() {
	p.begin(&p.current)
	p.recall()
}

// recall adds the samples that show what lies near the frame in work, where the
// last prediction lies.
func (p *Plate) recall() {
	p.since, p.recallPending = 0, false
	if len(p.samples) == 1 {
		return // a clip's only picture says nothing of itself
	}
	at, gain, lightKnown := p.at, p.gain, p.lightKnown
	for i := range p.samples {
		if s := &p.samples[i]; s.w == p.current.w && s.h == p.current.h && p.find(s, false) {
			p.add(s)
			p.predict(p.at)
		}
	}
	p.gain, p.lightKnown = gain, lightKnown
	p.predict(at)
}

// unity is the gain of no change.
var unity = [3]float64{1, 1, 1}

// begin puts the first frame on an empty canvas.
func (p *Plate) begin(s *frame) {
	p.canvas.clear(s.w, s.h)
	p.gain, p.lightKnown = unity, true
	p.canvas.add(s, point{}, unity)
	p.predict(point{})
}

// predict draws the canvas's view of a frame at a place.
func (p *Plate) predict(at point) {
	p.at = at
	p.canvas.predict(at, p.gain, &p.predicted)
}

// find looks where a frame lies, in its light. It reports false where the frame
// shows something else, or lies beyond the canvas, which does not follow it.
func (p *Plate) find(s *frame, follow bool) bool {
	d, lighter, ok := p.align.find(s, &p.predicted)
	if !ok {
		return false
	}
	at := point{p.at.x + d.x, p.at.y + d.y}
	if !p.canvas.contains(at) {
		if !follow {
			return false
		}
		p.canvas.centre(at)
	}
	p.predict(at)
	gain, measured := gains(s, &p.predicted, p.gain)
	p.lightKnown = measured || math.Abs(lighter) < lightTolerance
	if old := p.gain; gain != old {
		p.gain = gain
		if darkens(&old, &gain) { // values that were clipped at white are not any more
			p.predict(at)
		} else {
			p.predicted.relight(&old, &gain)
		}
	}
	return true
}

// add adds a frame that was found, if its light is known.
func (p *Plate) add(s *frame) {
	if p.lightKnown {
		p.canvas.add(s, p.at, p.gain)
	}
}

// gains are a frame's gains against the canvas, seen with the gain so far. Each
// channel's gain is the median of single pixels' gains, so still pixels outvote
// moving ones. One in four pixels is used; measured is false if too few of them
// have one.
func gains(s *frame, predicted *prediction, gain [3]float64) (_ [3]float64, measured bool) {
	measured = true
	for c := range gain {
		var counts [2 * gainUnit]int
		shared, usable := 0, 0
		for y := 0; y < s.h; y += 2 {
			for i := y * s.w; i < (y+1)*s.w; i += 2 {
				if predicted.known[i]&s.kind[i]&backdrop == 0 {
					continue
				}
				shared++
				if b := uint32(predicted.pix[4*i+c]); b >= minValue && b <= maxValue {
					counts[min((uint32(s.pix[4*i+c])*gainUnit+b/2)/b, 2*gainUnit-1)]++
					usable++
				}
			}
		}
		if 10*usable < shared || usable == 0 {
			measured = false
			continue
		}
		ratio, passed := 0, counts[0]
		for ; 2*passed < usable; passed += counts[ratio] {
			ratio++
		}
		gain[c] = min(max(gain[c]*float64(ratio)/gainUnit, 1.0/maxGain), maxGain)
	}
	return gain, measured
}

// darkens reports whether light grows weaker to an extent that can be seen.
func darkens(from, to *[3]float64) bool {
	for c := range from {
		if to[c] < 0.98*from[c] {
			return true
		}
	}
	return false
}

// gainUnit is the unit in which gains are counted.
const gainUnit = 512

func (s *frame) set(img *image.NRGBA, m *image.Alpha) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	s.w, s.h = w, h
	s.pix = append(s.pix[:0], img.Pix[:4*w*h]...)
	s.kind = buffer.Sized(s.kind, w*h)
	classify(s.kind, m.Pix, w, h)
}

// classify sets dst to what m says of each pixel: backdrop where all within margin is
// clear, subject where it is more than half covered.
func classify(dst, m []uint8, w, h int) {
	for i := range dst {
		dst[i] = backdrop
	}
	for y := range h {
		for x, v := range m[y*w : y*w+w] {
			if v < backdropBelow {
				continue
			}
			i := y*w + x
			inside := x > 0 && x+1 < w && y > 0 && y+1 < h && min(m[i-1], m[i+1], m[i-w], m[i+w]) >= backdropBelow
			reach := margin
			if inside { // its neighbours are also near the border
				reach = 0
			}
			for r := max(y-reach, 0); r <= min(y+reach, h-1); r++ {
				for l := max(x-reach, 0); l <= min(x+reach, w-1); l++ {
					dst[r*w+l] &^= backdrop
				}
			}
			if v >= 128 {
				dst[i] = subject
			}
		}
	}
}

// inverseVariance converts the sum of squared differences of three channels into the
// square of how unusual it is, by their spread.
var inverseVariance = func() (t [256]float32) {
	for i := range t {
		deviation := float32(i) / 4
		t[i] = 16 * 16 / (3 * (deviation*deviation + noiseFloor*noiseFloor))
	}
	return t
}()

func (p *Plate) view(m *image.Alpha) view.View {
	v := view.New(p.current.w, p.current.h)
	copy(v.Plane(view.Coverage), m.Pix)
	o := comparison{&p.current, &p.predicted, &v}
	n := v.W * v.H
	v.Known = float64(o.row(0, n)) / float64(max(n, 1))
	return v
}
