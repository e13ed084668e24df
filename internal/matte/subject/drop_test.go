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

// What stands beside a small subject, and is larger, goes if the network is sure of both and
// the subject moves.
func TestBesideTheChosen(t *testing.T) {
	t.Parallel()
	walks := scene{still, func(t float64) []disc { return []disc{{40 + 4*t, 60, 14}, {180, 70, 40}} }}
	stands := scene{still, func(t float64) []disc { return []disc{{80 + 0.1*math.Sin(t), 60, 14}, {180, 70, 40}} }}
	var calls atomic.Int32
	for name, tt := range map[string]struct {
		scene   scene
		network subject.Chooser
		goes    bool
	}{
		"moves":  {walks, moving(0), true},
		"unsure": {walks, moving(60), false},
		"stands": {stands, by(func(x, _ int, _ uint8) uint8 {
			if x < 130 {
				return 255
			}
			return 0
		}), false},
		"found in few frames": {walks, func(ctx context.Context, v *view.Cells) ([]uint8, error) {
			if calls.Add(1) > frames*2/5 {
				return nothing(ctx, v)
			}
			return moving(0)(ctx, v)
		}, false},
		"too little found": {walks, by(func(x, y int, motion uint8) uint8 {
			if motion > 128 && x%16 == 0 && y%16 == 0 {
				return 255
			}
			return 0
		}), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := tt.scene.known(t)
			choice := chosen(t, c, subject.Auto, tt.network, 10)
			_, m := tt.scene.frame(10)
			choice.Apply(m)
			want := uint8(255)
			if tt.goes {
				want = 0
			}
			if is, beside := m.AlphaAt(80, 60).A, m.AlphaAt(180, 70).A; is != 255 || beside != want {
				t.Errorf("alpha %d of the subject, %d beside it, want 255 and %d", is, beside, want)
			}
		})
	}
}
