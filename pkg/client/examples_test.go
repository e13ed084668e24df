//go:build unix

package client_test

import (
	"bytes"
	"fmt"
	"image/gif"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// TestShell runs examples/api.sh through a proxy that spoils answers. Each clip
// is returned, and charged once.
func TestShell(t *testing.T) {
	t.Parallel()
	const clips = 8
	s := start(t, clips*3)
	p := newTrouble(t, s.url, 3)
	proxy := httptest.NewServer(p)
	t.Cleanup(proxy.Close)
	dir := t.TempDir()
	var g errgroup.Group
	for i := range clips {
		g.Go(func() error { return s.shell(t, proxy.URL, dir, i) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if left := s.balance(t); left != 0 {
		t.Errorf("%d credits are left", left)
	}
	for _, how := range spoilers {
		if p.counts[how] == 0 {
			t.Errorf("nothing was %s", how)
		}
	}

	// A refusal leaves nothing, and gives the reason.
	out := filepath.Join(dir, "refused.gif")
	said, err := s.run(t, s.url, "../../examples/api.sh", filepath.Join(dir, awkward(0)), out)
	if err == nil || !strings.Contains(said, "not accepted (402): ") || !strings.Contains(said, "insufficient_credits") {
		t.Errorf("%v: %s", err, said)
	}
	said, err = s.run(t, s.url, "../../examples/api.sh", filepath.Join(dir, awkward(0)), out, "pad=99")
	if err == nil || !strings.Contains(said, "pad must be between 0 and 50") {
		t.Errorf("%v: %s", err, said)
	}
	said, err = s.run(t, s.url, "../../examples/api.sh", filepath.Join(dir, "none.gif"), out)
	if err == nil || !strings.Contains(said, "none.gif cannot be read") {
		t.Errorf("%v: %s", err, said)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("there is an output")
	}
}

// TestShellCancelled runs examples/api.sh for a job that somebody cancels.
func TestShellCancelled(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/jobs", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(`{"id":"job_1","status":"queued"}`))
	})
	asked := 0
	mux.HandleFunc("GET /api/v1/jobs/job_1", func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 1 {
			w.WriteHeader(http.StatusGone) // otherwise it would ask for ever
		}
		_, _ = w.Write([]byte(`{"id":"job_1","status":"cancelled","error":null}`))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	in := filepath.Join(dir, "clip.gif")
	if err := os.WriteFile(in, []byte("GIF89a"), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := (&service{key: "bgr_1"}).run(t, server.URL, "../../examples/api.sh", in, filepath.Join(dir, "out.gif"))
	if err == nil || !strings.Contains(said, "clip.gif: cancelled: ") {
		t.Errorf("%v: %s", err, said)
	}
}

// awkward is a clip's name that a script may get wrong.
func awkward(i int) string { return fmt.Sprintf(`a "clip" \%d.gif`, i) }

// shell runs examples/api.sh on one clip, and checks the result.
func (s *service) shell(t *testing.T, url, dir string, i int) error {
	in, out := filepath.Join(dir, awkward(i)), filepath.Join(dir, fmt.Sprintf("out %d.gif", i))
	content, err := clip(10, 10+i)
	if err != nil {
		return err
	}
	if err := os.WriteFile(in, content, 0o600); err != nil {
		return err
	}
	if said, err := s.run(t, url, "../../examples/api.sh", in, out, "method=fast", "bgColor=#00ff00"); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	made, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	g, err := gif.DecodeAll(bytes.NewReader(made))
	if err != nil || len(g.Image) != 2 || g.Delay[1] != 10+i {
		return fmt.Errorf("%s is not the clip: %w", out, err)
	}
	return nil
}

// TestProgram builds and runs examples/client.
func TestProgram(t *testing.T) {
	t.Parallel()
	s := start(t, 6)
	dir := t.TempDir()
	program := filepath.Join(dir, "client")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../examples/client").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := clip(10, 10, 10)
	if err != nil {
		t.Fatal(err)
	}
	good, bad := filepath.Join(dir, "good.gif"), filepath.Join(dir, "bad.gif")
	for path, content := range map[string][]byte{good: content, bad: []byte("no clip")} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := s.run(t, s.url, program, good, bad)
	if err == nil || !strings.Contains(said, "good-nobg.apng: 3 frames") || !strings.Contains(said, "bad.gif: job_") || !strings.Contains(said, "has failed: the file is not a readable clip") {
		t.Errorf("%v: %s", err, said)
	}
	if said, err = s.run(t, s.url, program, good); err == nil || !strings.Contains(said, "move it away first") {
		t.Errorf("%v: %s", err, said)
	}
	if said, err = s.run(t, s.url, program, good); err == nil || !strings.Contains(said, "too few credits: the balance is 0") {
		t.Errorf("%v: %s", err, said)
	}
}

// run runs a program that uses the service at url, and returns all its output.
func (s *service) run(t *testing.T, url, program string, args ...string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "BGREMOVE_SERVER="+url, "BGREMOVE_API_KEY="+s.key)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
