package client_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

const made = `{"id":"job_1","status":"queued","creditsRemaining":7,"links":{"self":"","download":""}}`

// received is a submission as seen by a server.
type received struct {
	key     string // of idempotency
	fields  map[string]string
	name    string
	content string
}

// read reads the parts of a form.
func read(r *http.Request) (got received, err error) {
	got.key, got.fields = r.Header.Get("Idempotency-Key"), map[string]string{}
	parts, err := r.MultipartReader()
	if err != nil {
		return got, err
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return got, err
		}
		if part.FormName() == "file" {
			got.name, got.content = part.FileName(), string(content)
		} else {
			got.fields[part.FormName()] = string(content)
		}
	}
}

// flaky is a server whose answer to the nth submission is that of n.
func flaky(t *testing.T, answer func(n int, got received, w http.ResponseWriter)) string {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, err := read(r)
		if err != nil {
			t.Errorf("the form cannot be read: %v", err)
		}
		answer(int(n.Add(1)), got, w)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func accept(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, made)
}

// TestForm checks that the form has exactly the given options.
func TestForm(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options client.JobOptions
		want    map[string]string
	}{
		"none": {client.JobOptions{}, map[string]string{}},
		"all": {
			client.JobOptions{Method: "fast", Tolerance: 9, Crop: new(true), Pad: new(1), CanvasW: 100, CanvasH: 200, Anchor: "bottom", OutputFormat: "apng", BgColor: "#ffffff", Trim: true,
				Background: "blur:3", Outline: "#ffffff,2", Shadow: "soft", Harmonise: true,
				Hints: []api.Hint{{Keep: true, Click: &[2]float64{3, 4.5}, At: 1500 * time.Millisecond}}, Largest: true,
				FPS: 12.5, Start: 1500 * time.Millisecond, End: 100 * time.Second, Quality: 80, Loop: new(3)},
			map[string]string{"method": "fast", "tolerance": "9", "crop": "true", "pad": "1", "canvasW": "100", "canvasH": "200", "anchor": "bottom", "outputFormat": "apng", "bgColor": "#ffffff", "trim": "true",
				"background": "blur:3", "outline": "#ffffff,2", "shadow": "soft", "harmonise": "true",
				"hints": `[{"keep":true,"click":[3,4.5],"t":1.5}]`, "largest": "true",
				"fps": "12.5", "start": "1.5", "end": "100", "quality": "80", "loop": "3"},
		},
		"zeros that count": {client.JobOptions{Crop: new(false), Pad: new(0), Loop: new(0)}, map[string]string{"crop": "false", "pad": "0", "loop": "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got received
			url := flaky(t, func(_ int, r received, w http.ResponseWriter) { got = r; accept(w) })
			test.options.IdempotencyKey = "mine"
			file := client.File{Name: "a \"b\"\n.gif", Content: strings.NewReader("content")}
			answer, err := quick(t, url, "key").Submit(t.Context(), file, test.options)
			if err != nil || answer.ID != "job_1" || answer.CreditsRemaining != 7 {
				t.Errorf("got %+v, %v", answer, err)
			}
			if diff := cmp.Diff(test.want, got.fields); diff != "" {
				t.Error(diff)
			}
			if got.key != "mine" || got.content != "content" {
				t.Errorf("key %q, content %q", got.key, got.content)
			}
		})
	}
}

// TestAgain checks that the whole submission is sent again under the same key
// after a lost answer. Content starts at the reader's position, for readers of
// any kind.
func TestAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clip.gif")
	if err := os.WriteFile(path, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	inTheMiddle := strings.NewReader("not this, content")
	_, _ = inTheMiddle.Seek(10, io.SeekStart)
	for name, file := range map[string]client.File{
		"path":   {Path: path},
		"seeker": {Name: "clip.gif", Content: inTheMiddle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []received
			url := flaky(t, func(n int, got received, w http.ResponseWriter) {
				all = append(all, got)
				switch n {
				case 1:
					panic(http.ErrAbortHandler)
				case 2:
					w.Header().Set("Retry-After", "1")
					refuse(w, http.StatusConflict, "idempotency_conflict")
				default:
					accept(w)
				}
			})
			var retries []client.Retry
			c := quick(t, url, "key", func(o *client.Options) { o.OnRetry = func(r client.Retry) { retries = append(retries, r) } })
			if _, err := c.Submit(t.Context(), file, client.JobOptions{}); err != nil {
				t.Fatal(err)
			}
			if len(all) != 3 || all[0].key == "" || !cmp.Equal(all[0], all[1], cmp.AllowUnexported(received{})) || all[0].content != "content" || all[2].key != all[0].key {
				t.Errorf("the server saw %+v", all)
			}
			if len(retries) != 2 || retries[0].Try != 1 || retries[1].Try != 2 || retries[1].Wait < 1e9 {
				t.Errorf("told of %+v", retries)
			}
		})
	}
}

// TestReadOnce checks that content that can be read only once is not sent again
// after its start, but is sent if it was not begun.
func TestReadOnce(t *testing.T) {
	t.Parallel()
	file := func() client.File {
		return client.File{Name: "clip.gif", Content: io.MultiReader(strings.NewReader("content"))}
	}
	var tries atomic.Int32
	url := flaky(t, func(_ int, got received, _ http.ResponseWriter) {
		tries.Add(1)
		if got.content != "content" {
			t.Errorf("got %q", got.content)
		}
		panic(http.ErrAbortHandler)
	})
	_, err := quick(t, url, "key").Submit(t.Context(), file(), client.JobOptions{})
	var uncertain *client.UncertainError
	if tries.Load() != 1 || !errors.As(err, &uncertain) || uncertain.IdempotencyKey == "" {
		t.Errorf("%d tries, %v", tries.Load(), err)
	}

	// A client with content of unknown length asks first, so that a refusal
	// costs nothing.
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			refuse(w, http.StatusServiceUnavailable, "unavailable")
			return
		}
		if got, err := read(r); err != nil || got.content != "content" {
			t.Errorf("got %+v, %v", got, err)
		}
		accept(w)
	}))
	t.Cleanup(s.Close)
	if _, err := quick(t, s.URL, "key").Submit(t.Context(), file(), client.JobOptions{}); err != nil {
		t.Error(err)
	}
}

// TestUncertain checks that the error says if a submission may have been
// accepted, but not if it certainly was not.
func TestUncertain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		last      func(w http.ResponseWriter)
		uncertain bool
	}{
		"lost":        {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, true},
		"key revoked": {func(w http.ResponseWriter) { refuse(w, http.StatusUnauthorized, "unauthorized") }, true},
		"in work": {func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusConflict, "idempotency_conflict")
		}, true},
		"proxy's page": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(524)
		}, true},
		"no credits":   {func(w http.ResponseWriter) { refuse(w, http.StatusPaymentRequired, "insufficient_credits") }, false},
		"out of range": {func(w http.ResponseWriter) { refuse(w, http.StatusBadRequest, "bad_request") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			url := flaky(t, func(_ int, _ received, w http.ResponseWriter) {
				if tries.Add(1) == 1 {
					panic(http.ErrAbortHandler)
				}
				test.last(w)
			})
			c := quick(t, url, "key", func(o *client.Options) { o.Tries = 2 })
			for _, file := range []client.File{numbered(t, 1), {URL: "https://clips.example/clip.gif"}} {
				tries.Store(0)
				_, err := c.Submit(t.Context(), file, client.JobOptions{})
				if got := errors.As(err, new(*client.UncertainError)); err == nil || got != test.uncertain {
					t.Errorf("%+v: %v", file, err)
				}
			}
		})
	}
	url := flaky(t, func(_ int, _ received, w http.ResponseWriter) { refuse(w, http.StatusUnauthorized, "unauthorized") })
	if _, err := quick(t, url, "key").Submit(t.Context(), numbered(t, 1), client.JobOptions{}); errors.As(err, new(*client.UncertainError)) {
		t.Errorf("a refusal at the first try is uncertain: %v", err)
	}
}

// TestCancelled checks that the end of a context ends a submission, with its
// cause as the error.
func TestCancelled(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	url := flaky(t, func(int, received, http.ResponseWriter) { cancel(cause); <-ctx.Done(); panic(http.ErrAbortHandler) })
	_, err := quick(t, url, "key").Submit(ctx, numbered(t, 1), client.JobOptions{})
	if !errors.Is(err, cause) || !errors.As(err, new(*client.UncertainError)) {
		t.Errorf("got %v", err)
	}
}

// TestEarlyRefusal checks that an answer is read even if the service closes
// during the upload, so that writing fails.
func TestEarlyRefusal(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"asked": "", "in the middle": "HTTP/1.1 100 Continue\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			go refuseEarly(l, before)
			c := quick(t, "http://"+l.Addr().String(), "key", func(o *client.Options) { o.Tries = 1 })
			file := client.File{Name: "large.gif", Content: bytes.NewReader(make([]byte, 50_000_000))}
			if _, err := c.Submit(t.Context(), file, client.JobOptions{}); !errors.Is(err, client.ErrTooLarge) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// refuseEarly answers 413 to everything, and closes with unread data, which
// resets the connection.
func refuseEarly(l net.Listener, before string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		in := bufio.NewReader(conn)
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		_, _ = io.WriteString(conn, before)
		if before != "" {
			_, _ = io.CopyN(io.Discard, in, 1_000_000)
		}
		const body = `{"error":"payload_too_large"}`
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 413 Too Large\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
		_ = conn.Close()
	}
}

// TestBadFiles checks that files that cannot be sent are refused by name.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, file := range map[string]client.File{
		"nothing":      {},
		"both":         {Path: dir, Name: "a.gif", Content: strings.NewReader("")},
		"without name": {Content: strings.NewReader("")},
		"absent":       {Path: filepath.Join(dir, "absent.gif")},
		"folder":       {Path: dir},
		"broken":       {Name: "broken.gif", Content: io.MultiReader(strings.NewReader("x"), broken{})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = read(r) }))
			defer s.Close()
			c := quick(t, s.URL, "key", func(o *client.Options) { o.OnRetry = func(client.Retry) { t.Error("it is tried again") } })
			if _, err := c.Submit(t.Context(), file, client.JobOptions{}); err == nil || errors.As(err, new(*client.ConnectionError)) {
				t.Errorf("got %v", err)
			}
		})
	}
	c := quick(t, "http://127.0.0.1:1", "key")
	if _, err := c.SubmitBatch(t.Context(), nil, client.JobOptions{}); err == nil {
		t.Error("an empty batch is sent")
	}
	if _, err := c.SubmitBatch(t.Context(), make([]client.File, 21), client.JobOptions{}); err == nil {
		t.Error("a batch of 21 is sent")
	}
}

// broken is a reader that fails.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the disk is broken") }

// changing is content that changes its size when it is read.
type changing struct {
	*strings.Reader
	size int64
}

func (c *changing) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		return c.size, nil
	}
	return c.Reader.Seek(offset, whence)
}

// TestChanged checks that a file that changes during the upload is not sent as
// another file.
func TestChanged(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"shorter": 10, "longer": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := read(r); err == nil {
					accept(w)
				}
			}))
			defer s.Close()
			file := client.File{Name: "clip.gif", Content: &changing{strings.NewReader("content"), size}}
			_, err := quick(t, s.URL, "key").Submit(t.Context(), file, client.JobOptions{})
			if err == nil || !strings.Contains(err.Error(), "clip.gif: it changed while it was sent") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestProgress checks that the last report of progress is the whole size.
func TestProgress(t *testing.T) {
	t.Parallel()
	url := flaky(t, func(_ int, _ received, w http.ResponseWriter) { accept(w) })
	var sent, total int64
	o := client.JobOptions{Progress: func(s, t int64) { sent, total = s, t }}
	if _, err := quick(t, url, "key").Submit(t.Context(), numbered(t, 1), o); err != nil {
		t.Fatal(err)
	}
	if sent == 0 || sent != total {
		t.Errorf("%d of %d bytes", sent, total)
	}
}
