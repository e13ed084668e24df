package model

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"github.com/bgremove/bgremove/internal/network/fetch"
	"github.com/bgremove/bgremove/internal/network/onnxfile"
)

const (
	extension       = ".onnx"
	digestExtension = ".sha256" // NAME.sha256 holds the digest of an imported network
)

// Store is a folder of networks, each named NAME.onnx. Goroutines and processes
// may share it.
type Store struct {
	// Dir is the folder; empty is DefaultDir. It is created when needed.
	Dir string
	// Models are the known networks; nil is Catalogue.
	Models []Model
}

// DefaultDir is the folder in the user's cache.
func DefaultDir() string { return filepath.Join(xdg.CacheHome, "bgremove", "models") }

// Entry is one line of a list of models.
type Entry struct {
	Model
	Installed bool `json:"installed"`
	// Imported is set for networks that are not in the catalogue, Bundled for
	// the one in the program.
	Imported bool   `json:"imported"`
	Bundled  bool   `json:"bundled"`
	Path     string `json:"path,omitempty"` // of an installed file
}

func (s *Store) dir() string {
	if s.Dir == "" {
		return DefaultDir()
	}
	return s.Dir
}

func (s *Store) models() []Model {
	if s.Models == nil {
		return Catalogue()
	}
	return s.Models
}

// inCatalogue finds a model of the catalogue.
func (s *Store) inCatalogue(name string) (Model, bool) {
	for _, m := range s.models() {
		if m.Name == name {
			return m, true
		}
	}
	return Model{}, false
}

// file is the path of one of a model's files, which may not exist. The name
// must be one of the catalogue, or have passed CheckName.
func (s *Store) file(name, extension string) string {
	return filepath.Join(s.dir(), name+extension)
}

// find looks a name up. It returns the model, and whether it is in the
// catalogue. The error is a *NameError, an *UnknownError or ErrBundled.
func (s *Store) find(name string) (Model, bool, error) {
	if name == Bundled {
		return Model{}, false, ErrBundled
	}
	if m, ok := s.inCatalogue(name); ok {
		return m, true, nil
	}
	if err := CheckName(name); err != nil {
		return Model{}, false, err
	}
	info, err := os.Stat(s.file(name, extension))
	if err != nil || !info.Mode().IsRegular() || s.isReserved(name) {
		return Model{}, false, &UnknownError{name}
	}
	return Model{Name: name, Bytes: info.Size(), SHA256: s.recordedDigest(name)}, false, nil
}

// Path is the path of an installed network. The error is a *NameError, an
// *UnknownError, a *NotInstalledError or ErrBundled.
func (s *Store) Path(name string) (string, error) {
	if _, _, err := s.find(name); err != nil {
		return "", err
	}
	path := s.file(name, extension)
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", &NotInstalledError{name}
	} else if err != nil {
		return "", fmt.Errorf("look for model %s: %w", name, err)
	} else if !info.Mode().IsRegular() {
		return "", fmt.Errorf("look for model %s: %s is not a regular file", name, path)
	}
	return path, nil
}

// Installed reports whether a network is installed.
func (s *Store) Installed(name string) bool {
	_, err := s.Path(name)
	return err == nil
}

// List returns the bundled network, then the catalogue, then imported networks
// by name.
func (s *Store) List() ([]Entry, error) {
	list := []Entry{bundled()}
	for _, m := range s.models() {
		e := Entry{Model: m}
		if path, err := s.Path(m.Name); err == nil {
			e.Installed, e.Path = true, path
		}
		list = append(list, e)
	}
	files, err := os.ReadDir(s.dir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the models: %w", err)
	}
	for _, f := range files {
		name, isModel := strings.CutSuffix(f.Name(), extension)
		if !isModel || s.isReserved(name) {
			continue
		}
		if m, _, err := s.find(name); err == nil {
			m.Spec, _ = readSidecar(s.file(name, ".json"))
			list = append(list, Entry{Model: m, Installed: true, Imported: true, Path: s.file(name, extension)})
		}
	}
	return list, nil
}

// isReserved reports whether the catalogue or the bundled network has a name. It
// ignores case, as some file systems do.
func (s *Store) isReserved(name string) bool {
	if strings.EqualFold(name, Bundled) {
		return true
	}
	for _, m := range s.models() {
		if strings.EqualFold(m.Name, name) {
			return true
		}
	}
	return false
}

// Open finds the network that a user named: one of the store by its name, or
// any .onnx file by its path. A file outside the store is only read. spec is
// the catalogue's, or that of the sidecar beside the file (walk.json beside
// walk.onnx). It is the zero Spec if there is neither.
//
// Errors: *NameError, *UnknownError, *NotInstalledError, *SidecarError,
// *DamagedError, ErrNotONNX, and those of the file system.
func (s *Store) Open(nameOrPath string) (path string, spec Spec, err error) {
	if isPath(nameOrPath) {
		return s.openFile(nameOrPath)
	}
	m, catalogued, err := s.find(nameOrPath)
	if err != nil {
		return "", Spec{}, err
	}
	if path, err = s.Path(nameOrPath); err != nil {
		return "", Spec{}, err
	}
	if !catalogued {
		return s.openFile(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", Spec{}, err
	}
	if m.Bytes > 0 && info.Size() != m.Bytes {
		return "", Spec{}, &DamagedError{Name: m.Name, Err: &fetch.SizeError{From: path, Got: info.Size(), Want: m.Bytes}}
	}
	return path, m.Spec, nil
}

// readONNX reads a network's description of itself. It fails for files that
// hold no network, or only part of one.
func readONNX(path string) (*onnxfile.Graph, error) {
	g, _, err := onnxfile.ReadFile(path)
	if err == nil || onnxfile.Unreadable(err) {
		return g, err
	}
	return nil, fmt.Errorf("%s: %w (%w)", path, ErrNotONNX, err)
}

func (s *Store) openFile(path string) (string, Spec, error) {
	if _, err := readONNX(path); err != nil {
		return "", Spec{}, err
	}
	spec, err := readSidecar(strings.TrimSuffix(path, filepath.Ext(path)) + ".json")
	if err != nil {
		return "", Spec{}, err
	}
	return path, spec, nil
}
