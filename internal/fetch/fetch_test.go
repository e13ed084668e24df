package fetch_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/fetch"
)

var content = bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// server answers with f and remembers the Range header of each request.
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

// whole serves the content with ranges, as file servers do.
func whole(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"one"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// cut announces all and sends n bytes.
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

// checkOnly checks which files a folder holds.
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

// A transfer that breaks off time and again is completed in one go, as long
// as the server gives ranges.
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

// An interrupted transfer goes on where it ended, in a later Get too.
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

// What lies in the part and what the server does with a Range, and what must
// come out all the same.
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

// Each failure has its type, and leaves nothing behind.
func TestFailures(t *testing.T) {
	t.Parallel()
	other := bytes.Repeat([]byte("x"), len(content))
	page := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, "\n<!DOCTYPE html><title>Sign in</title>")
		}
	}
	send := func(b []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(b)
		}
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		size    int64
		is      func(error) bool
	}{
		"404":            {http.NotFound, 0, is[*fetch.StatusError]},
		"500":            {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, 0, is[*fetch.StatusError]},
		"page":           {page("text/html; charset=utf-8"), 0, is[*fetch.PageError]},
		"page, untyped":  {page("application/octet-stream"), 0, is[*fetch.PageError]},
		"wrong content":  {send(other), 0, is[*fetch.DigestError]},
		"wrong length":   {send(other[:100]), int64(len(content)), is[*fetch.SizeError]},
		"endless stream": {endless, int64(len(content)), is[*fetch.SizeError]},
		"empty":          {send(nil), 0, is[*fetch.DigestError]},
		"cut at once":    {cut(0), int64(len(content)), is[*fetch.TruncatedError]},
		"to another scheme": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "ftp://127.0.0.1/", http.StatusFound)
		}, 0, func(err error) bool { return err != nil }},
		"redirect loop": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, 0,
			func(err error) bool { return errors.Is(err, fetch.ErrRedirect) }},
		"too large for any disk": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(int64(1)<<60))
		}, 1 << 60, func(err error) bool { return is[*fetch.SpaceError](err) && errors.Is(err, syscall.ENOSPC) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, test.handler)
			dir := t.TempDir()
			var c fetch.Client
			err := c.Get(t.Context(), fetch.File{From: s.URL, Size: test.size, SHA256: digest(content)}, filepath.Join(dir, "file"))
			if !test.is(err) {
				t.Errorf("%T: %v", err, err)
			}
			checkOnly(t, dir)
		})
	}
}

func is[T error](err error) bool { var e T; return errors.As(err, &e) }

// endless sends without a length until the client has had enough.
func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(content); err != nil {
			return
		}
	}
}

// A server that falls silent is given up; what came is kept.
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

// Cancelling ends the transfer with its cause; what came is kept.
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

// Two at once: one is told that the other is at it, and nothing is mixed.
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

func TestLocalFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, content[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		from string
		size int64
		is   func(error) bool
	}{
		"absent":       {filepath.Join(dir, "absent"), 0, func(err error) bool { return errors.Is(err, os.ErrNotExist) }},
		"folder":       {dir, 0, func(err error) bool { return err != nil }},
		"wrong length": {short, int64(len(content)), is[*fetch.SizeError]},
		"wrong digest": {short, 100, is[*fetch.DigestError]},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			into := t.TempDir()
			var c fetch.Client
			if err := c.Get(t.Context(), fetch.File{From: test.from, Size: test.size, SHA256: digest(content)}, filepath.Join(into, "file")); !test.is(err) {
				t.Errorf("%T: %v", err, err)
			}
			checkOnly(t, into)
		})
	}
	var c fetch.Client
	if err := c.Get(t.Context(), fetch.File{From: short}, filepath.Join(dir, "file")); !errors.Is(err, fetch.ErrNoDigest) {
		t.Errorf("%v, want ErrNoDigest", err)
	}
}

// A server that cannot be asked is an error of its own.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(whole))
	s.Close()
	dir := t.TempDir()
	var c fetch.Client
	for _, from := range []string{s.URL, "http://127.0.0.1:bad/"} {
		if err := c.Get(t.Context(), wanted(from), filepath.Join(dir, "file")); !is[*fetch.UnreachableError](err) {
			t.Errorf("%T: %v", err, err)
		}
	}
	checkOnly(t, dir)
}

// Errors name the place that was asked for, without its secrets.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/blob?signature=hush", http.StatusFound)
			return
		}
		panic(http.ErrAbortHandler)
	})
	from := strings.Replace(s.URL, "http://", "http://me:hush@", 1) + "/?token=hush"
	var c fetch.Client
	err := c.Get(t.Context(), fetch.File{From: from, SHA256: digest(content)}, filepath.Join(t.TempDir(), "file"))
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}

// A redirect never leads from https to http.
func TestDowngrade(t *testing.T) {
	t.Parallel()
	open := serve(t, whole)
	safe := httptest.NewTLSServer(http.RedirectHandler(open.URL, http.StatusFound))
	defer safe.Close()
	c := fetch.Client{HTTP: safe.Client()}
	if err := c.Get(t.Context(), wanted(safe.URL), filepath.Join(t.TempDir(), "file")); !errors.Is(err, fetch.ErrRedirect) {
		t.Errorf("%v, want ErrRedirect", err)
	}
	if len(open.ranges) > 0 {
		t.Error("the open server was asked")
	}
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
