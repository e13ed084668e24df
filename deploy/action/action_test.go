//go:build unix

// Package action_test checks the scripts of the GitHub Action, action.yml.
package action_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const archive = "bgremove_1.2.3_linux_amd64.tar.gz"

// script is the program of the tests' release: it prints its arguments, one a line.
const script = "#!/bin/sh\nprintf '%s\\n' \"$@\"\n"

// TestLatest looks for the latest release where there is none.
func TestLatest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer  http.Handler
		message string
	}{
		"none":   {http.RedirectHandler("/", http.StatusFound), "has no release yet"},
		"broken": {http.NotFoundHandler(), "cannot be read: run the job again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			mux.Handle("/latest", test.answer)
			mux.HandleFunc("/{$}", func(http.ResponseWriter, *http.Request) {})
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			out, err := run(t, []string{"BGREMOVE_RELEASES=" + server.URL}, "install.sh", "latest", t.TempDir())
			if err == nil || !strings.Contains(out, test.message) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// releases serves one release, 1.2.3, as GitHub does.
func releases(t *testing.T, content []byte, checksums string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/latest", http.RedirectHandler("/tag/v1.2.3", http.StatusFound))
	mux.HandleFunc("/tag/v1.2.3", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/download/v1.2.3/"+archive, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) })
	mux.HandleFunc("/download/v1.2.3/checksums.txt", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(checksums)) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func packed(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	if err := files.WriteHeader(&tar.Header{Name: "bgremove", Mode: 0o755, Size: int64(len(script))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(script)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// run runs a script of the action as a runner on Linux does. The runner has ffmpeg.
func run(t *testing.T, env []string, name string, args ...string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "ffmpeg"), []byte(script), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{name}, args...)...)
	cmd.Env = append(os.Environ(), append(env, "PATH="+bin+":"+os.Getenv("PATH"), "RUNNER_OS=Linux", "RUNNER_ARCH=X64")...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestInstall(t *testing.T) {
	t.Parallel()
	content := packed(t)
	right := fmt.Sprintf("%x  other.tar.gz\n%x  %s\n", sha256.Sum256(nil), sha256.Sum256(content), archive)
	wrong := fmt.Sprintf("%x  %s\n", sha256.Sum256(nil), archive)
	tests := map[string]struct {
		version, checksums string
		message            string // empty: installed
	}{
		"version":        {"1.2.3", right, ""},
		"tag":            {"v1.2.3", right, ""},
		"latest":         {"latest", right, ""},
		"no release":     {"9.9.9", right, "has no bgremove_9.9.9_linux_amd64.tar.gz of version 9.9.9"},
		"wrong checksum": {"1.2.3", wrong, "is not the file of checksums.txt"},
		"no checksum":    {"1.2.3", strings.SplitAfter(right, "\n")[0], "is not the file of checksums.txt"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "with space")
			out, err := run(t, []string{"BGREMOVE_RELEASES=" + releases(t, content, test.checksums)}, "install.sh", test.version, dir)
			installed, missing := os.ReadFile(filepath.Join(dir, "bgremove"))
			if test.message == "" {
				if err != nil || missing != nil || string(installed) != script {
					t.Errorf("%v, %v: %s", err, missing, out)
				}
				return
			}
			if err == nil || missing == nil || !strings.Contains(out, test.message) {
				t.Errorf("%v, %q: %s", err, installed, out)
			}
		})
	}
}

func TestBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, output := filepath.Join(dir, "bgremove"), filepath.Join(dir, "output")
	if err := os.WriteFile(program, []byte(script+"exit 3\n"), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	out, err := run(t, []string{"PATHS=my clips\r\n-odd.gif\n\n", "OUT=the cut", "FLAGS=--recursive\n--format=webp\n", "RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + output}, "batch.sh", program)
	want := "batch\n--out\nthe cut\n--json\n--recursive\n--format=webp\n--\nmy clips\n-odd.gif\n"
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("%v, want exit code 3", err)
	}
	report := filepath.Join(dir, "bgremove-report.jsonl")
	for path, want := range map[string]string{report: want, output: "report=" + report + "\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}
