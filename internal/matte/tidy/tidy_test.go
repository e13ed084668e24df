package tidy_test

import (
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/tidy"
)

const (
	width, height = 320, 240
	clipFrames    = 24
)

// scene draws the matte of a frame: a subject that moves to the right, and what a
// test adds.
func scene(frame int, add func(frame, x, y int) (alpha float64, more bool)) *image.Alpha {
	m := image.NewAlpha(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		x, y := i%width, i/width
		a := subject(frame, x, y)
		if add != nil {
			if b, more := add(frame, x, y); more {
				a = b
			}
		}
		m.Pix[i] = uint8(math.Round(255 * a))
	}
	return m
}

// centre is where the subject is.
func centre(frame int) (x, y float64) { return 110 + 3*float64(frame), 120 }

// subject is a disc with hair on top, 22 pixels long and up to half covered, and
// behind it a trail of blurred motion of 20 pixels.
func subject(frame, x, y int) float64 {
	cx, cy := centre(frame)
	dx, dy := float64(x)-cx, float64(y)-cy
	body := min(max(45.5-math.Hypot(dx, dy), 0), 1)
	hair, trail := 0.0, 0.0
	if dy < 0 && math.Abs(dx) < 30 && math.Abs(math.Mod(float64(x)+100, 5)) < 2 {
		hair = 0.5 * min(max((67-math.Hypot(dx, dy))/22, 0), 1)
	}
	if dx < 0 && math.Abs(dy) < 40 {
		trail = min(max((65+dx)/20, 0), 1) * min(max((45.5-math.Abs(dy))/4, 0), 1)
		if math.Hypot(min(dx+20, 0), dy) > 45 {
			trail = 0
		}
	}
	return max(body, hair, trail)
}

// tidied cleans a clip, and returns its mattes, the frames' boxes, and the alpha
// that is left of all that there was.
func tidied(add func(frame, x, y int) (float64, bool)) (clean []*image.Alpha, boxes []image.Rectangle) {
	v := tidy.New(image.Pt(width, height))
	for f := range clipFrames {
		m := scene(f, add)
		v.Add(m)
		clean = append(clean, m)
	}
	v.Decide()
	for f, m := range clean {
		v.Clean(f, m)
		boxes = append(boxes, v.Box(f))
	}
	return clean, boxes
}

// sum adds up the alpha of mattes.
func sum(mattes []*image.Alpha, in func(frame, x, y int) bool) (total float64) {
	for f, m := range mattes {
		for i, a := range m.Pix {
			if in == nil || in(f, i%width, i/width) {
				total += float64(a)
			}
		}
	}
	return total
}

func whole(add func(frame, x, y int) (float64, bool)) (all []*image.Alpha) {
	for f := range clipFrames {
		all = append(all, scene(f, add))
	}
	return all
}

func disc(cx, cy, radius float64, x, y int) bool {
	return math.Hypot(float64(x)-cx, float64(y)-cy) < radius
}

// TestSubjectSurvives wants hair, blurred motion and small companions to stay.
func TestSubjectSurvives(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(frame, x, y int) (float64, bool){
		"hair and motion": nil,
		"a ball that is thrown": func(f, x, y int) (float64, bool) {
			return 1, disc(30+10*float64(f), 30+0.5*float64(f*f)/4, 7, x, y)
		},
		"a ring": func(f, x, y int) (float64, bool) {
			cx, cy := centre(f)
			return 0, disc(cx, cy, 14, x, y)
		},
		"someone in mist": func(_, x, y int) (float64, bool) {
			if disc(280, 200, 12, x, y) {
				return 1, true
			}
			return 0.45, disc(280, 200, 25, x, y)
		},
		"someone who comes in late": func(f, x, y int) (float64, bool) {
			return 1, f > 15 && disc(280, 200, 25, x, y)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean, _ := tidied(add)
			left := sum(clean, nil) / sum(whole(add), nil)
			t.Logf("%.5f of the alpha is left", left)
			if left < 0.999 || left > 1.001 {
				t.Errorf("%.5f of the alpha is left", left)
			}
		})
	}
}

// TestMistakesGo wants what is no subject to go, and the boxes not to have it.
func TestMistakesGo(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(frame, x, y int) (float64, bool){
		"haze":                            func(_, x, y int) (float64, bool) { return 0.2, x > 270 && y < 80 },
		"haze that is dense now and then": func(f, x, y int) (float64, bool) { return 0.2 + 0.3*float64(f%2), x > 270 && y < 80 },
		"specks": func(f, x, y int) (float64, bool) {
			return 1, f%8 < 2 && disc(float64(40+f*5), 20, 6, x, y)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean, boxes := tidied(add)
			added := func(f, x, y int) bool { _, more := add(f, x, y); return more }
			if left := sum(clean, added) / sum(whole(add), added); left > 0.001 {
				t.Errorf("%.3f of it is left", left)
			}
			for f, box := range boxes {
				cx, cy := centre(f)
				want := image.Rect(int(cx)-70, int(cy)-70, int(cx)+50, int(cy)+50)
				if !box.In(want) || box.Dx() < 90 || box.Dy() < 90 {
					t.Errorf("frame %d: box %v", f, box)
				}
			}
		})
	}
}

func TestFlashesOfHolesAreFilled(t *testing.T) {
	t.Parallel()
	hole := func(f, x, y int) bool {
		cx, cy := centre(f)
		return (f == 7 || f == 8) && disc(cx, cy, 6, x, y)
	}
	clean, _ := tidied(func(f, x, y int) (float64, bool) { return 0, hole(f, x, y) })
	if left := sum(clean, hole) / sum(whole(nil), hole); left < 0.999 {
		t.Errorf("%.3f of the subject is there", left)
	}
}

// A clip without a subject has nothing but haze.
func TestNothingIsLeftOfHaze(t *testing.T) {
	t.Parallel()
	v := tidy.New(image.Pt(width, height))
	m := image.NewAlpha(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = uint8(100 * (i % width) / width)
	}
	v.Add(m)
	v.Decide()
	v.Clean(0, m)
	if left := sum([]*image.Alpha{m}, nil) / (255 * width * height); left > 0.01 || !v.Box(0).Empty() {
		t.Errorf("mean alpha %.3f in %v", left, v.Box(0))
	}
}

// A part that was asked for stays, though nothing of it is solid.
func TestFaint(t *testing.T) {
	t.Parallel()
	for _, faint := range []bool{false, true} {
		v := tidy.New(image.Pt(width, height))
		v.Faint = faint
		m := image.NewAlpha(image.Rect(0, 0, width, height))
		for y := range 40 {
			for x := range 50 {
				m.SetAlpha(100+x, 60+y, color.Alpha{150})
			}
		}
		v.Add(m)
		v.Decide()
		v.Clean(0, m)
		if stays := m.AlphaAt(120, 80).A == 150; stays != faint {
			t.Errorf("Faint %t: alpha %d", faint, m.AlphaAt(120, 80).A)
		}
	}
}

// fill makes a rectangle of a matte opaque.
func fill(m *image.Alpha, r image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			m.SetAlpha(x, y, color.Alpha{255})
		}
	}
}

// The largest part of each shot stays, though it is small beside that of another one.
func TestShots(t *testing.T) {
	t.Parallel()
	first, other, second, third := image.Rect(8, 8, 72, 40), image.Rect(4, 50, 10, 56), image.Rect(64, 44, 68, 47), image.Rect(20, 50, 30, 56)
	frame := func(f int) *image.Alpha {
		m := image.NewAlpha(image.Rect(0, 0, 80, 60))
		switch {
		case f < 10:
			fill(m, first)
			fill(m, other)
		case f < 20:
			fill(m, second)
		default:
			fill(m, third)
			fill(m, image.Rectangle{third.Min, third.Min.Add(image.Pt(1, 1))}.Add(image.Pt(30, 0)))
		}
		return m
	}
	v := tidy.New(image.Pt(80, 60))
	v.Largest = true
	for f := range 22 { // the last shot has two frames
		if f == 10 || f == 20 {
			v.Cut()
		}
		v.Add(frame(f))
	}
	v.Decide()
	for f, want := range map[int]image.Rectangle{0: first, 9: first, 10: second, 19: second, 20: third, 21: third} {
		m := frame(f)
		v.Clean(f, m)
		for _, r := range []image.Rectangle{first, other, second, third} {
			if a := m.AlphaAt(r.Min.X, r.Min.Y).A; a == 255 != (r == want) && frame(f).AlphaAt(r.Min.X, r.Min.Y).A == 255 {
				t.Errorf("frame %d: %v has alpha %d", f, r, a)
			}
		}
		if v.Box(f) != want {
			t.Errorf("frame %d: the subject is in %v, want %v", f, v.Box(f), want)
		}
	}
}

// How long a shot is does not decide whether a small thing, or somebody who passes by, stays. Specks
// go from shots of any length.
func TestLongShots(t *testing.T) {
	t.Parallel()
	passing, speck, lasting := image.Rect(60, 4, 76, 12), image.Rect(40, 44, 44, 48), image.Rect(74, 58, 75, 60)
	for _, frames := range []int{100, 6000} {
		v := tidy.New(image.Pt(80, 60))
		frame := func(f int) *image.Alpha {
			m := image.NewAlpha(image.Rect(0, 0, 80, 60))
			fill(m, image.Rect(8, 8, 32, 40))
			fill(m, lasting)
			if f >= 50 && f < 62 {
				fill(m, passing)
			}
			if f >= 50 && f < 56 {
				fill(m, speck)
			}
			return m
		}
		for f := range frames {
			v.Add(frame(f))
		}
		v.Decide()
		m := frame(52)
		v.Clean(52, m)
		for name, c := range map[string]struct {
			at    image.Point
			stays bool
		}{"the subject": {image.Pt(20, 20), true}, "somebody who passes": {passing.Min, true}, "a speck": {speck.Min, false}, "a lasting speck": {lasting.Min, false}} {
			if a := m.AlphaAt(c.at.X, c.at.Y).A; a == 255 != c.stays {
				t.Errorf("%d frames: %s has alpha %d", frames, name, a)
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	m := scene(5, nil)
	v := tidy.New(image.Pt(width, height))
	for b.Loop() {
		v.Add(m)
	}
}
