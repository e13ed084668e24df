package onnxfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/network/onnxfile"
)

// seeds are the small networks of testdata.
func seeds(tb testing.TB) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob("../../../testdata/onnx/*.onnx")
	if err != nil || len(files) == 0 {
		tb.Fatal(err, files)
	}
	small := map[string][]byte{}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		if len(b) < 4096 {
			small[filepath.Base(name)] = b
		}
	}
	return small
}

func read(b []byte) (*onnxfile.Graph, error) {
	return onnxfile.Read(bytes.NewReader(b), int64(len(b)))
}

// Files that are cut anywhere within the graph, and files of other kinds, are
// distinguished from complete ones.
func TestRead(t *testing.T) {
	t.Parallel()
	whole := []byte{0x08, 8, 0x12, 2, 'h', 'i', 0x3a, 5, 0x12, 3, 'n', 'e', 't', 0x42, 1, 0}
	if _, err := read(whole); err != nil {
		t.Error(err)
	}
	for n := range len(whole) - 3 {
		if _, err := read(whole[:n]); err == nil {
			t.Errorf("the first %d bytes passed", n)
		}
	}
	for _, text := range []string{"", "<html>", "\x08\x08", "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		if _, err := read([]byte(text)); err == nil {
			t.Errorf("%q passed", text)
		}
	}
}

func TestWeightsApart(t *testing.T) {
	t.Parallel()
	all := seeds(t)
	for name, want := range map[string]onnxfile.Graph{"half.onnx": {}, "half_apart.onnx": {External: true, ExternalBytes: 12}} {
		g, err := read(all[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, onnxfile.Graph{External: g.External, ExternalBytes: g.ExternalBytes}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := read(b)
		if err == nil && (g.ExternalBytes < 0 || !bytes.ContainsRune(b, 0x3a)) {
			t.Errorf("%x passed: %+v", b, g)
		}
	})
}
