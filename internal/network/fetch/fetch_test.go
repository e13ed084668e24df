package fetch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/network/fetch"
)

var content = bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// server answers with f and records the Range header of each request.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	ranges []string
}

func serve(t *testing.T, f http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		s.mu.Unlock()
		f(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// whole serves the content with ranges, as file servers do. A client must ask
// for uncompressed content, because ranges of compressed content would differ.
func whole(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Accept-Encoding") != "identity" {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	w.Header().Set("ETag", `"one"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// cut announces the whole content and sends n bytes.
func cut(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:n])
	}
}

func wanted(url string) fetch.File {
	return fetch.File{From: url, Size: int64(len(content)), SHA256: digest(content)}
}

func checkWhole(t *testing.T, dest string) {
	t.Helper()
	got, err := os.ReadFile(dest)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v; want the content", len(got), err)
	}
	checkOnly(t, filepath.Dir(dest), filepath.Base(dest))
}

// checkOnly checks that a folder holds just these files.
func checkOnly(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the folder holds (-want +got):\n%s", diff)
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	s := serve(t, whole)
	folder := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(folder, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"http": s.URL, "path": folder, "file URL": "file://" + folder} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int64{0, int64(len(content))} {
				var done, total int64
				c := fetch.Client{Progress: func(d, t int64) { done, total = d, t }}
				dest := filepath.Join(t.TempDir(), "made", "file")
				if err := c.Get(t.Context(), fetch.File{From: from, Size: size, SHA256: digest(content)}, dest); err != nil {
					t.Fatal(err)
				}
				checkWhole(t, dest)
				if done != int64(len(content)) || total != done {
					t.Errorf("progress ended at %d of %d", done, total)
				}
			}
		})
	}
}

// One Get completes a transfer that is interrupted repeatedly, if the server
// supports ranges.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	const step = 300 << 10
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var at int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &at)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(content)-1, len(content)))
		w.Header().Set("Content-Length", fmt.Sprint(len(content)-at))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content[at:min(at+step, len(content))])
	})
	dest := filepath.Join(t.TempDir(), "file")
	var c fetch.Client
	if err := c.Get(t.Context(), wanted(s.URL), dest); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, dest)
	if len(s.ranges) != 4 {
		t.Errorf("ranges asked for: %q", s.ranges)
	}
}

// A later Get also continues an interrupted transfer.
func TestResume(t *testing.T) {
	t.Parallel()
	const half = 512 << 10
	var requests atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) <= 2 {
			cut(half)(w, r)
			return
		}
		whole(w, r)
	})
	dest := filepath.Join(t.TempDir(), "file")
	var c fetch.Client
	err := c.Get(t.Context(), wanted(s.URL), dest)
	var short *fetch.TruncatedError
	if !errors.As(err, &short) || short.Got != half || short.Want != int64(len(content)) {
		t.Fatalf("%v, want a TruncatedError at %d", err, half)
	}
	checkOnly(t, filepath.Dir(dest), "file.part", "file.part.etag")
	if err := c.Get(t.Context(), wanted(s.URL), dest); err != nil {
		t.Fatal(err)
	}
	checkWhole(t, dest)
	rest := fmt.Sprintf("bytes=%d-", half)
	if diff := cmp.Diff([]string{"", rest, rest}, s.ranges); diff != "" {
		t.Errorf("ranges asked for (-want +got):\n%s", diff)
	}
}

// The result is right for all combinations of an old part and a server's answer
// to a Range.
func TestResumeAnyway(t *testing.T) {
	t.Parallel()
	broken := bytes.Clone(content[:1000])
	broken[500] ^= 1
	unaware := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }
	tests := map[string]struct {
		part     []byte
		etag     string
		handler  http.HandlerFunc
		requests int
	}{
		"server without ranges":  {content[:1000], "", unaware, 1},
		"corrupted part":         {broken, "", whole, 2},
		"part of an old version": {broken, `"zero"`, whole, 1},
		"part longer than it":    {append(bytes.Clone(content), 'x'), "", whole, 1},
		"part that is complete":  {content, "", whole, 0},
		"corrupted and complete": {bytes.Repeat([]byte("x"), len(content)), "", whole, 1},
		"range answered wrongly": {content[:1000], "", func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", "bytes 0-9/10")
				w.WriteHeader(http.StatusPartialContent)
				return
			}
			whole(w, r)
		}, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.handler)
			dest := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(dest+".part", test.part, 0o600); err != nil {
				t.Fatal(err)
			}
			if test.etag != "" {
				if err := os.WriteFile(dest+".part.etag", []byte(test.etag), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var c fetch.Client
			if err := c.Get(t.Context(), wanted(s.URL), dest); err != nil {
				t.Fatal(err)
			}
			checkWhole(t, dest)
			if len(s.ranges) != test.requests {
				t.Errorf("%d requests (%q), want %d", len(s.ranges), s.ranges, test.requests)
			}
		})
	}
	t.Run("part too long for an unknown size", func(t *testing.T) {
		t.Parallel()
		s := serve(t, whole)
		dest := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(dest+".part", append(bytes.Clone(content), 'x'), 0o600); err != nil {
			t.Fatal(err)
		}
		var c fetch.Client
		if err := c.Get(t.Context(), fetch.File{From: s.URL, SHA256: digest(content)}, dest); err != nil {
			t.Fatal(err)
		}
		checkWhole(t, dest)
	})
}

// A source that announces another file does not cost the bytes so far.
func TestOtherSource(t *testing.T) {
	t.Parallel()
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, content[:2000], 0o600); err != nil {
		t.Fatal(err)
	}
	other := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content[:2000]) })
	for _, from := range []string{short, other.URL} {
		dest := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(dest+".part", content[:1000], 0o600); err != nil {
			t.Fatal(err)
		}
		var c fetch.Client
		if err := c.Get(t.Context(), wanted(from), dest); !is[*fetch.SizeError](err) {
			t.Errorf("%s: %v", from, err)
		}
		if left, err := os.ReadFile(dest + ".part"); err != nil || !bytes.Equal(left, content[:1000]) {
			t.Errorf("%s: %d bytes are left, %v", from, len(left), err)
		}
	}
}

// A server that stops sending is abandoned, and the received bytes are kept.
func TestStalled(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:1000])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	dir := t.TempDir()
	c := fetch.Client{Idle: 100 * time.Millisecond}
	if err := c.Get(t.Context(), wanted(s.URL), filepath.Join(dir, "file")); !errors.Is(err, fetch.ErrStalled) {
		t.Errorf("%v, want ErrStalled", err)
	}
	checkOnly(t, dir, "file.part")
}

// Cancelling ends the transfer with its cause, and the received bytes are kept.
func TestCancel(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:1000])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	cause := errors.New("ctrl-c")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := fetch.Client{Progress: func(done, _ int64) {
		if done > 0 {
			cancel(cause)
		}
	}}
	dir := t.TempDir()
	if err := c.Get(ctx, wanted(s.URL), filepath.Join(dir, "file")); !errors.Is(err, cause) {
		t.Errorf("%v, want the cause", err)
	}
	checkOnly(t, dir, "file.part")
}

// Of two transfers at once, one learns of the other, and their bytes do not
// mix.
func TestBusy(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		whole(w, r)
	})
	dest := filepath.Join(t.TempDir(), "file")
	first := make(chan error, 1)
	go func() {
		var c fetch.Client
		first <- c.Get(t.Context(), wanted(s.URL), dest)
	}()
	<-arrived
	var c fetch.Client
	if err := c.Get(t.Context(), wanted(s.URL), dest); !errors.Is(err, fetch.ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	checkWhole(t, dest)
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://m.example/models":       "https://m.example/models/a.onnx",
		"https://m.example/models/":      "https://m.example/models/a.onnx",
		"https://m.example/m?key=1":      "https://m.example/m/a.onnx?key=1",
		filepath.FromSlash("/srv/m"):     filepath.FromSlash("/srv/m/a.onnx"),
		"file:///srv/m":                  filepath.FromSlash("/srv/m/a.onnx"),
		filepath.FromSlash("./a folder"): filepath.FromSlash("a folder/a.onnx"),
	} {
		if got := fetch.Join(base, "a.onnx"); got != want {
			t.Errorf("Join(%q) is %q, want %q", base, got, want)
		}
	}
}
