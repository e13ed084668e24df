package archives_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// list prints the entries of a package as tar does: the rights, the owner, three
// more words, and the path.
var list = map[string]string{
	"deb": `dpkg-deb --fsys-tarfile "$0" | tar -tv`,
	"rpm": `rpm -qp --qf '[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} - - - %{FILENAMES}\n]' "$0"`,
	"apk": `tar -tvzf "$0"`,
}

// Each package has the program, its manual and its licence at the usual places,
// for root to change and everyone to read. Those with networks have their library
// and a unit, too.
func TestPackages(t *testing.T) {
	t.Parallel()
	for arch, other := range map[string]string{"amd64": "x86_64", "arm64": "aarch64"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			check(t, "deb", "bgremove_*_"+arch+".deb", "/usr/share/zsh/vendor-completions/_bgremove", "/usr/share/doc/bgremove/copyright", "/usr/share/doc/bgremove/third-party-notices.txt",
				"/usr/lib/bgremove/libonnxruntime.so", "/usr/lib/systemd/system/bgremove.service",
				"/usr/share/doc/bgremove/onnxruntime/LICENSE", "/usr/share/doc/bgremove/onnxruntime/ThirdPartyNotices.txt")
			check(t, "rpm", "bgremove-*."+other+".rpm", "/usr/share/zsh/site-functions/_bgremove", "/usr/share/licenses/bgremove/LICENSE", "/usr/share/licenses/bgremove/third-party-notices.txt",
				"/usr/lib/bgremove/libonnxruntime.so", "/usr/lib/systemd/system/bgremove.service",
				"/usr/share/licenses/bgremove/onnxruntime/LICENSE", "/usr/share/licenses/bgremove/onnxruntime/ThirdPartyNotices.txt")
			check(t, "apk", "bgremove_*_"+other+".apk", "/usr/share/zsh/site-functions/_bgremove", "/usr/share/licenses/bgremove/LICENSE", "/usr/share/licenses/bgremove/third-party-notices.txt")
		})
	}
}

// check compares the files of a package with those of every package and own.
func check(t *testing.T, format, pattern string, own ...string) {
	t.Helper()
	dist := os.Getenv("BGREMOVE_DIST")
	if dist == "" {
		t.Skip("BGREMOVE_DIST names no packages")
	}
	found, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("packages %s: %v, %v", pattern, found, err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", list[format], found[0])
	cmd.Stderr = t.Output()
	entries, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"/usr/bin/bgremove": "-rwxr-xr-x"}
	for _, name := range append(own, documents(t)...) {
		want[name] = "-rw-r--r--"
	}
	if diff := cmp.Diff(want, files(t, string(entries))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", filepath.Base(found[0]), diff)
	}
}

// documents lists what every package has at the same place.
func documents(t *testing.T) []string {
	t.Helper()
	paths := []string{"/usr/share/doc/bgremove/README.md", "/usr/share/bash-completion/completions/bgremove", "/usr/share/fish/vendor_completions.d/bgremove.fish"}
	for _, name := range manual() {
		if page, ok := strings.CutPrefix(name, "man/"); ok {
			paths = append(paths, "/usr/share/man/man1/"+page)
		}
	}
	err := fs.WalkDir(os.DirFS("../../docs"), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, "/usr/share/doc/bgremove/docs/"+name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// files maps the path of each file in a list to its rights.
func files(t *testing.T, entries string) map[string]string {
	t.Helper()
	rights := map[string]string{}
	for line := range strings.Lines(entries) {
		f := strings.Fields(line)
		if len(f) != 6 {
			t.Fatalf("unexpected entry %q", line)
		}
		name := path.Join("/", f[5])
		if strings.HasPrefix(f[0], "d") || name == "/.PKGINFO" { // a folder, or the package manager's
			continue
		}
		rights[name] = f[0]
		if f[1] != "root/root" {
			t.Errorf("%s belongs to %s", name, f[1])
		}
	}
	return rights
}
