package client_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/client"
)

// shelf serves one file like an output, in pieces: each answer ends after a
// number of bytes.
type shelf struct {
	content []byte
	piece   int // 0 is all
	etag    func(content []byte) string
	ranges  []string                                // requested ranges
	before  func(n int, w http.ResponseWriter) bool // called for the nth request; true means that it has answered
}

func sha256Tag(content []byte) string { return fmt.Sprintf(`"%x"`, sha256.Sum256(content)) }

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	if s.before != nil && s.before(len(s.ranges), w) {
		return
	}
	w.Header().Set("Content-Type", "image/gif")
	if s.etag == nil {
		s.etag = sha256Tag
	}
	if tag := s.etag(s.content); tag != "" {
		w.Header().Set("ETag", tag)
	}
	if s.piece > 0 {
		w = &cutter{ResponseWriter: w, left: s.piece}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.content))
}

// cutter lets a number of bytes of an answer through.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	c.ResponseWriter.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// content has no two similar parts.
func content(n int) []byte {
	b := make([]byte, 0, n+8)
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "%07d ", i)
	}
	return b[:n]
}

// alone checks that a folder holds one file with that content, and nothing
// else.
func alone(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d: %v", len(got), len(want), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// TestResume checks that an interrupted download continues after every
// interruption, and requests only the missing part.
func TestResume(t *testing.T) {
	t.Parallel()
	s := &shelf{content: content(1_000_000), piece: 90_000}
	c := quick(t, serve(t, s), "key", func(o *client.Options) { o.Tries = 2 })
	path := filepath.Join(t.TempDir(), "out.gif")
	var done, total int64
	n, err := c.Download(t.Context(), "job_1", path, client.DownloadOptions{Progress: func(d, all int64) { done, total = d, all }})
	if err != nil || n != 1_000_000 || done != n || total != n {
		t.Fatalf("%d bytes, told of %d of %d: %v", n, done, total, err)
	}
	alone(t, path, s.content)
	if len(s.ranges) != 12 || s.ranges[0] != "" || s.ranges[1] != "bytes=90000-" {
		t.Errorf("asked for %q", s.ranges)
	}
	var b bytes.Buffer
	if n, err := c.DownloadTo(t.Context(), "job_1", &b); err != nil || n != 1_000_000 || !bytes.Equal(b.Bytes(), s.content) {
		t.Errorf("%d bytes: %v", n, err)
	}
}

// slowly is a writer that takes its time.
type slowly struct{ io.Writer }

func (w slowly) Write(p []byte) (int, error) {
	time.Sleep(5 * time.Minute)
	return w.Writer.Write(p)
}

// inProcess answers requests without a connection. A body ends with its request.
type inProcess struct{ http.Handler }

func (h inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	answer := w.Result()
	whole := answer.Body
	answer.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
		if err := r.Context().Err(); err != nil {
			return 0, err
		}
		return whole.Read(p[:min(len(p), 1000)])
	}))
	return answer, nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestSlowWriter checks that a download waits for the writer, which is no fault of the
// server.
func TestSlowWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{content: content(3000)}
		c := quick(t, "http://clips.example", "key", func(o *client.Options) { o.HTTPClient = &http.Client{Transport: inProcess{s}} })
		var b bytes.Buffer
		n, err := c.DownloadTo(t.Context(), "job_1", slowly{&b})
		if err != nil || n != 3000 || !bytes.Equal(b.Bytes(), s.content) || len(s.ranges) != 1 {
			t.Errorf("%d bytes by %d requests: %v", n, len(s.ranges), err)
		}
	})
}

// TestChangedOnTheWay checks that a file that has changed is fetched from its
// start, and not mixed.
func TestChangedOnTheWay(t *testing.T) {
	t.Parallel()
	for name, etag := range map[string]func([]byte) string{
		"digest": sha256Tag,
		"weak":   func(b []byte) string { return "W/" + sha256Tag(b) },
		"other":  func(b []byte) string { return fmt.Sprintf(`"%d"`, b[0]) },
		"none":   func([]byte) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{content: content(100_000), piece: 40_000, etag: etag}
			s.before = func(n int, _ http.ResponseWriter) bool {
				if n == 2 {
					s.content, s.piece = content(100_007)[7:], 0
				}
				return false
			}
			path := filepath.Join(t.TempDir(), "out.gif")
			if _, err := quick(t, serve(t, s), "key").Download(t.Context(), "job_1", path, client.DownloadOptions{}); err != nil {
				t.Fatal(err)
			}
			alone(t, path, s.content)
			if _, err := quick(t, serve(t, &shelf{content: s.content, piece: 40_000, etag: etag}), "key", func(o *client.Options) { o.Tries = 2 }).
				DownloadTo(t.Context(), "job_1", &bytes.Buffer{}); (err != nil) != (name == "weak" || name == "none") {
				t.Errorf("to a writer: %v", err)
			}
		})
	}
}

// TestDigest checks that content other than the service's does not get a name.
func TestDigest(t *testing.T) {
	t.Parallel()
	s := &shelf{content: content(1000), etag: func([]byte) string { return sha256Tag([]byte("other")) }}
	c := quick(t, serve(t, s), "key", func(o *client.Options) { o.Tries = 3 })
	dir := t.TempDir()
	if _, err := c.Download(t.Context(), "job_1", filepath.Join(dir, "out.gif"), client.DownloadOptions{}); !errors.Is(err, client.ErrDigest) {
		t.Errorf("got %v", err)
	}
	if len(s.ranges) != 3 {
		t.Errorf("%d tries", len(s.ranges))
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
	if _, err := c.DownloadTo(t.Context(), "job_1", &bytes.Buffer{}); !errors.Is(err, client.ErrDigest) {
		t.Errorf("got %v", err)
	}
}

// TestPlaces checks that nothing is overwritten unasked, and that nothing is
// fetched without a place.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := &shelf{content: content(1000)}
	c := quick(t, serve(t, s), "key")
	dir := t.TempDir()
	path := filepath.Join(dir, "out.gif")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{path: fs.ErrExist, filepath.Join(dir, "absent", "out.gif"): fs.ErrNotExist, dir: nil} {
		_, err := c.Download(t.Context(), "job_1", name, client.DownloadOptions{Overwrite: name == dir})
		if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if len(s.ranges) > 0 {
		t.Errorf("asked for %q", s.ranges)
	}
	alone(t, path, []byte("old"))
	if _, err := c.Download(t.Context(), "job_1", path, client.DownloadOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	alone(t, path, s.content)
}

// TestComesUp checks that a file that appears during the download is kept.
func TestComesUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.gif")
	s := &shelf{content: content(1000), before: func(int, http.ResponseWriter) bool {
		_ = os.WriteFile(path, []byte("new"), 0o600)
		return false
	}}
	if _, err := quick(t, serve(t, s), "key").Download(t.Context(), "job_1", path, client.DownloadOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	alone(t, path, []byte("new"))
}

// TestLink checks that a link stays a link.
func TestLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link, file := filepath.Join(dir, "link.gif"), filepath.Join(t.TempDir(), "file.gif")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, link)); err != nil {
		t.Skip(err)
	}
	s := &shelf{content: content(1000)}
	if _, err := quick(t, serve(t, s), "key").Download(t.Context(), "job_1", link, client.DownloadOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	alone(t, file, s.content)
}

// TestPage checks that a web page instead of the file is not kept.
func TestPage(t *testing.T) {
	t.Parallel()
	url := answering(t, http.StatusOK, "<html>", "Content-Type", "text/html")
	_, err := quick(t, url, "key").DownloadTo(t.Context(), "job_1", &bytes.Buffer{})
	if !errors.As(err, new(*client.UnexpectedError)) {
		t.Errorf("got %v", err)
	}
}

// TestAbsent checks for the reason why a result is missing.
func TestAbsent(t *testing.T) {
	t.Parallel()
	const job = `{"id":"job_1","status":%q,"error":%s,"outputFormat":"gif","metadata":{}}`
	for name, test := range map[string]struct {
		status int
		body   string
		want   error
	}{
		"unknown": {404, `{"error":"not_found"}`, client.ErrNotFound},
		"queued":  {200, fmt.Sprintf(job, "queued", "null"), client.ErrNotReady},
		"works":   {200, fmt.Sprintf(job, "processing", "null"), client.ErrNotReady},
		"expired": {200, fmt.Sprintf(job, "done", "null"), client.ErrExpired},
		"failed":  {200, fmt.Sprintf(job, "failed", `"timed_out"`), &client.JobFailedError{ID: "job_1", Code: "timed_out"}},
		"revoked": {401, `{"error":"unauthorized"}`, client.ErrUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mux := http.NewServeMux()
			mux.HandleFunc("GET /api/v1/jobs/job_1", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			})
			mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "not_found") })
			_, err := quick(t, serve(t, mux), "key").DownloadTo(t.Context(), "job_1", &bytes.Buffer{})
			if !errors.Is(err, test.want) && !cmp.Equal(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}
