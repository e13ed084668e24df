package floodfill

// setForegrounds sets the colour of the local maxima, which end a ramp. If other nodes depend
// on one, its colour is the mean of the surrounding pixels that are as far from
// the backdrop.
func (j *unmixer) setForegrounds(rim int) {
	for i := range j.nodes {
		n := &j.nodes[i]
		if n.up >= 0 {
			continue
		}
		n.full, n.full2, n.hops = n.c, n.d2, strokeReach
		in := j.within(n.at, n.x, 1)
		if i < rim {
			n.thin = !j.touchesSolid(n.at, in, int32(rim))
		}
		if n.ledTo && !n.thin {
			j.smooth(n, in)
		}
	}
}

// touchesSolid reports whether a neighbour belongs to the subject without touching
// the flood.
func (j *unmixer) touchesSolid(at int32, in uint8, rim int32) bool {
	for o, off := range j.off {
		if in>>o&1 != 0 && j.mask[at+off] != 0 && uint32(j.index[at+off]-1) >= uint32(rim) {
			return true
		}
	}
	return false
}

// smooth averages the colour of a local maximum with neighbours like it.
func (j *unmixer) smooth(n *node, in uint8) {
	near := 3 + 2*j.b.noise
	floor := max(sqrt(n.d2)-1-j.b.noise, 0)
	floor *= floor
	sum, count := n.c, float32(1)
	for o, off := range j.off {
		if in>>o&1 == 0 || j.mask[n.at+off] == 0 {
			continue
		}
		c := j.colour(n.at + off)
		if dot(c, c) >= floor && maxAbs(c.minus(n.c)) <= near {
			sum = sum.plus(c)
			count++
		}
	}
	n.full = sum.over(count)
	n.full2 = dot(n.full, n.full)
}

// propagate carries the strongest colour along thin strokes. Their pixels may
// never be covered fully. The rim is in raster order, so one pass forward and
// one backward reach everything within the limit of steps.
func (j *unmixer) propagate(rim int) {
	for i := range rim {
		j.raise(i, 0, 4)
	}
	for i := rim - 1; i >= 0; i-- {
		j.raise(i, 4, 8)
	}
}

// correctHairlines raises the colour of strokes about one pixel wide. Slanted ones
// cover no pixel fully: with slope t, at best 1 − t/4 of it.
func (j *unmixer) correctHairlines(rim int) {
	for i := range rim {
		n := &j.nodes[i]
		if !n.thin || n.up >= 0 || n.d2 <= 0 {
			continue
		}
		in := j.within(n.at, n.x, 1)
		if in != 0xff {
			continue
		}
		sum := float32(1)
		for _, off := range j.off {
			sum += max(dot(j.colour(n.at+off), n.full)/n.full2, 0)
		}
		if sum < 3*hairline {
			n.full = n.full.times(slantLift)
			n.full2 *= slantLift * slantLift
		}
	}
}

// localMaximum returns the one above node i, which may be i itself.
func (j *unmixer) localMaximum(i int32) int32 {
	for j.nodes[i].up >= 0 {
		i = j.nodes[i].up
	}
	return i
}

// chooseSources finds for each node the source, whose colour it mixes with the backdrop:
// the last on its ramp that is on one line with all before it. Each step of a
// ramp may deviate a little, and several could lead from a rim of one colour
// into an area of another, which is not part of the edge. Nodes inside
// therefore count only if their ramp leads to the source of a node of the rim.
func (j *unmixer) chooseSources(rim int) {
	for i := range j.nodes {
		n := &j.nodes[i]
		for up := n.up; up >= 0 && j.straight(int32(i), up); up = j.nodes[up].up {
			if i < rim || j.nodes[up].isSource {
				n.source = up + 1
			}
		}
		if i < rim && n.source > 0 {
			j.nodes[n.source-1].isSource = true
		}
	}
}

// straight reports whether the colour of node to is on one line with all on
// the ramp from node i up to it.
func (j *unmixer) straight(i, to int32) bool {
	t := &j.nodes[to]
	for ; i != to; i = j.nodes[i].up {
		if n := &j.nodes[i]; !j.aligned(n.c, n.d2, t.c, t.d2) {
			return false
		}
	}
	return true
}

// foreground is the subject's own colour at a source, and its squared length.
func (n *node) foreground() (vector, float32) {
	if n.full2 > 0 {
		return n.full, n.full2
	}
	return n.c, n.d2
}

// raise raises the colour of the thin local maximum above rim node i to that of the
// neighbours of i in the given directions.
func (j *unmixer) raise(i, from, to int) {
	p := &j.nodes[i]
	n := &j.nodes[j.localMaximum(int32(i))]
	if !n.thin {
		return
	}
	in := j.within(p.at, p.x, 1)
	for o := from; o < to; o++ {
		if in>>o&1 == 0 {
			continue
		}
		q := j.index[p.at+j.off[o]] - 1
		if q < 0 {
			continue
		}
		m := &j.nodes[j.localMaximum(q)]
		if m.hops == 0 || m.full2 <= n.full2 || m.full2 > maxLift*maxLift*n.d2 || !j.aligned(n.c, n.d2, m.full, m.full2) {
			continue
		}
		n.full, n.full2, n.hops = m.full, m.full2, m.hops-1
	}
}
