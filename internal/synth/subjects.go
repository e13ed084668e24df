package synth

import (
	"image/color"
	"math"
)

// Subject names the content of a clip.
type Subject int

// The subjects. Only Eye and Window enclose an area in the backdrop's colour.
const (
	// Discs: three shaded moving discs, one of them across the bottom edge.
	Discs Subject = iota
	// Strokes: writing with strokes of 7, 3.5 and 2 pixels.
	Strokes
	// Lines: slanted lines 1 and 2 pixels wide that turn slowly, and a disc.
	Lines
	// Soft: discs with edges 3 to 8 pixels wide.
	Soft
	// Eye: a disc with two small spots in exactly the backdrop's colour. They
	// belong to the subject.
	Eye
	// Window: a shield with an area of about 2.5 % of the picture in exactly
	// the backdrop's colour. The area belongs to the subject.
	Window
	// Gap: a ring that is open on one side, so that the backdrop reaches
	// inside.
	Gap
)

// Subjects lists all subjects.
var Subjects = []Subject{Discs, Strokes, Lines, Soft, Eye, Window, Gap}

// String returns the subject's name in lower case.
func (s Subject) String() string {
	names := [...]string{"discs", "strokes", "lines", "soft", "eye", "window", "gap"}
	if s < 0 || int(s) >= len(names) {
		return "unknown"
	}
	return names[s]
}

var (
	orange = [3]float64{235, 95, 40}
	purple = [3]float64{150, 35, 160}
	ochre  = [3]float64{205, 165, 60}
	brown  = [3]float64{120, 60, 30}
)

// shapes returns the layers of the subject, bottom first, at the phase turn,
// 0..1, of the motion.
func (s Subject) shapes(c Clip, turn float64) []shape {
	w, h := float64(c.Width), float64(c.Height)
	sin, cos := math.Sincos(2 * math.Pi * turn)
	switch s {
	case Strokes:
		return writing(w, h, 0.03*w*sin, 0.02*h*cos)
	case Lines:
		return lines(w, h, turn)
	case Soft:
		return []shape{
			disc(w*(0.3+0.06*cos), h*(0.45+0.1*sin), h*0.22, 1.5, orange),
			disc(w*(0.68+0.05*sin), h*(0.5+0.1*cos), h*0.26, 4, purple),
			disc(w*(0.5-0.05*sin), h*(0.8+0.05*cos), h*0.1, 2.5, ochre),
		}
	case Eye:
		x, y, r := w*(0.5+0.1*cos), h*(0.5+0.08*sin), h*0.33
		return []shape{
			disc(x, y, r, 0, orange),
			spot(x-0.35*r, y-0.2*r, 0.1*r, c.Backdrop), spot(x+0.35*r, y-0.2*r, 0.06*r, c.Backdrop),
		}
	case Window:
		x, y := w*(0.5+0.1*cos), h*(0.5+0.08*sin)
		return []shape{disc(x, y, h*0.36, 0, purple), spot(x, y, math.Sqrt(0.025*w*h/math.Pi), c.Backdrop)}
	case Gap:
		x, y, r := w*(0.5+0.1*cos), h*(0.5+0.08*sin), h*0.33
		hole, slit := spot(x, y, 0.55*r, c.Backdrop), capsules([][4]float64{{x, y, x + 1.2*r, y - 0.3*r}}, h*0.05, brown)
		hole.erase, slit.erase = true, true
		return []shape{disc(x, y, r, 0, brown), hole, slit}
	}
	return []shape{
		disc(w*(0.3+0.08*cos), h*(0.4+0.12*sin), h*0.21, 0, orange),
		disc(w*(0.62+0.1*sin), h*(0.45+0.1*cos), h*0.25, 0, purple),
		disc(w*(0.8+0.05*cos), h*(0.95+0.03*sin), h*0.2, 0, ochre),
	}
}

// disc is lit from the upper left: its colour falls to 60 % at the opposite
// rim.
func disc(x, y, r, soft float64, base [3]float64) shape {
	return shape{
		distance: func(px, py float64) float64 { return math.Hypot(px-x, py-y) - r },
		x0:       x - r - soft - 1, y0: y - r - soft - 1, x1: x + r + soft + 1, y1: y + r + soft + 1,
		soft: soft,
		colour: func(px, py float64) [3]float64 {
			light := 0.8 - 0.2*((px-x)+(py-y))/(r*math.Sqrt2)
			return [3]float64{base[0] * light, base[1] * light, base[2] * light}
		},
	}
}

// spot is a flat disc.
func spot(x, y, r float64, c color.NRGBA) shape {
	s := disc(x, y, r, 0, [3]float64{})
	flat := [3]float64{float64(c.R), float64(c.G), float64(c.B)}
	s.colour = func(float64, float64) [3]float64 { return flat }
	return s
}

// capsules is the union of line segments x0, y0, x1, y1 with round ends.
func capsules(segs [][4]float64, width float64, base [3]float64) shape {
	s := shape{x0: math.Inf(1), y0: math.Inf(1), x1: math.Inf(-1), y1: math.Inf(-1)}
	for _, g := range segs {
		s.x0, s.x1 = min(s.x0, g[0]-width, g[2]-width), max(s.x1, g[0]+width, g[2]+width)
		s.y0, s.y1 = min(s.y0, g[1]-width, g[3]-width), max(s.y1, g[1]+width, g[3]+width)
	}
	s.distance = func(x, y float64) float64 {
		best := math.Inf(1)
		for _, g := range segs {
			dx, dy := g[2]-g[0], g[3]-g[1]
			t := min(max(((x-g[0])*dx+(y-g[1])*dy)/(dx*dx+dy*dy), 0), 1)
			ex, ey := x-g[0]-t*dx, y-g[1]-t*dy
			best = min(best, ex*ex+ey*ey)
		}
		return math.Sqrt(best) - width/2
	}
	s.colour = func(float64, float64) [3]float64 { return base }
	return s
}

// glyphs are letters without counters, as polylines in a 4 × 6 cell.
var glyphs = map[rune][][]float64{
	'M': {{0, 6, 0, 0, 2, 3, 4, 0, 4, 6}},
	'S': {{4, 0.7, 3, 0, 1, 0, 0, 1, 0.3, 2.4, 3.6, 3.4, 4, 5, 3, 6, 1, 6, 0, 5.3}},
	'K': {{0, 0, 0, 6}, {4, 0, 0, 3.2, 4, 6}},
	'T': {{0, 0, 4, 0}, {2, 0, 2, 6}},
	'E': {{4, 0, 0, 0, 0, 6, 4, 6}, {0, 3, 3, 3}},
	'Z': {{0, 0, 4, 0, 0, 6, 4, 6}},
}

func writing(w, h, dx, dy float64) []shape {
	var out []shape
	rows := []struct {
		text            string
		y, scale, width float64
		colour          [3]float64
	}{{"MSKTEZ", 0.15, 1, 7, purple}, {"TZEKSM", 0.5, 0.7, 3.5, orange}, {"KEMTSZ", 0.75, 0.5, 2, brown}}
	for _, row := range rows {
		u := row.scale * min(h*0.25/6, w*0.75/34)
		x, y := 0.1*w+dx, row.y*h+dy
		for _, r := range row.text {
			var segs [][4]float64
			for _, line := range glyphs[r] {
				for i := 0; i+3 < len(line); i += 2 {
					x0, y0 := slant(line[i], line[i+1])
					x1, y1 := slant(line[i+2], line[i+3])
					segs = append(segs, [4]float64{x + u*x0, y + u*y0, x + u*x1, y + u*y1})
				}
			}
			out = append(out, capsules(segs, row.width, row.colour))
			x += 5.6 * u
		}
	}
	return out
}

// slant keeps strokes off the pixel grid. On it, whole edges would have a
// coverage of exactly one half, and a threshold there would be arbitrary.
func slant(x, y float64) (float64, float64) { return x - 0.12*y, y + 0.09*x }

func lines(w, h, turn float64) []shape {
	out := []shape{disc(0.14*w, 0.8*h, 0.1*h, 0, purple)}
	cx, cy := 0.5*w, 0.47*h
	for i := range 5 {
		width, colour := 1.0, purple
		if i%2 == 1 {
			width, colour = 2, brown
		}
		sin, cos := math.Sincos(0.1 + 0.25*math.Sin(2*math.Pi*turn) + 0.12*float64(i))
		y := cy + (float64(i)-2)*0.14*h
		l := 0.34 * w
		out = append(out, capsules([][4]float64{{cx - l*cos, y - l*sin, cx + l*cos, y + l*sin}}, width, colour))
	}
	return out
}
