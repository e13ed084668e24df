package chromakey

import (
	"fmt"
	"math"

	"github.com/bgremove/bgremove/internal/pullpush"
)

// A screen is recognised without a key if all of this holds. Its hue is within greenTolerance
// or blueTolerance degrees of pure green or blue. Its strength is at least greenPurity or bluePurity
// times its brightest channel. The median deviation within its tiles is at most maxRough. It
// covers minShare of the border, and minSteady in the worst frame. At most maxAlike of
// the subject has its hue.
const (
	greenTolerance, blueTolerance = 25, 18
	greenPurity, bluePurity       = 0.22, 0.28
	maxRough                      = 6
	minShare, minSteady           = 0.8, 0.5
	maxAlike                      = 0.08
)

// Screen describes the screen of a clip. The zero value means that there is none.
type Screen struct {
	// Colour is the mean of what the border shows of it, 0–255.
	Colour [3]float64
	// Share is the share of the border that shows it, 0–1, Steady that in the worst
	// frame.
	Share, Steady float64
	// Alike is the share of the rest of the picture that has the screen's hue, purer,
	// paler or brighter than the lit screen, as a green shirt may be. Dark is the share
	// that has its hue and is darker: shadow, or also a subject.
	Alike, Dark float64
	// Rough is the standard deviation of its colour differences within a tile.
	Rough float64

	hue    hue
	luma   [3]float64
	halved bool
	angle  float64 // of its hue, in degrees
	w, h   int
	// Its colour over the picture, w × h: as it is, and without shadows.
	lit, unshaded []pullpush.Sample
}

// shows reports whether a place of a colour shows the screen.
func (s *Screen) shows(r, g, b float32) bool {
	x, z := s.hue.parts(r, g, b)
	return z <= hueTolerance*x && x-acceptance*z >= weak*s.strength()
}

// strength is that of the screen's colour.
func (s *Screen) strength() float32 {
	return s.hue.strength(float32(s.Colour[0]), float32(s.Colour[1]), float32(s.Colour[2]))
}

func (s *Screen) showsTile(t *tile) bool {
	return s.shows(float32(t.mean[0]), float32(t.mean[1]), float32(t.mean[2]))
}

// Found reports whether there is a screen at all.
func (s *Screen) Found() bool { return s.lit != nil }

// Plain reports whether nothing else has the screen's hue, not even shadows on it.
func (s *Screen) Plain() bool { return s.Alike+s.Dark <= maxAlike }

// Usual reports whether it is green or blue, as screens are.
func (s *Screen) Usual() bool { return s.name() != "" }

// Recognise decides whether the clip was shot before a green or blue screen, and says
// why in words for a person.
func (s *Screen) Recognise() (ok bool, reason string) {
	name := s.name()
	if name == "" || s.Share < minShare || s.Steady < minSteady || s.Rough > maxRough || s.Alike > maxAlike {
		return false, "there is no green or blue screen"
	}
	return true, s.Describe()
}

// Describe says in words for a person what the screen is.
func (s *Screen) Describe() string {
	name := s.name()
	if name == "" {
		name = "coloured"
	}
	return fmt.Sprintf("a %s screen, around #%02x%02x%02x, in %d %% of the border", name,
		uint8(s.Colour[0]), uint8(s.Colour[1]), uint8(s.Colour[2]), int(100*s.Share))
}

// name is what a screen of that hue is called, empty for all others.
func (s *Screen) name() string {
	pure := float64(s.strength()) / max(s.Colour[0], s.Colour[1], s.Colour[2], 1)
	near := func(c [3]float64, degrees float64) bool {
		cb, cr := chroma(s.luma, c)
		d := math.Abs(math.Mod(s.angle-math.Atan2(cr, cb)*180/math.Pi+540, 360) - 180)
		return d <= degrees
	}
	switch {
	case !s.Found():
		return ""
	case near([3]float64{0, 255, 0}, greenTolerance) && pure >= greenPurity:
		return "green"
	case near([3]float64{0, 0, 255}, blueTolerance) && pure >= bluePurity:
		return "blue"
	}
	return ""
}

// channels are the screen's strongest channel and the two others.
func (s *Screen) channels() (strongest, i, j int) {
	for k := range s.Colour {
		if s.Colour[k] > s.Colour[strongest] {
			strongest = k
		}
	}
	return strongest, (strongest + 1) % 3, (strongest + 2) % 3
}
