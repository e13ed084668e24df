package motion_test

import (
	"math"
	"math/rand/v2"

	"github.com/bgremove/bgremove/internal/matte/motion"
)

// texture is a smooth random pattern of details of all sizes, defined everywhere.
type texture struct{ waves [12][4]float64 }

func newTexture(seed uint64) *texture {
	r := rand.New(rand.NewPCG(seed, 9))
	var t texture
	for i := range t.waves {
		long := 6 * math.Exp(3.5*float64(i)/float64(len(t.waves))) // in pixels
		angle := 2 * math.Pi * r.Float64()
		t.waves[i] = [4]float64{2 * math.Pi / long * math.Cos(angle), 2 * math.Pi / long * math.Sin(angle), 2 * math.Pi * r.Float64(), 10 + 10*r.Float64()}
	}
	return &t
}

func (t *texture) at(x, y float64) float64 {
	v := 128.0
	for _, w := range t.waves {
		v += w[3] * math.Sin(w[0]*x+w[1]*y+w[2])
	}
	return v
}

// scene is a textured backdrop that moves as the camera says, and before it a disc
// with a texture of its own.
type scene struct {
	w, h           int
	camera         motion.Camera
	x, y, r        float64 // the disc in the first picture
	dx, dy         float64 // how it moves
	noise          float64 // deviation, in 1/255
	backdrop, disc *texture
}

// pan is a camera by which the picture moves.
func pan(x, y float64) motion.Camera { return motion.Camera{1, 0, x, 0, 1, y, 0, 0, 1} }

func newScene(w, h int, c motion.Camera) *scene {
	return &scene{w: w, h: h, camera: c, backdrop: newTexture(1), disc: newTexture(2)}
}

// inverse is where what comes to x, y was before.
func inverse(c *motion.Camera, x, y float64) (float64, float64) {
	u, v := x, y
	for range 12 {
		a, b := c.At(u, v)
		u, v = u+x-a, v+y-b
	}
	return u, v
}

// frames draws both pictures.
func (s *scene) frames() (a, b motion.Luma) {
	r := rand.New(rand.NewPCG(5, 5))
	draw := func(f func(x, y float64) float64) motion.Luma {
		l := motion.Luma{W: s.w, H: s.h, Pix: make([]uint8, s.w*s.h)}
		for i := range l.Pix {
			v := f(float64(i%s.w), float64(i/s.w)) + s.noise*r.NormFloat64()
			l.Pix[i] = uint8(min(max(v+0.5, 0), 255))
		}
		return l
	}
	a = draw(func(x, y float64) float64 { return s.mix(x, y, s.backdrop.at(x, y)) })
	b = draw(func(x, y float64) float64 {
		u, v := inverse(&s.camera, x, y)
		return s.mix(x-s.dx, y-s.dy, s.backdrop.at(u, v))
	})
	return a, b
}

// mix is the disc over the backdrop.
func (s *scene) mix(x, y, backdrop float64) float64 {
	k := min(max(s.r-math.Hypot(x-s.x, y-s.y)+0.5, 0), 1)
	return k*s.disc.at(x, y) + (1-k)*backdrop
}

// truth is how pixel x, y moves, whether that is the disc's motion, how far it is from the
// disc's edge, and whether it stays in the picture.
func (s *scene) truth(x, y int) (u, v float64, disc bool, edge float64, inside bool) {
	px, py := float64(x), float64(y)
	d := math.Hypot(px-s.x, py-s.y) - s.r
	if s.r > 0 && d < 0 {
		u, v, disc = s.dx, s.dy, true
	} else {
		u, v = s.camera.At(px, py)
		u, v = u-px, v-py
	}
	inside = px+u >= 0 && py+v >= 0 && px+u <= float64(s.w-1) && py+v <= float64(s.h-1)
	return u, v, disc, math.Abs(d), inside
}

// flow is that between two pictures.
func flow(a, b *motion.Luma) *motion.Field {
	var pa, pb motion.Pyramid
	pa.Set(a)
	pb.Set(b)
	var f motion.Flow
	var field motion.Field
	f.Between(&field, &pa, &pb)
	return &field
}
