package bgremove_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// Every option is looked at by something here.
func TestEveryOptionIsRead(t *testing.T) {
	t.Parallel()
	read := map[string]bool{}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				read[s.Sel.Name] = true
			}
			return true
		})
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[option.Options]()) {
		if !read[f.Name] {
			t.Errorf("nothing reads option %s", f.Name)
		}
	}
}

// Each word of pkg/option is done: one that nothing does is an error, and never the
// default in silence.
func TestEveryWord(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.gif", movingSquare("-t", "0.4")...)
	picture := generate(t, "picture.png", "-f", "lavfi", "-i", "color=red:s=20x10", "-frames:v", "1")
	for _, f := range option.Fields() {
		for _, word := range f.Words {
			t.Run(f.Name+" "+word, func(t *testing.T) {
				t.Parallel()
				o := bgremove.Options{Method: bgremove.Fast, CanvasW: 48, CanvasH: 64, Background: "#ffffff"}
				if f.Name == "subject" {
					o.Method = bgremove.Rembg
				}
				if f.Name == "preset" {
					o.CanvasW, o.CanvasH = 0, 0 // which a preset has
				}
				if f.Name == "bgFit" {
					o.Background = picture
				}
				if err := o.Set(f.Name, word); err != nil {
					t.Fatal(err)
				}
				r := bgremove.New(bgremove.Config{Library: os.Getenv("BGREMOVE_ONNXRUNTIME")})
				defer r.Close()
				result, err := r.Remove(t.Context(), in, filepath.Join(t.TempDir(), "out"), o, bgremove.Extras{})
				if e := (*bgremove.Error)(nil); o.Method == bgremove.Rembg && errors.As(err, &e) && e.Kind == bgremove.Missing {
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
