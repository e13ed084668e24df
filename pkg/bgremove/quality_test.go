package bgremove_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// TestWarnings wants each kind of bad result to be warned of, and good ones not.
func TestWarnings(t *testing.T) {
	t.Parallel()
	const size = ":size=192x108:rate=10:duration=1"
	uneven := []string{"-f", "lavfi", "-i", "gradients=c0=0x0a5020:c1=0x40f070:nb_colors=2:speed=0.00001" + size}
	green := []string{"-f", "lavfi", "-i", "color=0x20c040" + size}
	draw := func(input []string, filter string) []string {
		return append(slices.Clone(input), "-vf", filter, "-c:v", "ffv1", "-pix_fmt", "bgr0")
	}
	man := "drawbox=x=60:y=30:w=40:h=60:c=red:t=fill"
	for _, tt := range []struct {
		name   string
		args   []string
		option bgremove.Options
		want   []bgremove.WarningCode
	}{
		{"a good one", draw(green, man), bgremove.Options{}, nil},
		{"a backdrop of another colour", draw(uneven, man), bgremove.Options{Key: "#ff00ff"}, []bgremove.WarningCode{bgremove.NothingRemoved}},
		{"no subject", draw(green, "null"), bgremove.Options{Method: bgremove.Fast}, []bgremove.WarningCode{bgremove.NothingLeft}},
		{"a subject that comes and goes", draw(green, man+":enable='mod(n,2)',drawbox=x=110:y=30:w=20:h=20:c=red:t=fill"), bgremove.Options{},
			[]bgremove.WarningCode{bgremove.Flicker}},
		{"many pieces", draw(green, "geq=r='if(lt(mod(X,32),16)*lt(mod(Y,32),16)*between(X,20,180)*gt(Y,20),220,32)':g='if(lt(mod(X,32),16)*lt(mod(Y,32),16)*between(X,20,180)*gt(Y,20),20,192)':b=64"),
			bgremove.Options{}, []bgremove.WarningCode{bgremove.Fragments}},
		{"a subject that is cut off", draw(green, "drawbox=x=60:y=0:w=60:h=70:c=red:t=fill"), bgremove.Options{}, []bgremove.WarningCode{bgremove.TouchesEdge}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := generate(t, "in.mkv", tt.args...)
			out := filepath.Join(t.TempDir(), "out.webm")
			tt.option.Format = bgremove.WebM
			var got []bgremove.WarningCode
			for _, w := range remove(t, in, out, tt.option).Quality.Warnings {
				got = append(got, w.Code)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if tt.want == nil {
				return
			}
			tt.option.Strict = true
			out = filepath.Join(t.TempDir(), "strict.webm")
			_, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, out, tt.option, bgremove.Extras{})
			if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.Failed || e.Reason == "" {
				t.Errorf("strict: %v", err)
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("strict: an output is there: %v", err)
			}
		})
	}
}
