package model_test

import (
	"bytes"
	"context"
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
)

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
