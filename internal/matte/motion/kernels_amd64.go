//go:build !purego

package motion

import "golang.org/x/sys/cpu"

// hasAVX2 is whether the processor has AVX2.
var hasAVX2 = cpu.X86.HasAVX2

// factors are the constants of the inner loops, in the order in which those name them.
//
//nolint:unused // the assembly reads them
var factors = [...]float32{penaltyEpsilon * penaltyEpsilon, 1, brightnessWeight, gradientWeight, divisorFloor, overRelaxation, 1 - overRelaxation, 0.5, 0.25, gradientFloor * gradientFloor, 1.5, 0.75, 2 * lanes, -borderTolerance, halfErrorShare, halfError, lanes}

// evens are how far every second pixel is from the first.
//
//nolint:unused // the assembly reads them
var evens = [lanes]float32{0, 2, 4, 6, 8, 10, 12, 14}

// places are those of the first pixels of a row.
//
//nolint:unused // the assembly reads them
var places = [lanes]float32{0, 1, 2, 3, 4, 5, 6, 7}

func compare(s *sums, a, b []uint8, dx, dy []int16, row int, u, v int32) {
	if !hasAVX2 {
		comparePlain(s, a, b, dx, dy, row, u, v)
		return
	}
	last := (patch-1)*row + patch - 1
	_, _, _, _ = a[last], b[last+row+1], dx[last], dy[last]
	compareVector(s, &a[0], &b[0], &dx[0], &dy[0], row, u, v)
}

func (f *Flow) blendPatch(to, step int, p *fit, a, b []uint8, row int, u, v int32) {
	if !hasAVX2 {
		f.blendPlain(to, step, patch, patch, p, a, b, row, u, v)
		return
	}
	last, end := (patch-1)*row+patch-1, to+(patch-1)*step+patch-1
	_, _, _, _, _ = a[last], b[last+row+1], f.x[end], f.y[end], f.weight[end]
	blendVector(&f.weight[to], &f.x[to], &f.y[to], step, &a[0], &b[0], row, p.x, p.y, u, v)
}

func mix(line, near, far []float32) {
	n := len(line) &^ (lanes - 1)
	if hasAVX2 && n > 0 {
		mixVector(&line[0], &near[:n][0], &far[:n][0], n/lanes)
		line, near, far = line[n:], near[n:], far[n:]
	}
	mixPlain(line, near, far)
}

func interpolate(dst, line []float32) {
	n := len(dst) / 2 &^ (lanes - 1)
	if hasAVX2 && n > 0 {
		interpolateVector(&dst[0], &line[:n+2][0], n/lanes)
		dst, line = dst[2*n:], line[n:]
	}
	interpolatePlain(dst, line)
}

func (r *refiner) warpHalf(y, odd int, a, b *level) {
	if !hasAVX2 {
		r.warpPlain(y, odd, a, b)
		return
	}
	at := r.at(y, odd)
	warpVector(&r.known[at], &r.mean[at], &r.diff[at], &r.u[at], &r.v[at], &a.pix[a.index(odd, y)], &b.pix[b.index(0, 0)],
		b.row, float32(odd), float32(y), float32(r.w-1), float32(r.h-1), r.groups)
}

func (r *refiner) constrain(half, at, before int) {
	if !hasAVX2 {
		r.constrainPlain(half, at, before)
		return
	}
	constrainVector(&r.data[half*r.groups], &r.mean[at], &r.diff[at], &r.known[at], &r.u[at], &r.v[at], 4*(before-at), 4*r.row, r.groups)
}

func (r *refiner) edges(_, at, before int) {
	if !hasAVX2 {
		r.edgesPlain(at, before)
		return
	}
	edgesVector(&r.kx[at], &r.ky[at], &r.sx[at], &r.sy[at], &r.u[at], &r.v[at], 4*(before+1-at), 4*r.row, r.groups)
}

func (r *refiner) system(half, at, before int) {
	if !hasAVX2 {
		r.systemPlain(half, at, before)
		return
	}
	i := half * r.groups
	systemVector(&r.work[i], &r.data[i], &r.u[at], &r.v[at], &r.kx[at], &r.ky[at], 4*(before-at), 4*r.row, r.groups)
}

func (r *refiner) relax(half, at, before int) {
	if !hasAVX2 {
		r.relaxPlain(half, at, before)
		return
	}
	relaxVector(&r.work[half*r.groups], &r.u[at], &r.v[at], 4*(before-at), 4*r.row, r.groups)
}

func (g *grid) consistency(dst, fx, fy, bx, by []float32, y float32) {
	n := len(dst) &^ (lanes - 1)
	if hasAVX2 && n > 0 {
		last := (int(g.lastY)*g.w + int(g.lastX)) + g.right + g.below
		_, _, _, _ = fx[n-1], fy[n-1], bx[last], by[last]
		consistencyVector(&dst[0], &fx[0], &fy[0], &bx[0], &by[0], y, g, n/lanes)
	} else {
		n = 0
	}
	g.consistencyPlain(dst[n:], fx[n:], fy[n:], bx, by, n, y)
}

// consistencyVector is consistencyPlain from the first pixel on.
//
//go:noescape
func consistencyVector(dst, fx, fy, bx, by *float32, y float32, where *grid, groups int)

// compareVector is comparePlain.
//
//go:noescape
func compareVector(s *sums, a, b *uint8, dx, dy *int16, row int, u, v int32)

// blendVector is blendPlain for whole patches.
//
//go:noescape
func blendVector(weight, x, y *float32, step int, a, b *uint8, row int, px, py float32, u, v int32)

// mixVector is mixPlain, and interpolateVector is interpolatePlain, for groups of lanes of the line.
//
//go:noescape
func mixVector(line, near, far *float32, groups int)

//go:noescape
func interpolateVector(dst, line *float32, groups int)

// warpVector is warpPlain for every second pixel of a from x on, and beyond the row to the end of the last
// group.
//
//go:noescape
func warpVector(known, mean, diff, u, v *float32, a, b *uint8, row int, x, y, right, bottom float32, groups int)

// constrainVector is constrainPlain. Pixels to the left are before bytes on, those below
// row bytes.
//
//go:noescape
func constrainVector(data *block, mean, diff, known, u, v *float32, before, row, groups int)

// edgesVector is edgesPlain. Pixels to the right are next bytes on, those below row
// bytes.
//
//go:noescape
func edgesVector(kx, ky, sx, sy, u, v *float32, next, row, groups int)

// systemVector is systemPlain. Pixels to the left are before bytes on.
//
//go:noescape
func systemVector(work, data *block, u, v, kx, ky *float32, before, row, groups int)

// relaxVector is relaxPlain.
//
//go:noescape
func relaxVector(work *block, u, v *float32, before, row, groups int)
