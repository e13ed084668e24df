//go:build !amd64 || purego

package motion

func compare(s *sums, a, b []uint8, dx, dy []int16, row int, u, v int32) {
	comparePlain(s, a, b, dx, dy, row, u, v)
}

func (f *Flow) blendPatch(to, step int, p *fit, a, b []uint8, row int, u, v int32) {
	f.blendPlain(to, step, patch, patch, p, a, b, row, u, v)
}

func mix(line, near, far []float32) { mixPlain(line, near, far) }

func interpolate(dst, line []float32) { interpolatePlain(dst, line) }

func (r *refiner) warpHalf(y, odd int, a, b *level) { r.warpPlain(y, odd, a, b) }

func (r *refiner) constrain(half, at, before int) { r.constrainPlain(half, at, before) }

func (r *refiner) edges(_, at, before int) { r.edgesPlain(at, before) }

func (r *refiner) system(half, at, before int) { r.systemPlain(half, at, before) }

func (r *refiner) relax(half, at, before int) { r.relaxPlain(half, at, before) }

func (g *grid) consistency(dst, fx, fy, bx, by []float32, y float32) {
	g.consistencyPlain(dst, fx, fy, bx, by, 0, y)
}
