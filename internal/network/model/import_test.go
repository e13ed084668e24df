package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/network/fetch"
	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/internal/system/filelock"
)

func TestImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine := write(t, filepath.Join(dir, "Walk.onnx"), network("mine"))
	write(t, filepath.Join(dir, "Walk.json"), []byte(`{"input": {"width": 64, "height": 64}}`))
	wrong := write(t, filepath.Join(dir, "wrong.onnx"), network("wrong"))
	write(t, filepath.Join(dir, "wrong.json"), []byte(`{"input": {"widht": 64}}`))
	cut := write(t, filepath.Join(dir, "cut.onnx"), network("mine")[:6])
	free := write(t, filepath.Join(dir, "a.onnx"), network("free"))
	left := write(t, filepath.Join(dir, "b.onnx"), network("left"))
	odd := write(t, filepath.Join(dir, "My Net (2).onnx"), network("mine"))
	namesake := write(t, filepath.Join(dir, "free.onnx"), network("mine"))
	tests := map[string]struct {
		path string
		o    model.ImportOptions
		name string // its name, if the import works
		is   func(error) bool
	}{
		"own":                  {mine, model.ImportOptions{}, "walk", nil},
		"own, named":           {mine, model.ImportOptions{Name: "my-net.2"}, "my-net.2", nil},
		"known content":        {free, model.ImportOptions{}, "free", nil},
		"known, another name":  {free, model.ImportOptions{Name: "mine"}, "mine", nil},
		"copyleft":             {left, model.ImportOptions{}, "", is[*model.LicenceError]},
		"copyleft, renamed":    {left, model.ImportOptions{Name: "mine"}, "", is[*model.LicenceError]},
		"accepted":             {left, model.ImportOptions{AcceptLicence: true}, "left", nil},
		"own, odd file name":   {odd, model.ImportOptions{}, "my-net-2", nil},
		"name of another":      {mine, model.ImportOptions{Name: "free"}, "", is[*model.OtherContentError]},
		"file's of another":    {namesake, model.ImportOptions{}, "", is[*model.OtherContentError]},
		"weights apart":        {"../../../testdata/onnx/half_apart.onnx", model.ImportOptions{}, "", isErr(model.ErrExternal)},
		"path for a name":      {mine, model.ImportOptions{Name: "../x"}, "", is[*model.NameError]},
		"truncated":            {cut, model.ImportOptions{}, "", isErr(model.ErrNotONNX)},
		"sidecar with a typo":  {wrong, model.ImportOptions{}, "", is[*model.SidecarError]},
		"absent":               {filepath.Join(dir, "no.onnx"), model.ImportOptions{}, "", isErr(os.ErrNotExist)},
		"folder":               {dir, model.ImportOptions{}, "", func(err error) bool { return err != nil }},
		"case-blind collision": {mine, model.ImportOptions{Name: "ben2_base"}, "", isErr(model.ErrExists)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newStore(t)
			s.Models = append(s.Models, known("BEN2_Base", "MIT", true, false))
			got, err := s.Import(t.Context(), test.path, test.o)
			if test.is != nil {
				if !test.is(err) || len(files(t, s.Dir)) > 0 {
					t.Errorf("%T: %v; left behind: %v", err, err, files(t, s.Dir))
				}
				return
			}
			if err != nil || got != test.name {
				t.Fatalf("%q, %v", got, err)
			}
			if err := s.Verify(t.Context(), got); err != nil {
				t.Error(err)
			}
			if _, err := s.Import(t.Context(), test.path, test.o); err != nil {
				t.Errorf("the second time: %v", err)
			}
			if err := s.Remove(got); err != nil || len(files(t, s.Dir)) > 0 {
				t.Errorf("%v; left behind: %v", err, files(t, s.Dir))
			}
		})
	}
}

// A copy of a catalogue's network under another name keeps the catalogue's
// spec.
func TestImportedUnderAnotherName(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	path := write(t, filepath.Join(t.TempDir(), "a.onnx"), network("free"))
	if _, err := s.Import(t.Context(), path, model.ImportOptions{Name: "mine"}); err != nil {
		t.Fatal(err)
	}
	if _, spec, err := s.Open("mine"); err != nil || spec != s.Models[0].Spec {
		t.Errorf("%+v, %v, want %+v", spec, err, s.Models[0].Spec)
	}
}

// A network is not installed if it was copied but could not be described.
func TestImportHalf(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	path := write(t, filepath.Join(t.TempDir(), "mine.onnx"), network("mine"))
	if err := os.MkdirAll(filepath.Join(s.Dir, "mine.sha256", "x"), 0o700); err != nil { // blocks the digest file
		t.Fatal(err)
	}
	if _, err := s.Import(t.Context(), path, model.ImportOptions{}); err == nil || s.Installed("mine") {
		t.Errorf("%v; it is installed: %v", err, s.Installed("mine"))
	}
}

// An imported network keeps its sidecar, is listed, and is not replaced by
// other content.
func TestImported(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	dir := t.TempDir()
	mine := write(t, filepath.Join(dir, "walk.onnx"), network("mine"))
	write(t, filepath.Join(dir, "walk.json"), []byte(`{"kind": "recurrent", "input": {"shortSide": 64}}`))
	if _, err := s.Import(t.Context(), mine, model.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	_, spec, err := s.Open("walk")
	if err != nil || spec.Kind != model.Recurrent || spec.Input.ShortSide != 64 {
		t.Errorf("%+v, %v", spec, err)
	}
	list, err := s.List()
	if err != nil || len(list) != 5 || !list[4].Imported || !list[4].Installed || list[4].Name != "walk" || list[4].Spec != spec {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := s.Import(t.Context(), write(t, filepath.Join(dir, "other.onnx"), network("new")), model.ImportOptions{Name: "walk"}); !errors.Is(err, model.ErrExists) {
		t.Errorf("%v, want ErrExists", err)
	}
	copied, err := s.Export(t.Context(), "walk", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got, same, err := s.Open(copied); err != nil || got != copied || same != spec {
		t.Errorf("the copy: %q, %+v, %v", got, same, err)
	}
	if _, err := s.Export(t.Context(), "walk", copied); !errors.Is(err, os.ErrExist) {
		t.Errorf("exporting over a file: %v", err)
	}
	own := filepath.Join(t.TempDir(), "copy.json")
	if path, err := s.Export(t.Context(), "walk", own); err == nil {
		t.Errorf("the network is exported to %s, the name of its sidecar", path)
	}
	if _, err := os.Stat(own); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the refused export leaves a file: %v", err)
	}
	beside := write(t, filepath.Join(t.TempDir(), "walk.json"), []byte("mine"))
	if _, err := s.Export(t.Context(), "walk", filepath.Dir(beside)); !errors.Is(err, os.ErrExist) {
		t.Errorf("exporting over another .json: %v", err)
	}
	if got, err := os.ReadFile(beside); err != nil || string(got) != "mine" {
		t.Errorf("the other .json: %q, %v", got, err)
	}
}

// A second import repairs a network and describes it anew. It takes nothing from
// an import of the same name that is still running.
func TestImportAgain(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	dir := t.TempDir()
	mine := write(t, filepath.Join(dir, "walk.onnx"), network("mine"))
	sidecar := write(t, filepath.Join(dir, "walk.json"), []byte(`{"input": {"shortSide": 64}}`))
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	other, err := os.Create(filepath.Join(s.Dir, "walk.onnx.part"))
	if err != nil {
		t.Fatal(err)
	}
	if err := filelock.Lock(other); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(t.Context(), mine, model.ImportOptions{}); !errors.Is(err, fetch.ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	if left := files(t, s.Dir); len(left) != 1 {
		t.Errorf("files beside those of the other import: %v", left)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(t.Context(), mine, model.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	path, err := s.Path("walk")
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, network("mind"))
	var damaged *model.DamagedError
	if err := s.Verify(t.Context(), "walk"); !errors.As(err, &damaged) || !damaged.Imported {
		t.Errorf("verify: %v", err)
	}
	if err := os.Remove(sidecar); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Import(t.Context(), mine, model.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, spec, err := s.Open("walk"); err != nil || spec != (model.Spec{}) {
		t.Errorf("%+v, %v", spec, err)
	}
	if err := s.Verify(t.Context(), "walk"); err != nil {
		t.Error(err)
	}
}
