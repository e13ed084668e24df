//go:build unix

package clientcmd_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClientInterrupt checks that Ctrl-C prints how to continue, with the
// submitted jobs and with a submission of unknown outcome.
func TestClientInterrupt(t *testing.T) {
	t.Parallel()
	const (
		made   = `{"id":"job_7","status":"queued","creditsRemaining":1,"links":{"self":"","download":""}}`
		queued = `{"id":"job_7","status":"queued","outputFormat":"gif","metadata":{"originalName":"clip.gif"},"error":null}`
	)
	for name, test := range map[string]struct {
		at   string // the request that it interrupts
		args []string
		want string // on standard error
	}{
		"waiting":    {"GET", []string{"submit", "clip.gif", "--wait"}, `^bgremove: interrupted\nhint: it goes on without you: bgremove client wait job_7 && bgremove client download job_7 -o clip-nobg.gif\n$`},
		"wait":       {"GET", []string{"wait", "job_7"}, `^bgremove: interrupted\nhint: it goes on without you: bgremove client wait job_7\n$`},
		"submitting": {"POST", []string{"submit", "clip.gif"}, `^bgremove: interrupted; the submission may have been taken\nhint: the same command with --idempotency-key \w+ finds out`},
		"asking":     {"GET", []string{"status", "job_7"}, `^bgremove: interrupted; nothing was written\n$`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached, gone := make(chan struct{}, 100), make(chan struct{})
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if r.Method == test.at {
					reached <- struct{}{}
				}
				if r.Method == test.at && (name == "submitting" || name == "asking") {
					<-gone // there is no answer
				}
				w.Header().Set("Content-Type", "application/json")
				if r.Method == http.MethodPost {
					w.WriteHeader(http.StatusAccepted)
					_, _ = io.WriteString(w, made)
					return
				}
				_, _ = io.WriteString(w, queued)
			}))
			defer s.Close()
			defer close(gone)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "clip.gif"), []byte("GIF89a"), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "bgremove", append([]string{"client"}, test.args...)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "BGREMOVE_SERVER="+s.URL, "BGREMOVE_API_KEY=bgr_1")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 130 || !regexp.MustCompile(test.want).MatchString(stderr.String()) {
				t.Errorf("exit code %d, stderr %q", code, &stderr)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestCreditsLeft checks that a balance is told unless credits are unlimited.
func TestCreditsLeft(t *testing.T) {
	t.Parallel()
	for _, unlimited := range []bool{false, true} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			switch {
			case r.Method == http.MethodGet:
				_, _ = fmt.Fprintf(w, `{"credits":0,"unlimited":%t}`, unlimited)
			case strings.HasSuffix(r.URL.Path, "/batches"):
				w.WriteHeader(http.StatusAccepted)
				_, _ = io.WriteString(w, `{"id":"batch_7","jobs":[{"id":"job_7"}],"creditsRemaining":0}`)
			default:
				w.WriteHeader(http.StatusAccepted)
				_, _ = io.WriteString(w, `{"id":"job_7","status":"queued","creditsRemaining":0,"links":{"self":"","download":""}}`)
			}
		}))
		t.Cleanup(s.Close)
		file := filepath.Join(t.TempDir(), "clip.gif")
		if err := os.WriteFile(file, []byte("GIF89a"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"submit", "batch"} {
			cmd := exec.CommandContext(t.Context(), "bgremove", "client", command, file)
			cmd.Env = append(os.Environ(), "BGREMOVE_SERVER="+s.URL, "BGREMOVE_API_KEY=bgr_1")
			out, err := cmd.CombinedOutput()
			if told := strings.Contains(string(out), "submitted, credits left: 0"); err != nil || told == unlimited {
				t.Errorf("%s, unlimited %t: %v, %s", command, unlimited, err, out)
			}
		}
	}
}

// TestClientRetry checks that delays are explained, but not with --quiet.
func TestClientRetry(t *testing.T) {
	t.Parallel()
	for _, quiet := range []bool{false, true} {
		var asked atomic.Int32
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if asked.Add(1) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = io.WriteString(w, `{"error":"unavailable"}`)
				return
			}
			_, _ = io.WriteString(w, `{"id":"job_7","status":"done","outputFormat":"gif","metadata":{"originalName":"clip.gif"},"error":null}`)
		}))
		t.Cleanup(s.Close)
		cmd := exec.CommandContext(t.Context(), "bgremove", "client", "wait", "job_7", fmt.Sprintf("--quiet=%v", quiet))
		cmd.Env = append(os.Environ(), "BGREMOVE_SERVER="+s.URL, "BGREMOVE_API_KEY=bgr_1")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		err := cmd.Run()
		if told := strings.Contains(stderr.String(), "the service is not available (503); trying again in"); err != nil || told == quiet {
			t.Errorf("quiet %v: %v, %q", quiet, err, &stderr)
		}
	}
}

// TestCancelBatch checks that a job that ends while others of its batch are cancelled
// keeps its files.
func TestCancelBatch(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	ended, removed := map[string]bool{}, []string(nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		job := func(id string) string {
			status := "processing"
			if ended[id] {
				status = "done"
			}
			return fmt.Sprintf(`{"id":%q,"status":%q,"outputFormat":"gif","metadata":{"originalName":"clip.gif"},"error":null}`, id, status)
		}
		id := path.Base(r.URL.Path)
		if r.Method == http.MethodDelete {
			removed = append(removed, id)
			ended["job_2"] = true // meanwhile
		}
		if id == "batch_7" {
			_, _ = fmt.Fprintf(w, `{"id":"batch_7","status":"processing","jobs":[%s,%s,%s]}`, job("job_1"), job("job_2"), job("job_3"))
			return
		}
		_, _ = io.WriteString(w, job(id))
	}))
	t.Cleanup(s.Close)
	cmd := exec.CommandContext(t.Context(), "bgremove", "client", "cancel", "batch_7")
	cmd.Env = append(os.Environ(), "BGREMOVE_SERVER="+s.URL, "BGREMOVE_API_KEY=bgr_1")
	out, err := cmd.CombinedOutput()
	if diff := cmp.Diff([]string{"job_1", "job_3"}, removed); diff != "" || err != nil || !strings.Contains(string(out), "job_2 has ended: done") {
		t.Errorf("%v, %s, deleted (-want +got):\n%s", err, out, diff)
	}
}

// TestClientNames checks that a service's name and format of a file cannot lead
// out of the folder.
func TestClientNames(t *testing.T) {
	t.Parallel()
	for original, want := range map[string]string{
		"clip.gif": "clip-nobg.gif", "../../etc/passwd.gif": "passwd-nobg.gif", `C:\clips\a.mov`: "a-nobg.gif", "": "output-nobg.gif", "..": "output-nobg.gif",
		"a/": "output-nobg.gif", "\x1b[2J.gif": "[2J-nobg.gif",
	} {
		t.Run(original, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/download") {
					w.Header().Set("Content-Type", "image/gif")
					_, _ = io.WriteString(w, "GIF89a")
					return
				}
				w.Header().Set("Content-Type", "application/json")
				job := fmt.Sprintf(`{"id":"job_7","status":"done","outputFormat":"gif/../../../evil","metadata":{"originalName":%s},"error":null}`, strings.ReplaceAll(strconv.Quote(original), `\x1b`, `\u001b`))
				if strings.Contains(r.URL.Path, "/batches/") {
					job = `{"id":"batch_7","status":"done","jobs":[` + job + `]}`
				}
				_, _ = io.WriteString(w, job)
			}))
			defer s.Close()
			for _, id := range []string{"job_7", "batch_7"} {
				dir := t.TempDir()
				cmd := exec.CommandContext(t.Context(), "bgremove", "client", "download", id, "--out", filepath.Join(dir, "a", "b", "c"))
				cmd.Env = append(os.Environ(), "BGREMOVE_SERVER="+s.URL, "BGREMOVE_API_KEY=bgr_1")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				files, err := filepath.Glob(filepath.Join(dir, "a", "b", "c", "*"))
				if err != nil || len(files) != 1 || filepath.Base(files[0]) != want {
					t.Errorf("%s: there are %q, %v", id, files, err)
				}
			}
		})
	}
}
