//go:build unix

package clientcmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// echo is a service that returns the submitted files as results. It holds
// certain answers until let is called.
type echo struct {
	t       *testing.T
	held    func(path string) bool
	reached chan struct{} // a held answer was requested

	mu      sync.Mutex
	open    bool
	jobs    []echoed
	batches [][]int
}

type echoed struct {
	name    string
	content []byte
}

func newEcho(t *testing.T, held func(path string) bool) (*echo, string) {
	e := &echo{t: t, held: held, reached: make(chan struct{}, 100)}
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	return e, s.URL
}

// let releases the held answers.
func (e *echo) let() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open = true
}

func (e *echo) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/api/v1/")
	e.mu.Lock()
	held := !e.open && e.held(path)
	e.mu.Unlock()
	if held {
		e.reached <- struct{}{}
	}
	if held && strings.HasSuffix(path, "/download") {
		<-r.Context().Done()
		return
	}
	var n int
	switch {
	case r.Method == http.MethodPost:
		e.submit(w, r, path == "batches")
	case strings.HasSuffix(path, "/download"):
		_, _ = fmt.Sscanf(path, "jobs/job_%d", &n)
		w.Header().Set("Content-Type", "image/gif")
		_, _ = w.Write(e.jobs[n].content)
	case strings.HasPrefix(path, "jobs/"):
		_, _ = fmt.Sscanf(path, "jobs/job_%d", &n)
		e.answer(w, http.StatusOK, e.job(n, held))
	default:
		_, _ = fmt.Sscanf(path, "batches/batch_%d", &n)
		e.answer(w, http.StatusOK, e.batch(n, held))
	}
}

func (e *echo) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		e.t.Error(err)
	}
}

func (e *echo) submit(w http.ResponseWriter, r *http.Request, batch bool) {
	form, err := r.MultipartReader()
	if err != nil {
		e.t.Error(err)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var made []int
	var entries []any
	for part, err := form.NextPart(); err == nil; part, err = form.NextPart() {
		if part.FileName() == "" {
			continue
		}
		content, err := io.ReadAll(part)
		if err != nil {
			e.t.Error(err)
		}
		entries = append(entries, map[string]any{"id": fmt.Sprintf("job_%d", len(e.jobs)), "filename": part.FileName()})
		made = append(made, len(e.jobs))
		e.jobs = append(e.jobs, echoed{part.FileName(), content})
	}
	if !batch {
		e.answer(w, http.StatusAccepted, map[string]any{"id": fmt.Sprintf("job_%d", made[0]), "status": "queued", "creditsRemaining": 1})
		return
	}
	e.batches = append(e.batches, made)
	e.answer(w, http.StatusAccepted, map[string]any{"id": fmt.Sprintf("batch_%d", len(e.batches)-1), "jobs": entries, "creditsRemaining": 1})
}

func (e *echo) job(n int, held bool) map[string]any {
	status := "done"
	if held {
		status = "processing"
	}
	return map[string]any{"id": fmt.Sprintf("job_%d", n), "status": status, "outputFormat": "gif", "metadata": map[string]any{"originalName": e.jobs[n].name}}
}

func (e *echo) batch(n int, held bool) map[string]any {
	status := "done"
	if held {
		status = "processing"
	}
	var jobs []any
	for _, job := range e.batches[n] {
		jobs = append(jobs, e.job(job, held))
	}
	return map[string]any{"id": fmt.Sprintf("batch_%d", n), "status": status, "jobs": jobs}
}

// The commands that an interrupted command prints give the same result as the
// command without an interruption.
func TestClientGoesOn(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 45 {
		many = append(many, fmt.Sprintf("%02d.gif", i))
	}
	waiting := func(path string) bool { return strings.HasPrefix(path, "batches/") || path == "jobs/job_0" }
	const odd = `the cut's $HOME; "*"`
	for name, test := range map[string]struct {
		files   []string
		args    string // words between |
		held    func(path string) bool
		there   string // an output that already exists
		command string // one of the expected commands; URL is the service's
	}{
		"--server": {[]string{"a.gif", "b.gif"}, "batch|a.gif|b.gif|--wait|--server|URL", waiting, "",
			"bgremove client wait batch_0 --server URL; bgremove client download batch_0 --out . --server URL\n"},
		"one":         {[]string{"a.gif"}, "submit|a.gif|--wait", waiting, "", "bgremove client wait job_0 && bgremove client download job_0 -o a-nobg.gif"},
		"one, placed": {[]string{"a.gif"}, "submit|a.gif|--wait|-o|" + odd + ".gif", waiting, "", ""},
		"one, downloading": {[]string{"a.gif"}, "submit|a.gif|--wait|--force", func(path string) bool { return strings.HasSuffix(path, "/download") }, "a-nobg.gif",
			"hint: later: bgremove client download job_0 -o a-nobg.gif --force\n"},
		"a batch":  {[]string{"a.gif", "b.gif"}, "batch|a.gif|b.gif|--wait|--out|cut/", waiting, "", "bgremove client wait batch_0; bgremove client download batch_0 --out cut/\n"},
		"batches":  {many, "batch|" + strings.Join(many, "|") + "|--wait|--out|" + odd, waiting, "", `bgremove client wait batch_2; bgremove client download batch_2 --out 'the cut'\''s $HOME; "*"'` + "\n"},
		"no --out": {many, "batch|" + strings.Join(many, "|") + "|--wait", waiting, "", "bgremove client download batch_1 --out .;"},
		"one stem in two batches": {append([]string{"00.mp4"}, many...), "batch|" + strings.Join(many, "|") + "|00.mp4|--wait|--out|cut", waiting, "",
			"bgremove client wait batch_2; bgremove client download job_40 -o cut/40-nobg.gif; "},
		"several folders": {[]string{"x/a.gif", "y/a.gif", "y/b.gif"}, "batch|x/a.gif|y/a.gif|y/b.gif|--wait", waiting, "", "bgremove client download job_1 -o y/a-nobg.gif; "},
		"--force":         {[]string{"a.gif", "b.gif"}, "batch|a.gif|b.gif|--wait|--out|cut|--force", waiting, "cut/b-nobg.gif", "--out cut --force\n"},
		"downloading": {many, "batch|" + strings.Join(many, "|") + "|--wait|--out|cut", func(path string) bool { return path == "jobs/job_21/download" }, "",
			"hint: later: bgremove client download batch_1 --out cut; bgremove client wait batch_2; "},
		"several folders, downloading": {[]string{"x/a.gif", "y/a.gif", "y/b.gif"}, "batch|x/a.gif|y/a.gif|y/b.gif|--wait", func(path string) bool { return path == "jobs/job_1/download" }, "",
			"hint: later: bgremove client download job_1 -o y/a-nobg.gif; bgremove client download job_2 -o y/b-nobg.gif\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := func() string {
				dir := t.TempDir()
				for _, file := range append(test.files, test.there) {
					if file == "" {
						continue
					}
					if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, file), []byte("GIF of "+file), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				return dir
			}
			command := func(url, dir, name string, args ...string) (*exec.Cmd, *strings.Builder) {
				for i, arg := range args {
					args[i] = strings.ReplaceAll(arg, "URL", url)
				}
				cmd := exec.CommandContext(t.Context(), name, args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "BGREMOVE_API_KEY=bgr_1")
				if !strings.Contains(test.args, "URL") {
					cmd.Env = append(cmd.Env, "BGREMOVE_SERVER="+url)
				}
				said := new(strings.Builder)
				cmd.Stdout, cmd.Stderr = said, said
				return cmd, said
			}
			args := func() []string {
				args := append([]string{"client"}, strings.Split(test.args, "|")...)
				if args[1] == "batch" {
					args = append(args, "--yes")
				}
				return args
			}
			whole := folder()
			_, url := newEcho(t, func(string) bool { return false })
			if cmd, said := command(url, whole, "bgremove", args()...); cmd.Run() != nil {
				t.Fatal(said)
			}

			dir := folder()
			e, url := newEcho(t, test.held)
			cmd, said := command(url, dir, "bgremove", args()...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-e.reached
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			_, hint, _ := strings.Cut(said.String(), "hint: ")
			if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(said.String(), strings.ReplaceAll(test.command, "URL", url)) {
				t.Fatalf("exit code %d, said %q, want %q", code, said, test.command)
			}
			e.let()
			_, commands, _ := strings.Cut(hint, ": ")
			paste, said := command(url, dir, "sh", "-ec", commands)
			if err := paste.Run(); err != nil {
				t.Fatalf("%s: %v: %s", commands, err, said)
			}
			if diff := cmp.Diff(contents(t, whole), contents(t, dir)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", commands, diff)
			}
		})
	}
}

// A result that finds its place taken after the payment can still be fetched. A
// second run of the command would be paid again.
func TestClientTaken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"submit": {[]string{"submit", "a.gif"}, 1,
			"bgremove: a-nobg.gif: the output already exists\nhint: --force overwrites it; later: bgremove client download job_0 -o a-nobg.gif\n"},
		"batch": {[]string{"batch", "a.gif", "b.gif"}, 3,
			"bgremove: 1 of 2 inputs failed\nhint: later: bgremove client download job_0 -o a-nobg.gif\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, file := range []string{"a.gif", "b.gif"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte("GIF"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e, url := newEcho(t, func(path string) bool { return path == "jobs/job_0" || path == "batches/batch_0" })
			cmd := exec.CommandContext(t.Context(), "bgremove", append([]string{"client"}, append(test.args, "--wait")...)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "BGREMOVE_API_KEY=bgr_1", "BGREMOVE_SERVER="+url)
			said := new(strings.Builder)
			cmd.Stderr = said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-e.reached
			if err := os.WriteFile(filepath.Join(dir, "a-nobg.gif"), []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			e.let()
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.HasSuffix(said.String(), test.want) {
				t.Errorf("exit code %d, said %q", code, said)
			}
			if got := contents(t, dir)["a-nobg.gif"]; got != "mine" {
				t.Errorf("overwritten: %q", got)
			}
		})
	}
}

// A long outage of the service during the wait for results is no reason to
// submit again.
func TestClientAway(t *testing.T) {
	t.Parallel()
	e, _ := newEcho(t, func(string) bool { return false })
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			e.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Retry-After", "3600") // longer than the client waits
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.gif"), []byte("GIF"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bgremove", "client", "submit", "a.gif", "--wait")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "BGREMOVE_API_KEY=bgr_1", "BGREMOVE_SERVER="+s.URL)
	said, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.HasSuffix(string(said),
		"(503), it asks to wait 1h0m0s\nhint: it goes on without you: bgremove client wait job_0 && bgremove client download job_0 -o a-nobg.gif\n") {
		t.Errorf("exit code %d, said %q", code, said)
	}
}

// contents are the files in a folder and below.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// If a later batch is refused, the printed advice never leads to a second
// payment for the first.
func TestClientRefusedLater(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status     int
		answer     string
		code       int
		want, hint string
	}{
		"other files": {http.StatusConflict, `{"error":"idempotency_conflict"}`, 1, "was used for another submission",
			"hint: batch_0 was submitted: submit the files that are not in it alone, with another --idempotency-key\n"},
		"an option": {http.StatusBadRequest, `{"error":"bad_request","field":"pad","message":"pad no"}`, 2, "bgremove: pad no",
			"hint: batch_0 was submitted; the same command with --idempotency-key k goes on, and what was taken is not charged again\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &echo{t: t, held: func(string) bool { return false }}
			posts := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					posts++
				}
				if posts < 2 {
					e.ServeHTTP(w, r)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.answer)
			}))
			t.Cleanup(s.Close)
			dir := t.TempDir()
			for i := range 25 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.gif", i)), []byte("GIF"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "bgremove", "client", "batch", ".", "--yes", "--idempotency-key", "k")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "BGREMOVE_API_KEY=bgr_1", "BGREMOVE_SERVER="+s.URL)
			said, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.Contains(string(said), test.want) || !strings.Contains(string(said), test.hint) {
				t.Errorf("exit code %d, said %s", code, said)
			}
		})
	}
}
