package subject_test

import (
	"context"
	"math"
	"sync/atomic"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/matte/view"
)

// by is a network that chooses a cell's share by its place in the picture and its motion.
func by(share func(x, y int, motion uint8) uint8) subject.Chooser {
	return func(_ context.Context, v *view.Cells) ([]uint8, error) {
		chosen := make([]uint8, v.W*v.H)
		for k, m := range v.Plane(view.TrackMotion) {
			chosen[k] = share(k%v.W*4, k/v.W*4, m)
		}
		return chosen, nil
	}
}

// moving is all of a cell that moves much, and least of the others.
func moving(least uint8) subject.Chooser {
	return by(func(_, _ int, motion uint8) uint8 {
		if motion > 128 {
			return 255
		}
		return least
	})
}

// left is all of a cell left of the middle, and nothing of the others.
var left = by(func(x, _ int, _ uint8) uint8 {
	if x < w/2 {
		return 255
	}
	return 0
})

// first is a network that finds nothing when it has been asked so many times.
func first(most int32, network subject.Chooser) subject.Chooser {
	var calls atomic.Int32
	return func(ctx context.Context, v *view.Cells) ([]uint8, error) {
		if calls.Add(1) > most {
			return nothing(ctx, v)
		}
		return network(ctx, v)
	}
}

// A larger thing that stands beside a small subject goes if the network is sure of both, and the
// subject moves or the mattes seldom have the thing. A thing that they hardly have goes, too, where
// the network finds no subject. In no case is it half there.
func TestBesideTheChosen(t *testing.T) {
	t.Parallel()
	walks := scene{still, func(t float64) []disc { return []disc{{40 + 4*t, 60, 14}, {180, 70, 40}} }}
	stands := scene{still, func(t float64) []disc { return []disc{{80 + 0.1*math.Sin(t), 60, 14}, {180, 70, 40}} }}
	for name, tt := range map[string]struct {
		scene   scene
		every   int // mattes have what stands there in every so many frames
		network subject.Chooser
		goes    bool
	}{
		"moves":                     {walks, 1, moving(0), true},
		"unsure":                    {walks, 1, moving(60), false},
		"stands":                    {stands, 1, left, false},
		"stands, had seldom":        {stands, 2, left, true},
		"nothing found":             {stands, 1, nothing, false},
		"nothing found, hardly had": {stands, 4, nothing, true},
		"no network, hardly had":    {stands, 4, nil, false},
		"found in few frames":       {walks, 1, first(frames*2/5, moving(0)), false},
		"found in two of three":     {walks, 1, first(frames*2/3, moving(0)), false},
		"found in four of five":     {walks, 1, first(frames*4/5, moving(0)), true},
		"too little found": {walks, 1, by(func(x, y int, motion uint8) uint8 {
			if motion > 128 && x%16 == 0 && y%16 == 0 {
				return 255
			}
			return 0
		}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tt.scene.clip(t, tt.every)
			decided(t, c, frames)
			choice := chosen(t, c, subject.Auto, tt.network, 10)
			_, m := tt.scene.frame(10)
			choice.Apply(m)
			want := uint8(255)
			if tt.goes {
				want = 0
			}
			is, beside, rim := m.AlphaAt(80, 60).A, m.AlphaAt(180, 70).A, m.AlphaAt(180, 31).A
			if is != 255 || beside != want || rim != want {
				t.Errorf("alpha %d of the subject, %d beside it, %d at its rim, want 255 and %d", is, beside, rim, want)
			}
		})
	}
}
