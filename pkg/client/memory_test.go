package client_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/pkg/client"
)

// large is the size of the upload and of the download, in bytes.
const large = 200e6

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// raced is whether the race detector is running.
var raced bool

// TestMemory measures a process that sends 200 MB and receives 200 MB.
func TestMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || raced {
		t.Skip("the peak is read from /proc, and is another's under the race detector")
	}
	digest := sha256.New()
	if _, err := io.CopyN(digest, zeros{}, large); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/jobs", func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n < large {
			t.Errorf("%d bytes came: %v", n, err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, `{"id":"job_1","status":"queued","creditsRemaining":1,"links":{"self":"","download":""}}`)
	})
	mux.HandleFunc("GET /api/v1/jobs/job_1/download", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/gif")
		w.Header().Set("Content-Length", fmt.Sprint(int64(large)))
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, digest.Sum(nil)))
		_, _ = io.CopyN(w, zeros{}, large)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "large.gif"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(large); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "MEMORY_OF="+s.URL, "CLIPS="+dir)
	out, err := cmd.CombinedOutput()
	var peak int
	if _, scan := fmt.Sscanf(string(out), "peak %d kB", &peak); err != nil || scan != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("200 MB up and down: peak %.1f MB", float64(peak)*1.024e-3)
	if peak > 60_000_000/1024 {
		t.Errorf("the peak is %d kB, over 60 MB", peak)
	}
}

// transferLarge is the process that TestMemory measures.
func transferLarge() {
	ctx, dir := context.Background(), os.Getenv("CLIPS")
	c, err := client.New(os.Getenv("MEMORY_OF"), "key", client.Options{})
	if err == nil {
		_, err = c.Submit(ctx, client.File{Path: filepath.Join(dir, "large.gif")}, client.JobOptions{})
	}
	if err == nil {
		_, err = c.Download(ctx, "job_1", filepath.Join(dir, "large-nobg.gif"), client.DownloadOptions{})
	}
	status, readErr := os.ReadFile("/proc/self/status")
	if err != nil || readErr != nil {
		fmt.Println(err, readErr)
		os.Exit(1)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Println("peak", strings.Fields(after)[0], "kB")
}
