package sequence_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/media/sequence"
)

// A pattern has one number in its last part, and knows the names that it makes.
func TestPattern(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"out/f%04d.png": "out/f0012.png", "%d.webp": "12.webp", "a%d/f%01d.png": "a%d/f12.png",
		"f%d%d.png": "", "f%12d.png": "", "f%5d.png": "", "f.png": "", "100%.png": ""} {
		p, ok := sequence.ParsePattern(filepath.FromSlash(path))
		if ok != (want != "") || ok && filepath.ToSlash(p.Name(12)) != want {
			t.Errorf("%s: %t, %s", path, ok, p.Name(12))
		}
		if ok && (!p.Matches(filepath.Base(want)) || p.Matches("x"+filepath.Base(want))) {
			t.Errorf("%s does not know its names", path)
		}
	}
	for path, want := range map[string]bool{"f%d.png": true, "f%02d_%d.png": true, "f%12d.png": true, "a%d/f.png": false, "100%.png": false} {
		if got := sequence.HasNumber(filepath.FromSlash(path)); got != want {
			t.Errorf("%s has a number: %t", path, got)
		}
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"f%d.png", "f%02d.png", true}, {"f%d.png", "f1%d.png", true}, {"f%d.png", "f%d0.png", true}, {"f%04d.png", "f0%03d.png", true},
		{"f%d.png", "g%d.png", false}, {"f%d.png", "f%d.webp", false}, {"f1%d.png", "f2%d.png", false}, {"f%d.png", "f-%d.png", false},
	} {
		a, _ := sequence.ParsePattern(tt.a)
		b, _ := sequence.ParsePattern(tt.b)
		if a.Meets(b) != tt.want || b.Meets(a) != tt.want {
			t.Errorf("%s meets %s: %t, the other way %t", tt.a, tt.b, a.Meets(b), b.Meets(a))
		}
	}
	dir := folder(t, "f1.png", "f02.png", "g1.png")
	p, _ := sequence.ParsePattern(filepath.Join(dir, "f%d.png"))
	if there, err := p.Existing(); err != nil || len(there) != 1 || there[0] != filepath.Join(dir, "f1.png") {
		t.Errorf("%v, %v", there, err)
	}
	p, _ = sequence.ParsePattern(filepath.Join(dir, "absent", "f%d.png"))
	if _, err := p.Existing(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
