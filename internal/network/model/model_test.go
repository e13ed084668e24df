package model_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/network/fetch"
	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/internal/system/filelock"
)

// network is the outermost layer of an ONNX file: ir_version 8 and a graph
// that differs by name.
func network(name string) []byte {
	return append([]byte{0x08, 8, 7<<3 | 2, byte(len(name) + 2), 2<<3 | 2, byte(len(name))}, name...)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func known(name, licence string, commercial, copyleft bool) model.Model {
	data := network(name)
	return model.Model{Name: name, File: name + "_v1.onnx", URL: "http://127.0.0.1:1/", Bytes: int64(len(data)), SHA256: digest(data),
		Licence: licence, Commercial: commercial, Copyleft: copyleft, Spec: model.Spec{Input: model.Input{Width: 320, Height: 320}}}
}

// newStore returns a store with three known models and a mirror of them.
func newStore(t *testing.T) (s *model.Store, mirror string) {
	t.Helper()
	s = &model.Store{Dir: filepath.Join(t.TempDir(), "models"), Models: []model.Model{
		known("free", "MIT", true, false), known("paid", "NC", false, false), known("left", "GPL-3.0", true, true)}}
	mirror = t.TempDir()
	for _, m := range s.Models {
		write(t, filepath.Join(mirror, m.File), network(m.Name))
	}
	return s, mirror
}

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func is[T error](err error) bool { var e T; return errors.As(err, &e) }

func isErr(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// Every entry of the catalogue can be fetched, checked and used.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, m := range model.Catalogue() {
		u, err := url.Parse(m.URL)
		if err != nil || u.Scheme != "https" {
			t.Errorf("%s: URL %q", m.Name, m.URL)
		}
		if filepath.Base(m.File) != m.File || !strings.HasSuffix(m.File, ".onnx") {
			t.Errorf("%s: file %q", m.Name, m.File)
		}
		if !fetch.ValidDigest(m.SHA256) || m.Licence == "" || m.Description == "" || m.Bytes < 0 {
			t.Errorf("%s: incomplete: %+v", m.Name, m)
		}
		if err := m.Spec.Validate(); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if err := model.CheckName(strings.ToLower(m.Name)); err != nil {
			t.Error(err)
		}
		for _, key := range []string{strings.ToLower(m.Name), m.File, m.SHA256, m.URL} {
			if seen[key] {
				t.Errorf("%s: %s is there twice", m.Name, key)
			}
			seen[key] = true
		}
	}
	for _, name := range []string{"u2net", "u2netp", "silueta", "u2net_human_seg", "isnet-general-use", "isnet-anime", "birefnet-general-lite",
		"birefnet-general", "birefnet-portrait", "ben2_base", "modnet", "rvm_mobilenetv3", "rvm_resnet50", "bria-rmbg-1.4", "bria-rmbg-2.0"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestPull(t *testing.T) {
	t.Parallel()
	_, shared := newStore(t)
	server := httptest.NewServer(http.FileServer(http.Dir(shared)))
	t.Cleanup(server.Close)
	tests := map[string]struct {
		name string
		o    model.PullOptions
		is   func(error) bool
	}{
		"server":               {"free", model.PullOptions{From: server.URL}, nil},
		"folder":               {"free", model.PullOptions{From: shared}, nil},
		"file":                 {"free", model.PullOptions{From: filepath.Join(shared, "free_v1.onnx")}, nil},
		"file URL":             {"free", model.PullOptions{From: "file://" + shared}, nil},
		"non-commercial":       {"paid", model.PullOptions{From: shared}, is[*model.LicenceError]},
		"copyleft":             {"left", model.PullOptions{From: shared}, is[*model.LicenceError]},
		"accepted":             {"paid", model.PullOptions{From: shared, AcceptLicence: true}, nil},
		"unknown":              {"other", model.PullOptions{From: shared}, is[*model.UnknownError]},
		"name that is a path":  {"../free", model.PullOptions{From: shared}, is[*model.NameError]},
		"another model's file": {"free", model.PullOptions{From: filepath.Join(shared, "left_v1.onnx")}, is[*fetch.DigestError]},
		"not in the mirror":    {"free", model.PullOptions{From: server.URL + "/sub"}, is[*fetch.StatusError]},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newStore(t)
			err := s.Pull(t.Context(), test.name, test.o)
			if test.is != nil {
				if !test.is(err) {
					t.Errorf("%T: %v", err, err)
				}
				if left := files(t, s.Dir); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			path, spec, err := s.Open(test.name)
			if err != nil || spec != s.Models[0].Spec {
				t.Errorf("%v, %v", spec, err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, network(test.name)) {
				t.Errorf("%q, %v", got, err)
			}
			if err := s.Verify(t.Context(), test.name); err != nil {
				t.Error(err)
			}
		})
	}
}

// An intact file is not fetched again; a damaged one is noticed and fetched
// again.
func TestDamage(t *testing.T) {
	t.Parallel()
	s, mirror := newStore(t)
	nowhere := model.PullOptions{From: t.TempDir()}
	if err := s.Pull(t.Context(), "free", model.PullOptions{From: mirror}); err != nil {
		t.Fatal(err)
	}
	if err := s.Pull(t.Context(), "free", nowhere); err != nil {
		t.Errorf("an intact model was fetched: %v", err)
	}
	path, err := s.Path("free")
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, network("fred"))
	if err := s.Verify(t.Context(), "free"); !is[*model.DamagedError](err) {
		t.Errorf("verify: %v", err)
	}
	if _, err := s.Export(t.Context(), "free", filepath.Join(t.TempDir(), "x.onnx")); !is[*model.DamagedError](err) {
		t.Errorf("export: %v", err)
	}
	write(t, path, network("free")[:5])
	if _, _, err := s.Open("free"); !is[*model.DamagedError](err) {
		t.Errorf("open: %v", err)
	}
	if err := s.Pull(t.Context(), "free", nowhere); err == nil {
		t.Error("a damaged model passed for intact")
	}
	if err := s.Pull(t.Context(), "free", model.PullOptions{From: mirror}); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(t.Context(), "free"); err != nil {
		t.Error(err)
	}
}

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

// The bundled network is listed first. Nothing can change it, and nothing else
// can have its name.
func TestBundled(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	list, err := s.List()
	if err != nil || list[0].Name != model.Bundled || !list[0].Bundled || !list[0].Installed || list[0].Bytes != int64(len(model.BundledNetwork.Float)) {
		t.Errorf("%+v, %v", list[0], err)
	}
	dir := t.TempDir()
	_, export := s.Export(t.Context(), model.Bundled, dir)
	for what, err := range map[string]error{
		"pull": s.Pull(t.Context(), model.Bundled, model.PullOptions{}), "remove": s.Remove(model.Bundled),
		"verify": s.Verify(t.Context(), model.Bundled), "export": export,
	} {
		if !errors.Is(err, model.ErrBundled) {
			t.Errorf("%s: %v, want ErrBundled", what, err)
		}
	}
	mine := write(t, filepath.Join(dir, "mine.onnx"), network("mine"))
	for _, name := range []string{model.Bundled, "Bundled"} {
		if _, err := s.Import(t.Context(), mine, model.ImportOptions{Name: name}); err == nil {
			t.Errorf("imported as %s", name)
		}
	}
}

// A path outside the store is only read; its folder may be read-only.
func TestOpenPath(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "net.onnx"), network("mine"))
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	before := files(t, dir)
	got, spec, err := s.Open(path)
	if err != nil || got != path || spec != (model.Spec{}) {
		t.Errorf("%q, %+v, %v", got, spec, err)
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Error(diff)
	}
	if s.Dir != "" && len(files(t, s.Dir)) > 0 {
		t.Error("the store was touched")
	}
	for name, check := range map[string]func(error) bool{
		"free": is[*model.NotInstalledError], "nothing": is[*model.UnknownError], "No": is[*model.NameError],
		"absent.onnx": isErr(os.ErrNotExist), dir + "/absent": isErr(os.ErrNotExist), dir: func(err error) bool { return err != nil },
	} {
		if _, _, err := s.Open(name); !check(err) {
			t.Errorf("%s: %T: %v", name, err, err)
		}
	}
}

// A network that was put there by hand can be used but not verified.
func TestByHand(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.Dir, "mine.onnx"), network("mine"))
	if _, _, err := s.Open("mine"); err != nil {
		t.Error(err)
	}
	if err := s.Verify(t.Context(), "mine"); !errors.Is(err, model.ErrNoRecord) {
		t.Errorf("%v, want ErrNoRecord", err)
	}
}

// A name that differs from a catalogue name only by case is refused. On a file
// system that ignores case it would be the catalogue's file.
func TestCaseOfNames(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	s.Models = append(s.Models, known("BEN2_Base", "MIT", true, false))
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.Dir, "ben2_base.onnx"), network("mine"))
	if path, _, err := s.Open("ben2_base"); !is[*model.UnknownError](err) {
		t.Errorf("%s, %v", path, err)
	}
}

// An interrupted pull can be removed.
func TestRemovePartial(t *testing.T) {
	t.Parallel()
	s, _ := newStore(t)
	if err := s.Remove("free"); !is[*model.NotInstalledError](err) {
		t.Errorf("%v", err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(network("free"))))
		_, _ = w.Write(network("free")[:3])
	}))
	defer server.Close()
	if err := s.Pull(context.Background(), "free", model.PullOptions{From: server.URL}); !is[*fetch.TruncatedError](err) {
		t.Errorf("%v", err)
	}
	if s.Installed("free") || len(files(t, s.Dir)) != 1 {
		t.Errorf("installed, or no part: %v", files(t, s.Dir))
	}
	if err := s.Remove("free"); err != nil || len(files(t, s.Dir)) > 0 {
		t.Errorf("%v; left behind: %v", err, files(t, s.Dir))
	}
}
