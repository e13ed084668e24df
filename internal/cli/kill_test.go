package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/bucket/buckettest"
)

// gate is a way to a bucket that can hold a request, and counts how often an object is stored.
type gate struct {
	method, key  string // of the request that it holds, once
	held, killed chan struct{}
	proxy        *httputil.ReverseProxy
	address      string // of the bucket's folder %s
	once         sync.Once

	mu     sync.Mutex
	stored map[string]int
}

// openGate opens a way to a bucket. It closes held when it holds the request, of which it
// lets half through when the test closes killed.
func openGate(t *testing.T, s *buckettest.Server, method, key string) *gate {
	t.Helper()
	before, server, _ := strings.Cut(s.Address("%s"), "&endpoint=")
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{method: method, key: key, held: make(chan struct{}), killed: make(chan struct{}), stored: map[string]int{}}
	g.proxy = httputil.NewSingleHostReverseProxy(target)
	g.proxy.ErrorLog = log.New(io.Discard, "", 0)
	g.proxy.ModifyResponse = g.count
	way := httptest.NewServer(g)
	t.Cleanup(way.Close)
	g.address = before + "&endpoint=" + way.URL
	return g
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == g.method && objectOf(r) == g.key {
		g.once.Do(func() {
			half := make([]byte, r.ContentLength/2)
			_, _ = io.ReadFull(r.Body, half)
			close(g.held)
			<-g.killed
			r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(half), broken{}))
		})
	}
	g.proxy.ServeHTTP(w, r)
}

func (g *gate) count(answer *http.Response) error {
	if answer.Request.Method == http.MethodPut && answer.StatusCode == http.StatusOK {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.stored[objectOf(answer.Request)]++
	}
	return nil
}

func objectOf(r *http.Request) string {
	return strings.TrimPrefix(r.URL.Path, "/"+buckettest.Name+"/")
}

// broken ends like a connection of a process that is killed.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// batch is a run between folders of the bucket, whose copies lie in tmp.
func (g *gate) batch(t *testing.T, tmp string) *exec.Cmd {
	in, out, done := strings.Replace(g.address, "%s", "in/", 1), strings.Replace(g.address, "%s", "out/", 1), strings.Replace(g.address, "%s", "done/", 1)
	run := exec.CommandContext(t.Context(), "bgremove", "batch", in, "--out", out, "--manifest", done, "--recursive", "--method", "fast", "--jobs", "1", "-q")
	run.Env = append(os.Environ(), "TMPDIR="+tmp)
	return run
}

// killed are the names of a batch's inputs. All have the same content.
var killed = []string{"a", "b", "day/c", "day/d", "day/e"}

// A batch between buckets is killed at a bad moment, in the middle of day/d. The same command
// goes on by the manifest: each output is stored once, and whole.
func TestBatchKilled(t *testing.T) {
	t.Parallel()
	clip, err := os.ReadFile("../../testdata/pygif/animation.gif")
	if err != nil {
		t.Fatal(err)
	}
	for moment, c := range map[string]struct{ method, key, status string }{
		"input read":    {http.MethodGet, "in/day/d.gif", "done"},
		"output stored": {http.MethodPut, "out/day/d-nobg.gif", "done"},
		"record stored": {http.MethodPut, "done/day/d-nobg.gif.json", "skipped"},
	} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			s, tmp := buckettest.New(t), t.TempDir()
			for _, name := range killed {
				if err := s.Put("in/"+name+".gif", string(clip)); err != nil {
					t.Fatal(err)
				}
			}
			g := openGate(t, s, c.method, c.key)
			kill(t, g, g.batch(t, tmp))
			if left, err := filepath.Glob(filepath.Join(tmp, "*")); len(left) == 0 || err != nil {
				t.Errorf("the killed run had no copies: %v", err)
			}
			if out, err := g.batch(t, tmp).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkResumed(t, g, s, map[string]string{"a": "done", "b": "done", "day/c": "done", "day/d": c.status, "day/e": "done"})
			if left, err := filepath.Glob(filepath.Join(tmp, "*")); len(left) > 0 || err != nil {
				t.Errorf("copies are left: %v, %v", left, err)
			}
		})
	}
}

// kill starts a run, and kills it when the gate holds its request.
func kill(t *testing.T, g *gate, run *exec.Cmd) {
	t.Helper()
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	var failure error
	ended := make(chan struct{})
	go func() {
		failure = run.Wait()
		close(ended)
	}()
	select {
	case <-g.held:
	case <-ended:
		t.Fatalf("the run has ended before it could be killed: %v", failure)
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	close(g.killed)
}

// checkResumed checks the records, and that each has a whole output. Nothing else is there.
func checkResumed(t *testing.T, g *gate, s *buckettest.Server, want map[string]string) {
	t.Helper()
	all, err := s.Objects()
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, status := range want {
		output, done := "out/"+name+"-nobg.gif", "done/"+name+"-nobg.gif.json"
		var record struct{ Status string }
		if err := json.Unmarshal([]byte(all[done]), &record); err != nil || record.Status != status {
			t.Errorf("%s: recorded as %q, not %s: %v", name, record.Status, status, err)
		}
		if all[output] == "" || all[output] != all["out/a-nobg.gif"] {
			t.Errorf("%s is not whole: %d bytes", output, len(all[output]))
		}
		if g.stored[output] != 1 || g.stored[done] != 1 {
			t.Errorf("%s: the output is stored %d times, and its record %d", name, g.stored[output], g.stored[done])
		}
	}
	if n := 3 * len(want); len(all) != n {
		keys, err := s.Keys()
		t.Errorf("%d objects, not %d: %v, %v", len(all), n, keys, err)
	}
}
