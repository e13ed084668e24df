package reduce

import "math"

// maxTaps is how many samples make up a target at most, since more than 3 for
// each are thinned out; columns in pairs may be more.
const maxTaps = 4

// groupSize returns how many samples of n may count as one when there will be m:
// at least 1.5 such groups are left for each, unless there are fewer anyway.
func groupSize(n, m int) int {
	return max(2*n/(3*m), 1)
}

// taps says which source samples make each target sample: target i is the sum
// of the samples from start[i] on, each times its weight. Every target has the
// same number of weights, some of them 0, and they add up to 256.
type taps struct {
	start  []int
	weight []uint64 // count for each target
	count  int
}

// newTaps gives the samples for a side of n pixels, taken in groups, brought
// to m: the area that a target covers when reducing, bilinear when enlarging.
func newTaps(n, group, m int) taps {
	have := (n + group - 1) / group
	scale := float64(n) / float64(group) / float64(m)
	t := taps{start: make([]int, m), count: min(int(math.Ceil(max(scale, 1)))+1, have)}
	if n%(group*m) == 0 {
		t.count = n / (group * m)
	}
	t.weight = make([]uint64, m*t.count)
	for i := range m {
		lo, hi := float64(i)*scale, float64(i+1)*scale
		if scale < 1 { // a box of one sample around the target's centre
			lo = min(max((float64(i)+0.5)*scale-0.5, 0), float64(have-1))
			hi = lo + 1
		}
		first := min(int(lo+1e-9), have-t.count)
		t.start[i] = first
		// Rounding the running sum, not each weight, keeps the total exact.
		done := 0
		for j := range t.count {
			part := (float64(first+j+1) - lo) / (hi - lo)
			sum := int(math.Round(min(max(part, 0), 1) * 256))
			t.weight[i*t.count+j] = uint64(sum - done)
			done = sum
		}
	}
	return t
}

// of returns the first sample of target i and the weights, without those that
// are 0 at the end.
func (t *taps) of(i int) (first int, weight []uint64) {
	weight = t.weight[i*t.count:][:t.count]
	for len(weight) > 1 && weight[len(weight)-1] == 0 {
		weight = weight[:len(weight)-1]
	}
	return t.start[i], weight
}
