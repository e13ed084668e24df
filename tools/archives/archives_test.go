// Package archives_test checks the archives of a release: their content, and
// that the one for this system works as delivered. BGREMOVE_DIST names their
// folder; `make release-check` sets it.
package archives_test

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli"
)

// archive is the archive for one system.
type archive struct {
	suffix       string // of its name, before the extension
	goos, goarch string
	library      string // its name beside the executable; empty: no networks
}

var archives = []archive{
	{"linux_amd64", "linux", "amd64", "libonnxruntime.so"},
	{"linux_arm64", "linux", "arm64", "libonnxruntime.so"},
	{"macos_amd64", "darwin", "amd64", ""}, // no library is published for it
	{"macos_arm64", "darwin", "arm64", "libonnxruntime.dylib"},
	{"windows_amd64", "windows", "amd64", "onnxruntime.dll"},
	{"windows_arm64", "windows", "arm64", "onnxruntime.dll"},
}

// unpacked returns a folder with the archive's content.
func (a archive) unpacked(t *testing.T) string {
	t.Helper()
	dist := os.Getenv("BGREMOVE_DIST")
	if dist == "" {
		t.Skip("BGREMOVE_DIST names no archives")
	}
	found, err := filepath.Glob(filepath.Join(dist, "bgremove_*_"+a.suffix+".[tz]*")) // .tar.gz or .zip
	if err != nil || len(found) != 1 {
		t.Fatalf("archives for %s: %v, %v", a.suffix, found, err)
	}
	dir := t.TempDir()
	if err := unpack(found[0], dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (a archive) executable() string {
	if a.goos == "windows" {
		return "bgremove.exe"
	}
	return "bgremove"
}

// Each archive has a list of the modules beside it, with the same versions as in the
// executable.
func TestModules(t *testing.T) {
	t.Parallel()
	for _, a := range archives {
		t.Run(a.suffix, func(t *testing.T) {
			t.Parallel()
			built, err := buildinfo.ReadFile(filepath.Join(a.unpacked(t), a.executable()))
			if err != nil {
				t.Fatal(err)
			}
			var list struct {
				BOMFormat  string
				Components []struct{ Name, Version string }
			}
			found, err := filepath.Glob(filepath.Join(os.Getenv("BGREMOVE_DIST"), "bgremove_*_"+a.suffix+".cdx.json"))
			if err != nil || len(found) != 1 {
				t.Fatalf("lists for %s: %v, %v", a.suffix, found, err)
			}
			text, err := os.ReadFile(found[0])
			if err == nil {
				err = json.Unmarshal(text, &list)
			}
			if err != nil || list.BOMFormat != "CycloneDX" {
				t.Fatalf("%q: %v", list.BOMFormat, err)
			}
			listed := make(map[string]string)
			for _, c := range list.Components {
				listed[c.Name] = c.Version
			}
			for _, m := range built.Deps {
				if m.Replace == nil && listed[m.Path] != m.Version {
					t.Errorf("%s is listed as %q, and built as %s", m.Path, listed[m.Path], m.Version)
				}
			}
		})
	}
}

// Each executable is for its system. It has cgo if there is a library to load;
// the library and its notices lie beside it.
func TestContents(t *testing.T) {
	t.Parallel()
	for _, a := range archives {
		t.Run(a.suffix, func(t *testing.T) {
			t.Parallel()
			dir := a.unpacked(t)
			want := append([]string{"LICENSE", "README.md", "third-party-notices.txt", a.executable(), "deploy", "deploy/bgremove.service", "docs"}, manual()...)
			cgo := "0"
			if a.library != "" {
				cgo = "1"
				want = append(want, a.library, "onnxruntime", "onnxruntime/LICENSE", "onnxruntime/ThirdPartyNotices.txt")
				if got, err := machine(filepath.Join(dir, a.library)); err != nil || got != a.goos+"/"+a.goarch {
					t.Errorf("%s is for %s, %v", a.library, got, err)
				}
			}
			if diff := cmp.Diff(set(want), contents(t, dir)); diff != "" {
				t.Errorf("contents (-want +got):\n%s", diff)
			}
			program := filepath.Join(dir, a.executable())
			if got, err := machine(program); err != nil || got != a.goos+"/"+a.goarch {
				t.Errorf("%s is for %s, %v", a.executable(), got, err)
			}
			info, err := buildinfo.ReadFile(program)
			if err != nil {
				t.Fatal(err)
			}
			if got := setting(info, "CGO_ENABLED"); got != cgo {
				t.Errorf("CGO_ENABLED=%s, want %s", got, cgo)
			}
		})
	}
}

// manual lists the man pages, one for each command, and the completions.
func manual() []string {
	names := []string{"man", "completions", "completions/bgremove.bash", "completions/_bgremove", "completions/bgremove.fish", "completions/bgremove.ps1"}
	var add func(*cobra.Command)
	add = func(cmd *cobra.Command) {
		names = append(names, "man/"+strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				add(c)
			}
		}
	}
	add(cli.Manual())
	return names
}

// glibc is the newest C library that programs for Linux may require: that of
// ONNX Runtime's own builds.
const glibc = "GLIBC_2.28"

func TestGlibc(t *testing.T) {
	t.Parallel()
	for _, a := range archives {
		if a.goos != "linux" {
			continue
		}
		t.Run(a.suffix, func(t *testing.T) {
			t.Parallel()
			dir := a.unpacked(t)
			for _, name := range []string{a.executable(), a.library} {
				newer, err := newerThan(filepath.Join(dir, name), glibc)
				if err != nil || len(newer) > 0 {
					t.Errorf("%s asks for %v, %v", name, newer, err)
				}
			}
		})
	}
}

// The archive for this system cuts out a subject with a network, on a machine
// without any of our files. It uses the library beside the executable.
func TestRuns(t *testing.T) {
	t.Parallel()
	for _, a := range archives {
		if a.goos != runtime.GOOS || a.goarch != runtime.GOARCH || a.library == "" {
			continue
		}
		dir, empty := a.unpacked(t), t.TempDir()
		run := func(result any, args ...string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, a.executable()), args...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + empty, "XDG_CACHE_HOME=" + empty, "TMPDIR=" + empty,
				"SystemRoot=" + os.Getenv("SystemRoot"), "LOCALAPPDATA=" + empty, "TEMP=" + empty}
			cmd.Stderr = t.Output()
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("bgremove %s: %v", strings.Join(args, " "), err)
			}
			if err := json.Unmarshal(out, result); err != nil {
				t.Fatal(err)
			}
		}
		var doctor struct {
			Checks []struct{ Name, Detail string }
		}
		run(&doctor, "doctor", "--json")
		library := ""
		for _, c := range doctor.Checks {
			if c.Name == "ONNX Runtime" {
				library = c.Detail
			}
		}
		if want := filepath.Join(dir, a.library); !strings.Contains(library, want) {
			t.Errorf("doctor found %q, want %s", library, want)
		}
		media, err := filepath.Abs("../../testdata")
		if err != nil {
			t.Fatal(err)
		}
		var removed struct {
			Method, Device string
			Frames         int
		}
		output := filepath.Join(empty, "out.gif")
		run(&removed, "remove", filepath.Join(media, "pygif", "animation.gif"), "-o", output, "--json",
			"--method", "rembg", "--model", filepath.Join(media, "onnx", "distance.onnx"))
		if info, err := os.Stat(output); err != nil || info.Size() == 0 {
			t.Errorf("no output: %v", err)
		}
		if removed.Method != "rembg" || removed.Device != "cpu" || removed.Frames != 4 {
			t.Errorf("removed: %+v", removed)
		}
	}
}
