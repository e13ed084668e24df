package model_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/network/model"
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
