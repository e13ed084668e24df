package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/pkg/api"
)

// remote is a web server with clips. It counts its requests.
type remote struct {
	*httptest.Server
	asked atomic.Int64
}

func startRemote(t *testing.T, answer http.HandlerFunc) *remote {
	r := &remote{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.asked.Add(1)
		answer(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func fetching(c *httpapi.Config) { c.FileURLs = outbound.Private() }

func address(url string) field { return field{name: "fileUrl", value: url} }

// TestFileURL submits clips by address, and checks their jobs, prices and names.
func TestFileURL(t *testing.T) {
	t.Parallel()
	content := clip(t, 12, 40) // 4.8 s, 5 credits
	r := startRemote(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/named":
			w.Header().Set("Content-Disposition", `attachment; filename="../walk.gif"`)
		case "/typed", "/":
			w.Header().Set("Content-Type", "image/gif; charset=binary")
		}
		_, _ = w.Write(content)
	})
	s := start(t, fetching)
	who := s.user("ada@example.com", 100)
	c := s.client(s.key(who))

	for path, name := range map[string]string{"/a/hop%20on.GIF?token=secret": "hop on.GIF", "/named": "walk.gif", "/typed": "typed.gif", "/": "clip.gif", "": "clip.gif"} {
		before := s.balance(who)
		made := decode[api.JobCreated](t, c.submit(jobs, []field{address(r.URL + path)}), http.StatusAccepted)
		if s.balance(who) != before-5 {
			t.Errorf("%s cost %d credits", path, before-s.balance(who))
		}
		j := decode[api.Job](t, c.get(jobs+"/"+made.ID), http.StatusOK)
		if j.Metadata.OriginalName != name || int(j.Metadata.InputSize) != len(content) {
			t.Errorf("%s: %+v", path, j.Metadata)
		}
	}

	if got := decode[api.Estimate](t, c.submit("/api/v1/estimate", []field{address(r.URL + "/a.gif")}), http.StatusOK); got.Duration != 4.8 || got.Cost != 5 {
		t.Errorf("an estimate of an address is %+v", got)
	}

	made := decode[api.BatchCreated](t, c.submit(batches, []field{address(r.URL + "/b.gif"), fileField("a.gif", clip(t, 2, 10)), address(r.URL + "/c.gif")}), http.StatusAccepted)
	var names []string
	for _, j := range made.Jobs {
		names = append(names, j.Filename)
	}
	if fmt.Sprint(names) != "[b.gif a.gif c.gif]" {
		t.Errorf("a batch of %v", names)
	}
}

// TestFileURLOnce checks that a repeated submission is not fetched or charged again, and
// that one of another address is a conflict.
func TestFileURLOnce(t *testing.T) {
	t.Parallel()
	r := startRemote(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(clip(t, 2, 10)) })
	s := start(t, fetching)
	who := s.user("ada@example.com", 100)
	c := s.client(s.key(who))
	first := decode[api.JobCreated](t, c.submit(jobs, []field{address(r.URL + "/a.gif")}, "Idempotency-Key", "one"), http.StatusAccepted)
	again := decode[api.JobCreated](t, c.submit(jobs, []field{address(r.URL + "/a.gif")}, "Idempotency-Key", "one"), http.StatusAccepted)
	if first.ID != again.ID || r.asked.Load() != 1 || s.balance(who) != 97 {
		t.Errorf("%s, then %s, by %d requests, and %d credits are left", first.ID, again.ID, r.asked.Load(), s.balance(who))
	}
	c.submit(jobs, []field{address(r.URL + "/b.gif")}, "Idempotency-Key", "one").
		want(t, http.StatusConflict, `{"error":"idempotency_conflict"}`)
}

// TestBadFileURL checks what is refused, that the answer says why and repeats no query,
// and that nothing is kept or charged.
func TestBadFileURL(t *testing.T) {
	t.Parallel()
	const stall = time.Second
	good := clip(t, 2, 10)
	r := startRemote(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/moved.gif":
			http.Redirect(w, q, "/a.gif", http.StatusFound)
		case "/none.gif":
			http.NotFound(w, q)
		case "/silent.gif":
			<-q.Context().Done()
		case "/stalls.gif":
			_, _ = w.Write(good[:20])
			w.(http.Flusher).Flush()
			<-q.Context().Done()
		case "/breaks.gif":
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			_, _ = w.Write(good[:20])
		case "/said.gif":
			w.Header().Set("Content-Length", "100001")
		case "/large.gif":
			w.(http.Flusher).Flush() // its length is not known
			_, _ = w.Write(make([]byte, 100_001))
		case "/clip.png":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write(good)
		case "/text.gif":
			_, _ = w.Write([]byte("no clip"))
		default:
			_, _ = w.Write(good)
		}
	})
	s := start(t, func(c *httpapi.Config) { fetching(c); c.Stall, c.MaxFile = stall, 100_000 })
	who := s.user("ada@example.com", 20)
	c := s.client(s.key(who))
	for path, want := range map[string]string{
		"/moved.gif?secret": "answered 302: redirects are not followed", "/none.gif?secret": "answered 404", "/silent.gif?secret": "answered too slowly",
		"/stalls.gif?secret": "answered too slowly", "/breaks.gif?secret": "broke off", "/clip.png?secret": "must be named .gif, .mp4, .mov or .webm",
	} {
		shown := strings.TrimSuffix(path, "?secret")
		c.submit(jobs, []field{address(r.URL + path)}).
			want(t, http.StatusBadRequest, fmt.Sprintf(`{"error":"bad_request","field":"fileUrl","message":"fileUrl %s%s %s"}`, r.URL, shown, want))
	}
	for _, path := range []string{"/said.gif", "/large.gif"} {
		c.submit(jobs, []field{address(r.URL + path)}).want(t, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`)
	}
	c.submit(jobs, []field{address(r.URL + "/text.gif")}).want(t, http.StatusUnprocessableEntity, `{"error":"unreadable_file"}`)

	asked := r.asked.Load()
	a, file := address(r.URL+"/a.gif"), fileField("a.gif", good)
	for name, fields := range map[string][]field{
		"two": {a, a}, "a file too": {file, a}, "no address": {address("")}, "no web address": {address("/etc/passwd")}, "another protocol": {address("ftp://example.com/a.gif")},
		"a password": {address("http://ada:secret@example.com/a.gif")}, "a long one": {address(r.URL + "/" + strings.Repeat("a", 2000) + ".gif")},
	} {
		t.Run(name, func(t *testing.T) { c.refuses(t, fields, "fileUrl") })
	}
	c.refuses(t, []field{a, {name: "pad", value: "99"}}, "pad")
	c.refuses(t, []field{a, {name: "fileURL", value: "x"}}, "fileURL")
	bob := s.client(s.key(s.user("bob@example.com", 1)))
	bob.submit(jobs, []field{a}).want(t, http.StatusPaymentRequired, poor(1))
	if r.asked.Load() != asked {
		t.Errorf("%d files of refused submissions were fetched", r.asked.Load()-asked)
	}
	if left, kept := s.balance(who), s.objects(); left != 20 || kept != 0 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
	if load := s.api.Load(); load.Uploading != 0 {
		t.Errorf("%d bytes count as on their way", load.Uploading)
	}
}

// slowReader takes its time for each read.
type slowReader struct{ pause time.Duration }

func (r slowReader) Read(p []byte) (int, error) {
	time.Sleep(r.pause)
	return copy(p, "x"), nil
}

// TestPacedReader checks that a fetch is ended for a server that takes its time, and not for
// a storage that does.
func TestPacedReader(t *testing.T) {
	t.Parallel()
	const stall = time.Second
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int32
		timer := time.AfterFunc(stall, func() { ended.Add(1) })
		r := httpapi.PacedReader(iotest.OneByteReader(strings.NewReader("abc")), stall, time.Hour, timer)
		for range 4 { // the last is the end
			_, _ = r.Read(make([]byte, 10))
			time.Sleep(10 * stall)
		}
		if ended.Load() > 0 {
			t.Error("a slow storage has ended the fetch")
		}
		r = httpapi.PacedReader(slowReader{2 * stall}, stall, time.Hour, timer)
		if _, _ = r.Read(make([]byte, 10)); ended.Load() != 1 {
			t.Error("a slow server has not ended the fetch")
		}
		r = httpapi.PacedReader(slowReader{}, stall, stall, timer)
		time.Sleep(2 * stall)
		_, _ = r.Read(make([]byte, 10))
		if synctest.Wait(); ended.Load() != 2 {
			t.Error("the fetch went on after its end")
		}
	})
}

// TestFileURLOfPrivateAddress checks that no service fetches from its own network, and that
// one that is not told to fetch does not.
func TestFileURLOfPrivateAddress(t *testing.T) {
	t.Parallel()
	r := startRemote(t, func(http.ResponseWriter, *http.Request) {})
	for _, test := range []struct {
		guard     *outbound.Guard
		url, want string
	}{
		{nil, "https://8.8.8.8/a.gif", "fileUrl is not accepted by this service: send the file"},
		{outbound.Public(), r.URL + "/a.gif", "fileUrl must begin with https://"},
		{outbound.Public(), strings.Replace(r.URL, "http:", "https:", 1) + "/a.gif", "fileUrl must not lead to a private or reserved address"},
		{outbound.Public(), "https://169.254.169.254/latest/meta-data", "fileUrl must not lead to a private or reserved address"},
	} {
		s := start(t, func(c *httpapi.Config) { c.FileURLs = test.guard })
		c := s.client(s.key(s.user("ada@example.com", 20)))
		c.submit(jobs, []field{address(test.url)}).
			want(t, http.StatusBadRequest, fmt.Sprintf(`{"error":"bad_request","field":"fileUrl","message":%q}`, test.want))
	}
	if r.asked.Load() > 0 {
		t.Error("it was asked")
	}
}
