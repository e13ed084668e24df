package model_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/network/model"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"kind": "video"}`:                          "kind must be",
		`{"input": {"layout": "chw"}}`:               "input.layout must be",
		`{"input": {"width": 320}}`:                  "go together",
		`{"input": {"width": -1, "height": -1}}`:     "input.width must be",
		`{"colours": 2}`:                             "colours must be",
		`{"input": {"shortSide": 100000}}`:           "input.shortSide must be",
		`{"input": {"std": [-1, 1, 1]}}`:             "input.std must not",
		`{"output": {"channel": -1}}`:                "output.channel must be",
		`{"input": {"mean": [0.5, 0.5, 0.5]}}`:       "",
		`{"output": {"name": "d", "sigmoid": true}}`: "",
	} {
		var s model.Spec
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		err := s.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Every valid name stays in the folder, on every system.
func FuzzCheckName(f *testing.F) {
	for _, name := range []string{"u2net", "a.b-c_d", "..", "a/b", `a\b`, "con", "nul.x", "a.", "", "x.onnx", "é", "a\x00", "-a", ".a"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if model.CheckName(name) != nil {
			return
		}
		if filepath.Base(name) != name || strings.ContainsAny(name, "/\\:*?\"<>|\x00") || strings.Contains(name, "..") ||
			strings.ToLower(name) != name || !filepath.IsLocal(name) || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") {
			t.Errorf("%q passed", name)
		}
	})
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"u2net": true, "a.b-c_d": true, "0": true, strings.Repeat("a", 64): true,
		"": false, "..": false, "a..b": false, "a/b": false, `a\b`: false, "con": false, "nul.x": false, "a.": false, "x.onnx": false,
		"A": false, "é": false, ".a": false, "-a": false, strings.Repeat("a", 65): false, "a b": false, "a\n": false} {
		if (model.CheckName(name) == nil) != ok {
			t.Errorf("CheckName(%q) is %v", name, model.CheckName(name))
		}
	}
}
