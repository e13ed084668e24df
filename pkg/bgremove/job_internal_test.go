package bgremove

import (
	"testing"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/pkg/option"
)

// still is a clip of which only the properties are asked.
type still struct{ media.Clip }

func (still) Info() media.Info { return media.Info{Width: 64, Height: 48} }

// What a hint keeps may be faint; what is only left beside what hints drop may not.
func TestWhatIsKeptMayBeFaint(t *testing.T) {
	t.Parallel()
	drop, keep := option.Hint{Click: &[2]float64{9, 9}}, option.Hint{Keep: true, Click: &[2]float64{1, 1}}
	for _, c := range []struct {
		hints []option.Hint
		faint bool
	}{
		{nil, false},
		{[]option.Hint{drop}, false},
		{[]option.Hint{drop, keep}, true},
	} {
		r := removal{Remover: new(Remover), options: Options{Hints: c.hints}}
		job, _, err := r.job(&input{clip: still{}}, &choice{method: Rembg})
		if err != nil || !job.Tidy || job.Faint != c.faint {
			t.Errorf("%v: tidy %t, faint %t, %v", c.hints, job.Tidy, job.Faint, err)
		}
	}
}
