package ortlib

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/bgremove/bgremove/internal/network/fetch"
)

// Options says how to install the library.
type Options struct {
	// Dir is the target folder; empty is DefaultCache.
	Dir string
	// Platform is the library's system, as GOOS/GOARCH; empty is this one.
	Platform string
	// From replaces the official release: an archive or the library itself, a
	// folder that holds an archive under its published name, or the URL of
	// either. A folder's URL ends in a slash.
	From string
	// SHA256 is the digest of the file that From names, if that is not one of
	// the published builds of Version.
	SHA256 string
	// NPM is the npm program, used if the release is not available; empty is
	// the one in PATH, if any.
	NPM string
	// Again installs the library even if it is already there.
	Again bool
	// Progress gets the number of bytes so far and their final number, 0 while
	// that is unknown.
	Progress func(done, total int64)
	// Note gets a line about each next attempt.
	Note func(string)
	// Client makes the requests; its Progress is ignored.
	Client fetch.Client
}

// Installed is the result of Install.
type Installed struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"` // empty for builds that From names
	From    string `json:"from"`              // "cache" if it was already there
}

// Install brings the library to the cache folder. It checks every download by
// sha256 before any use, and the library appears only when it is complete.
//
// Errors: ErrPlatform, ErrArchive, ErrNoLibrary, ErrNotLibrary,
// fetch.ErrNoDigest for unknown builds without Options.SHA256, *NPMError, and
// those of fetch.Client.Get.
func Install(ctx context.Context, o Options) (*Installed, error) {
	if o.Platform == "" {
		o.Platform = runtime.GOOS + "/" + runtime.GOARCH
	}
	b, err := buildFor(o.Platform)
	if err != nil && (o.From == "" || o.SHA256 == "") {
		return nil, err
	}
	if o.Dir == "" {
		o.Dir = DefaultCache()
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the cache folder: %w", err)
	}
	i := &installer{Options: o, build: b}
	i.goos, _, _ = strings.Cut(o.Platform, "/")
	i.dest = filepath.Join(o.Dir, cacheName(i.goos))
	if o.From == "" && !o.Again && i.intact(ctx) {
		return &Installed{Path: i.dest, Version: Version, From: "cache"}, nil
	}
	sweep(o.Dir)
	if i.work, err = os.MkdirTemp(o.Dir, workPrefix+"*"); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(i.work)
	if o.From != "" {
		return i.fromNamed(ctx)
	}
	return i.fromPublished(ctx)
}

// installer is one run of Install.
type installer struct {
	Options
	build
	goos string // of Platform
	dest string // of the library
	work string // a temporary folder that is removed at the end
}

// workPrefix begins the names of temporary folders.
const workPrefix = ".setup-"

// sweep removes the temporary folders of killed runs.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir) // what is left takes room, and does no harm
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), workPrefix) && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// record is stored beside the library, as setup.json.
type record struct {
	Version  string `json:"version"` // empty for builds that the user named
	Platform string `json:"platform"`
	SHA256   string `json:"sha256"`
	From     string `json:"from"`
}

func (i *installer) recordPath() string { return filepath.Join(i.Dir, "setup.json") }

// intact reports whether the library in the cache is the one that was installed
// for this Version and Platform.
func (i *installer) intact(ctx context.Context) bool {
	var r record
	data, err := os.ReadFile(i.recordPath())
	if err != nil || json.Unmarshal(data, &r) != nil || r.Version != Version || r.Platform != i.Platform {
		return false
	}
	sum, _, err := fetch.Digest(ctx, i.dest)
	return err == nil && sum == r.SHA256
}

// fromPublished tries the official release, then npm.
func (i *installer) fromPublished(ctx context.Context) (*Installed, error) {
	url := fetch.Join(releaseURL, i.archive)
	i.note("getting ONNX Runtime " + Version + " from " + url)
	archive, releaseErr := i.get(ctx, fetch.File{From: url, SHA256: i.digest}, i.archive)
	if releaseErr == nil {
		return i.unpack(ctx, archive, origin{from: url, version: Version})
	}
	if ctx.Err() != nil || errors.Is(releaseErr, syscall.ENOSPC) || errors.Is(releaseErr, fetch.ErrBusy) {
		return nil, releaseErr
	}
	npm, err := i.findNPM()
	if err != nil {
		return nil, releaseErr
	}
	i.note(fmt.Sprintf("the release cannot be had (%v); asking npm for %s", releaseErr, npmPackage))
	archive, npmErr := i.packNPM(ctx, npm)
	if npmErr != nil {
		return nil, errors.Join(releaseErr, npmErr)
	}
	return i.unpack(ctx, archive, origin{from: "npm: " + npmPackage + "@" + Version, version: Version, npm: true})
}

// fromNamed installs from the place in Options.From.
func (i *installer) fromNamed(ctx context.Context) (*Installed, error) {
	if path, ok := fetch.LocalPath(i.From); ok {
		return i.fromPath(ctx, path)
	}
	f := fetch.File{From: i.From, SHA256: i.SHA256}
	if strings.HasSuffix(i.From, "/") {
		if i.archive == "" {
			return nil, ErrPlatform
		}
		f.From = fetch.Join(i.From, i.archive)
	}
	if f.SHA256 == "" {
		f.SHA256 = i.published(f.From)
	}
	i.note("getting ONNX Runtime from " + fetch.Redacted(f.From))
	archive, err := i.get(ctx, f, "named.download")
	if err != nil {
		return nil, err
	}
	return i.installFile(ctx, archive, fetch.Redacted(f.From), f.SHA256)
}

// published is the digest of a published archive with this file name, or "".
func (i *installer) published(from string) string {
	switch filepath.Base(fetch.Redacted(from)) {
	case i.archive:
		return i.digest
	case npmArchive:
		return npmDigest
	}
	return ""
}

func (i *installer) fromPath(ctx context.Context, path string) (*Installed, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		if path, err = i.inMirror(path); err != nil {
			return nil, err
		}
	}
	sum, _, err := fetch.Digest(ctx, path)
	if err != nil {
		return nil, err
	}
	switch {
	case i.SHA256 != "" && sum != i.SHA256:
		return nil, &fetch.DigestError{Name: path, Got: sum, Want: i.SHA256}
	case i.SHA256 == "" && i.published(path) != "" && sum != i.published(path):
		return nil, &fetch.DigestError{Name: path, Got: sum, Want: i.published(path)}
	case i.SHA256 == "" && !i.knows(sum):
		return nil, fmt.Errorf("%s: %w", path, fetch.ErrNoDigest)
	}
	return i.installFile(ctx, path, path, sum)
}

// inMirror finds an archive under its published name in a folder.
func (i *installer) inMirror(dir string) (string, error) {
	for _, name := range []string{i.archive, npmArchive} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); name != "" && err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", &fs.PathError{Op: "find " + i.archive + " or " + npmArchive + " in", Path: dir, Err: fs.ErrNotExist}
}

// installFile installs from a checked file, which is the library itself or an archive.
func (i *installer) installFile(ctx context.Context, path, from, digest string) (*Installed, error) {
	version := ""
	if i.knows(digest) {
		version = Version
	}
	if checkLibrary(path, i.goos) == nil {
		return i.commit(ctx, path, origin{from: from, version: version})
	}
	return i.unpack(ctx, path, origin{from: from, version: version})
}

// origin is the source of a library.
type origin struct {
	from    string
	version string
	npm     bool // npm checks archives itself, so we check only the library
}

// unpack extracts the library from a checked archive.
func (i *installer) unpack(ctx context.Context, archive string, o origin) (*Installed, error) {
	library := filepath.Join(i.work, "library")
	f, err := os.OpenFile(library, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	err = extract(archive, i.wantedIn(i.goos), f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", o.from, err)
	}
	return i.commit(ctx, library, o)
}

// commit gives the library its name in the cache and records its digest.
func (i *installer) commit(ctx context.Context, library string, o origin) (*Installed, error) {
	if err := checkLibrary(library, i.goos); err != nil {
		return nil, fmt.Errorf("%s: %w", o.from, ErrNotLibrary)
	}
	sum, size, err := fetch.Digest(ctx, library)
	if err != nil {
		return nil, err
	}
	if o.npm && sum != i.npmLibraryDigest {
		return nil, &fetch.DigestError{Name: o.from, Got: sum, Want: i.npmLibraryDigest}
	}
	var client fetch.Client
	if err := client.Get(ctx, fetch.File{From: library, Size: size, SHA256: sum}, i.dest); err != nil {
		return nil, fmt.Errorf("install the library: %w", err)
	}
	if err := i.writeRecord(record{o.version, i.Platform, sum, o.from}); err != nil {
		return nil, err
	}
	return &Installed{Path: i.dest, Version: o.version, From: o.from}, nil
}

func (i *installer) writeRecord(r record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(i.work, "setup.json")
	if err := os.WriteFile(path, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path, i.recordPath())
}

// get fetches an archive into work. The archive always has the same name, so
// that an interrupted download is resumed.
func (i *installer) get(ctx context.Context, f fetch.File, name string) (string, error) {
	client := i.Client
	client.Progress = i.Progress
	arrived, archive := filepath.Join(i.Dir, name), filepath.Join(i.work, name)
	if err := client.Get(ctx, f, arrived); err != nil {
		return "", err
	}
	return archive, os.Rename(arrived, archive)
}

func (i *installer) note(line string) {
	if i.Note != nil {
		i.Note(line)
	}
}
