package ortlib_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/network/fetch"
	"github.com/bgremove/bgremove/internal/network/ortlib"
)

func TestInstallFrom(t *testing.T) {
	t.Parallel()
	versioned, plain := names()
	good := tgz(t, file("r/README"), file("r/lib/"+versioned))
	tests := map[string]struct {
		name string
		data []byte
		is   func(error) bool // nil: the install works
	}{
		"tgz":           {"a.tgz", good, nil},
		"zip":           {"a.zip", zipped(t, "r/lib/"+versioned), nil},
		"library":       {plain, library(), nil},
		"link first":    {"a.tgz", tgz(t, tar.Header{Name: "r/lib/" + plain, Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}, file("r/lib/"+versioned)), nil},
		"climbing name": {"a.tgz", tgz(t, file("../../../lib/"+versioned)), nil}, // the archive's path is never used
		"only a link": {"a.tgz", tgz(t, tar.Header{Name: "r/lib/" + versioned, Linkname: "x", Typeflag: tar.TypeSymlink}),
			isErr(ortlib.ErrNoLibrary)},
		"without it":    {"a.tgz", tgz(t, file("r/README")), isErr(ortlib.ErrNoLibrary)},
		"cut":           {"a.tgz", good[:len(good)/2], isErr(ortlib.ErrArchive)},
		"cut zip":       {"a.zip", zipped(t, "r/lib/"+versioned)[:200], isErr(ortlib.ErrArchive)},
		"no archive":    {"a.tgz", []byte("<html>no</html>"), isErr(ortlib.ErrArchive)},
		"empty":         {"a.tgz", nil, isErr(ortlib.ErrArchive)},
		"text, renamed": {plain, []byte("plain text"), isErr(ortlib.ErrArchive)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := write(t, filepath.Join(t.TempDir(), test.name), test.data)
			server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(from))))
			defer server.Close()
			for _, place := range []string{from, server.URL + "/" + test.name} {
				dir := filepath.Join(t.TempDir(), "cache")
				got, err := ortlib.Install(t.Context(), ortlib.Options{Dir: dir, From: place, SHA256: digest(test.data)})
				if test.is != nil {
					if place != from && is[*fetch.PageError](err) {
						err = ortlib.ErrArchive // a server's content type shows it earlier
					}
					if !test.is(err) {
						t.Errorf("%s: %T: %v", place, err, err)
					}
					checkOnly(t, dir)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if data, err := os.ReadFile(got.Path); err != nil || !bytes.Equal(data, library()) || got.Path != filepath.Join(dir, plain) {
					t.Errorf("%s: %d bytes, %v", got.Path, len(data), err)
				}
				checkOnly(t, dir, plain, "setup.json")
				if lib, err := (ortlib.Places{Cache: dir}).Find(); err != nil || lib.Path != got.Path {
					t.Errorf("%+v, %v", lib, err)
				}
			}
		})
	}
}

// A file without a known digest is not installed, and a file with a known name
// must have its digest.
func TestInstallUnknown(t *testing.T) {
	t.Parallel()
	versioned, _ := names()
	from := t.TempDir()
	data := tgz(t, file("r/lib/"+versioned))
	other := write(t, filepath.Join(from, "other.tgz"), data)
	write(t, filepath.Join(from, "onnxruntime-node-"+ortlib.Version+".tgz"), data)
	server := httptest.NewServer(http.FileServer(http.Dir(from)))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "cache")
	for place, check := range map[string]func(error) bool{
		other:                     isErr(fetch.ErrNoDigest),
		server.URL + "/other.tgz": isErr(fetch.ErrNoDigest),
		from:                      is[*fetch.DigestError],
		server.URL + "/onnxruntime-node-" + ortlib.Version + ".tgz": is[*fetch.DigestError],
		server.URL + "/":         is[*fetch.StatusError],
		t.TempDir():              isErr(os.ErrNotExist),
		filepath.Join(from, "x"): isErr(os.ErrNotExist),
	} {
		if _, err := ortlib.Install(t.Context(), ortlib.Options{Dir: dir, From: place}); !check(err) {
			t.Errorf("%s: %T: %v", place, err, err)
		}
		checkOnly(t, dir)
	}
	if _, err := ortlib.Install(t.Context(), ortlib.Options{Dir: dir, From: other, SHA256: digest(nil)}); !is[*fetch.DigestError](err) {
		t.Errorf("%v", err)
	}
}

// If the release is not available, npm is used; its package is checked.
func TestInstallNPM(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins for npm are shell scripts")
	}
	t.Parallel()
	bin := t.TempDir()
	script := func(name, body string) string {
		path := write(t, filepath.Join(bin, name), []byte("#!/bin/sh\n"+body+"\n"))
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	archive := "onnxruntime-node-" + ortlib.Version + ".tgz"
	tests := map[string]struct {
		npm string
		is  func(error) bool
	}{
		"fails":           {script("fails", "echo E404 not found >&2; exit 1"), is[*ortlib.NPMError]},
		"brings nothing":  {script("nothing", "exit 0"), is[*ortlib.NPMError]},
		"brings the like": {script("wrong", "echo x >"+archive), is[*fetch.DigestError]},
		"is not there":    {filepath.Join(bin, "absent"), is[*ortlib.NPMError]},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "cache")
			var notes int
			_, err := ortlib.Install(t.Context(), ortlib.Options{Dir: dir, NPM: test.npm, Client: unreachable, Note: func(string) { notes++ }})
			if !test.is(err) || notes != 2 {
				t.Errorf("%T: %v (%d notes)", err, err, notes)
			}
			checkOnly(t, dir)
		})
	}
}

// npm runs in a folder of its own. It still puts the archive in the right place
// if the cache has a relative path.
func TestInstallNPMRelative(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for npm is a shell script")
	}
	bin := t.TempDir()
	t.Chdir(t.TempDir())
	npm := write(t, filepath.Join(bin, "npm"), []byte("#!/bin/sh\nfor last; do :; done\necho x >\"$last/onnxruntime-node-"+ortlib.Version+".tgz\"\n"))
	if err := os.Chmod(npm, 0o700); err != nil {
		t.Fatal(err)
	}
	o := ortlib.Options{Dir: "cache", NPM: npm, Client: unreachable}
	if _, err := ortlib.Install(t.Context(), o); !is[*fetch.DigestError](err) {
		t.Errorf("%T: %v", err, err)
	}
}

// Ctrl-C ends npm too: the test's npm would run for ever.
func TestInstallInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for npm is a shell script")
	}
	t.Parallel()
	bin := t.TempDir()
	fifo := filepath.Join(bin, "fifo")
	if err := exec.Command("mkfifo", fifo).Run(); err != nil {
		t.Fatal(err)
	}
	npm := write(t, filepath.Join(bin, "npm"), []byte("#!/bin/sh\necho runs >"+fifo+"\nexec sleep 600\n"))
	if err := os.Chmod(npm, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("ctrl-c")
	go func() {
		_, _ = os.ReadFile(fifo) // waits for npm
		cancel(cause)
	}()
	dir := filepath.Join(t.TempDir(), "cache")
	if _, err := ortlib.Install(ctx, ortlib.Options{Dir: dir, NPM: npm, Client: unreachable}); !errors.Is(err, cause) {
		t.Errorf("%v, want the cause", err)
	}
	checkOnly(t, dir)
}

// The remains of a killed run are removed after a day, not earlier.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "[a]") // which is no pattern
	for name, age := range map[string]time.Duration{".setup-old": 25 * time.Hour, ".setup-new": time.Hour} {
		path := filepath.Join(dir, name)
		write(t, filepath.Join(path, "file"), nil)
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	from := write(t, filepath.Join(t.TempDir(), "lib"), library())
	if _, err := ortlib.Install(t.Context(), ortlib.Options{Dir: dir, From: from, SHA256: digest(library())}); err != nil {
		t.Fatal(err)
	}
	_, plain := names()
	checkOnly(t, dir, ".setup-new", plain, "setup.json")
}

// This test uses the real npm: its package is checked and unpacked, and the
// second time it is there without a request. BGREMOVE_TEST_NPM names the npm
// program.
func TestInstallRealNPM(t *testing.T) {
	npm := os.Getenv("BGREMOVE_TEST_NPM")
	if npm == "" {
		t.Skip("BGREMOVE_TEST_NPM names no npm")
	}
	t.Parallel()
	dir := t.TempDir()
	o := ortlib.Options{Dir: dir, NPM: npm, Client: unreachable}
	got, err := ortlib.Install(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	o.NPM = filepath.Join(dir, "absent")
	again, err := ortlib.Install(t.Context(), o)
	if err != nil || again.From != "cache" || again.Path != got.Path {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	other := ortlib.Options{Dir: dir, NPM: npm, Client: unreachable, Platform: "linux/arm64"}
	if runtime.GOOS+"/"+runtime.GOARCH == other.Platform {
		other.Platform = "linux/amd64"
	}
	for _, from := range []string{"npm: onnxruntime-node@" + ortlib.Version, "cache"} {
		if foreign, err := ortlib.Install(t.Context(), other); err != nil || foreign.From != from {
			t.Errorf("another system's in the same folder: %+v, %v", foreign, err)
		}
	}
	o.NPM = npm
	if _, err := ortlib.Install(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.NPM = filepath.Join(dir, "absent")
	if err := os.Truncate(got.Path, 1000); err != nil {
		t.Fatal(err)
	}
	if _, err := ortlib.Install(t.Context(), o); err == nil {
		t.Error("a damaged library passed for intact")
	}
}
