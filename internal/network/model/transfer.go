package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bgremove/bgremove/internal/network/fetch"
	"github.com/bgremove/bgremove/internal/system/outfile"
)

// PullOptions says how to fetch a network.
type PullOptions struct {
	// From is a mirror: the URL of a folder, a file URL, or a folder or file on
	// this machine. Empty is the place where the network's authors publish it.
	From string
	// AcceptLicence is needed if the network's licence is Restricted.
	AcceptLicence bool
	// Progress gets the number of bytes so far and their final number.
	Progress func(done, total int64)
	// Client makes the requests; its Progress is ignored. The zero value is
	// fine.
	Client fetch.Client
}

// Pull fetches a network of the catalogue, unless it is already installed. It
// checks the content before the file gets its name. It resumes an interrupted
// Pull.
//
// Errors: *NameError, *UnknownError, ErrBundled, *LicenceError, and those of
// fetch.Client.Get.
func (s *Store) Pull(ctx context.Context, name string, o PullOptions) error {
	m, ok := s.inCatalogue(name)
	if !ok {
		return pullError(name)
	}
	if m.Restricted() != "" && !o.AcceptLicence {
		return &LicenceError{m}
	}
	dest := s.file(name, extension)
	if s.intact(ctx, m, dest) {
		return nil
	}
	from := m.URL
	if o.From != "" {
		from = mirrorPath(o.From, m.File)
	}
	client := o.Client
	client.Progress = o.Progress
	if err := client.Get(ctx, fetch.File{From: from, Size: m.Bytes, SHA256: m.SHA256}, dest); err != nil {
		return fmt.Errorf("pull %s: %w", name, err)
	}
	return nil
}

func pullError(name string) error {
	if name == Bundled {
		return ErrBundled
	}
	if err := CheckName(name); err != nil {
		return err
	}
	return &UnknownError{name}
}

// intact reports whether a file already has the content of the catalogue.
func (s *Store) intact(ctx context.Context, m Model, path string) bool {
	info, err := os.Stat(path)
	if err != nil || m.Bytes > 0 && info.Size() != m.Bytes {
		return false
	}
	sum, _, err := fetch.Digest(ctx, path)
	return err == nil && sum == m.SHA256
}

// mirrorPath is the place of a file on a mirror; a path may also name the file
// itself.
func mirrorPath(from, file string) string {
	if path, ok := fetch.LocalPath(from); ok {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return fetch.Join(from, file)
}

// ImportOptions says how to import a network.
type ImportOptions struct {
	// Name is its new name. Empty is the catalogue's name if it knows the
	// content, otherwise the file's own.
	Name string
	// AcceptLicence is needed for networks of the catalogue with a Restricted
	// licence.
	AcceptLicence bool
}

// Import copies a network, and the sidecar beside it, into the store and
// returns its name. A name of the catalogue accepts only the catalogue's
// content.
//
// Errors: *NameError, *LicenceError, *SidecarError, *OtherContentError,
// ErrExists, ErrNotONNX, ErrExternal, and those of fetch.Client.Get.
func (s *Store) Import(ctx context.Context, path string, o ImportOptions) (name string, err error) {
	g, err := readONNX(path)
	if err != nil {
		return "", err
	}
	if g.External {
		return "", fmt.Errorf("%s: %w", path, ErrExternal)
	}
	sum, size, err := fetch.Digest(ctx, path)
	if err != nil {
		return "", err
	}
	source := fetch.File{From: path, Size: size, SHA256: sum}
	var spec *Spec // the catalogue's spec, if it knows the content
	for _, m := range s.models() {
		if m.SHA256 != sum {
			continue
		}
		if m.Restricted() != "" && !o.AcceptLicence {
			return "", &LicenceError{m}
		}
		if o.Name == "" || o.Name == m.Name {
			return m.Name, s.copyIn(ctx, source, m.Name)
		}
		spec = &m.Spec
	}
	if name = o.Name; name == "" {
		name = nameFor(path)
	}
	if m, ok := s.inCatalogue(name); ok {
		return "", &OtherContentError{Name: name, Err: &fetch.DigestError{Name: path, Got: sum, Want: m.SHA256}}
	}
	return name, s.importNew(ctx, source, name, spec)
}

func (s *Store) copyIn(ctx context.Context, source fetch.File, name string) error {
	var client fetch.Client
	if err := client.Get(ctx, source, s.file(name, extension)); err != nil {
		return fmt.Errorf("import %s: %w", name, err)
	}
	return nil
}

// importNew imports a network under a name that is not in the catalogue. spec
// is used if the network has no sidecar; it may be nil.
func (s *Store) importNew(ctx context.Context, source fetch.File, name string, spec *Spec) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if s.isReserved(name) {
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	old, _, err := fetch.Digest(ctx, s.file(name, extension))
	if err == nil && old != source.SHA256 && s.recordedDigest(name) != source.SHA256 { // a damaged network is repaired
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	sidecar := strings.TrimSuffix(source.From, filepath.Ext(source.From)) + ".json"
	if _, err := readSidecar(sidecar); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir(), 0o755); err != nil {
		return fmt.Errorf("import %s: %w", name, err)
	}
	existed := s.Installed(name)
	err = s.copyIn(ctx, source, name)
	if errors.Is(err, fetch.ErrBusy) {
		return err // the file belongs to the other import
	}
	if err == nil {
		err = s.describe(name, source.SHA256, sidecar, spec)
	}
	if err != nil && !existed {
		return errors.Join(err, s.discard(name))
	}
	return err
}

// describe records the digest of an imported network and its sidecar. Without a
// sidecar it records spec, and without either it removes an old sidecar.
func (s *Store) describe(name, sum, sidecar string, spec *Spec) error {
	digest := sum + "  " + name + extension + "\n" // in the format of sha256sum
	if err := writeFile(s.file(name, digestExtension), []byte(digest)); err != nil {
		return err
	}
	data, err := os.ReadFile(sidecar)
	if errors.Is(err, fs.ErrNotExist) && spec != nil {
		data, err = json.MarshalIndent(spec, "", "  ")
	}
	if err != nil {
		return outfile.Remove(s.file(name, ".json"))
	}
	return writeFile(s.file(name, ".json"), data)
}

// recordedDigest is the digest of an imported network at its import, or "" if
// that is unknown.
func (s *Store) recordedDigest(name string) string {
	data, err := os.ReadFile(s.file(name, digestExtension))
	if sum, _, _ := strings.Cut(string(data), " "); err == nil && fetch.ValidDigest(sum) {
		return sum
	}
	return ""
}

// Export copies an installed network to a file, or into a folder under its name
// on mirrors. Another machine can then import or pull it. Export does not
// replace an existing file. It returns the path of the copy.
func (s *Store) Export(ctx context.Context, name, path string) (string, error) {
	m, catalogued, err := s.find(name)
	if err != nil {
		return "", err
	}
	from, err := s.Path(name)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if m.File == "" {
			m.File = name + extension
		}
		path = filepath.Join(path, m.File)
	}
	spec, err := os.ReadFile(s.file(name, ".json"))
	described := err == nil
	sidecar := strings.TrimSuffix(path, filepath.Ext(path)) + ".json"
	if described && sidecar == path {
		return "", &fs.PathError{Op: "export", Path: path, Err: errors.New("the name of the network's description; one in " + extension + " is needed")}
	}
	for _, p := range []string{path, sidecar} {
		if _, err := os.Lstat(p); !errors.Is(err, fs.ErrNotExist) && (p == path || described) {
			return "", &fs.PathError{Op: "export", Path: p, Err: fs.ErrExist}
		}
	}
	sum, size, err := fetch.Digest(ctx, from)
	if err != nil {
		return "", err
	}
	if m.SHA256 != "" && sum != m.SHA256 {
		return "", &DamagedError{Name: name, Imported: !catalogued, Err: &fetch.DigestError{Name: from, Got: sum, Want: m.SHA256}}
	}
	var client fetch.Client
	if err := client.Get(ctx, fetch.File{From: from, Size: size, SHA256: sum}, path); err != nil {
		return "", fmt.Errorf("export %s: %w", name, err)
	}
	if described {
		return path, writeFile(sidecar, spec)
	}
	return path, nil
}

// Verify reads an installed network and compares its digest. The error is a
// *DamagedError if it differs, ErrNoRecord, or an error of Path.
func (s *Store) Verify(ctx context.Context, name string) error {
	m, catalogued, err := s.find(name)
	if err != nil {
		return err
	}
	path, err := s.Path(name)
	if err != nil {
		return err
	}
	if m.SHA256 == "" {
		return fmt.Errorf("verify %s: %w", name, ErrNoRecord)
	}
	sum, _, err := fetch.Digest(ctx, path)
	if err != nil {
		return fmt.Errorf("verify %s: %w", name, err)
	}
	if sum != m.SHA256 {
		return &DamagedError{Name: name, Imported: !catalogued, Err: &fetch.DigestError{Name: path, Got: sum, Want: m.SHA256}}
	}
	return nil
}

// Remove deletes a network, and the remains of an interrupted Pull. The error
// is one of Path's.
func (s *Store) Remove(name string) error {
	if _, _, err := s.find(name); err != nil {
		return err
	}
	_, err := s.Path(name)
	if _, partial := os.Stat(s.file(name, extension+".part")); err != nil && partial != nil {
		return err
	}
	return s.discard(name)
}

// discard deletes all files of a model.
func (s *Store) discard(name string) error {
	var errs []error
	for _, ext := range []string{extension, extension + ".part", extension + ".part.etag", ".json", digestExtension} {
		errs = append(errs, outfile.Remove(s.file(name, ext)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return nil
}

// writeFile writes a small file that appears only when it is complete.
func writeFile(path string, data []byte) error {
	f, err := outfile.Create(path, true)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Commit()
	return err
}
