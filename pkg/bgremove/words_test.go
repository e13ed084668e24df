package bgremove_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// Each word of pkg/option is done: one that nothing does is an error, and never the
// default in silence.
func TestEveryWord(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.gif", movingSquare("-t", "0.4")...)
	for _, f := range option.Fields() {
		for _, word := range f.Words {
			t.Run(f.Name+" "+word, func(t *testing.T) {
				t.Parallel()
				o := bgremove.Options{Method: bgremove.Fast, CanvasW: 48, CanvasH: 64, Background: "#ffffff"}
				if err := o.Set(f.Name, word); err != nil {
					t.Fatal(err)
				}
				r := bgremove.New(bgremove.Config{})
				defer r.Close()
				result, err := r.Remove(t.Context(), in, filepath.Join(t.TempDir(), "out"), o, bgremove.Extras{})
				if e := (*bgremove.Error)(nil); word == string(option.Rembg) && errors.As(err, &e) && e.Kind == bgremove.Missing {
					return // where no network runs
				}
				if err != nil {
					t.Fatal(err)
				}
				if f.Name == "outputFormat" && string(result.OutputFormat) != word {
					t.Errorf("it is written as %s", result.OutputFormat)
				}
			})
		}
	}
}
