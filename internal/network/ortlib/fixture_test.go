package ortlib_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bgremove/bgremove/internal/network/fetch"
	"github.com/bgremove/bgremove/internal/network/ortlib"
)

// library begins like a shared library of this system.
func library() []byte {
	head := map[string]string{"windows": "MZ", "darwin": "\xcf\xfa\xed\xfe"}[runtime.GOOS]
	if head == "" {
		head = "\x7fELF"
	}
	return append([]byte(head), bytes.Repeat([]byte("code"), 1000)...)
}

// names returns the library's file names: the one with its version, and the one
// without.
func names() (versioned, plain string) {
	switch runtime.GOOS {
	case "windows":
		return "onnxruntime.dll", "onnxruntime.dll"
	case "darwin":
		return "libonnxruntime." + ortlib.Version + ".dylib", "libonnxruntime.dylib"
	}
	return "libonnxruntime.so." + ortlib.Version, "libonnxruntime.so"
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func tgz(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range headers {
		h.Mode = 0o644
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(library()))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(library()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipped(t testing.TB, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(library()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func file(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }

func write(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func is[T error](err error) bool { var e T; return errors.As(err, &e) }

func isErr(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func checkOnly(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if i >= len(want) || e.Name() != want[i] {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	if len(entries) != len(want) {
		t.Errorf("%d files, want %v", len(entries), want)
	}
}

// unreachable is a client that can reach no server.
var unreachable = fetch.Client{HTTP: &http.Client{Transport: refuse{}}}

type refuse struct{}
