package httpapi_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/price"
)

// dial opens a connection to a service, for tests that no proper client can
// make.
func (s *service) dial() net.Conn {
	s.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = conn.Close() })
	return conn
}

// head is the beginning of an upload.
func head(key, contentType string, length int, more ...string) string {
	lines := append([]string{
		"POST /api/v1/jobs HTTP/1.1", "Host: test", "X-API-Key: " + key, "Content-Type: " + contentType, fmt.Sprintf("Content-Length: %d", length),
	}, more...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// read reads the answer on a connection.
func read(t *testing.T, conn net.Conn) answer {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

// TestEarlyRefusal checks that a client that first sends everything learns why
// it was refused. A client that waits learns so before it sends.
func TestEarlyRefusal(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	key := s.key(s.user("ada@example.com", 0))
	const size = 20_000_000
	for name, test := range map[string]struct {
		head   string
		sends  int
		status int
		body   string
	}{
		"no key":        {head("", "multipart/form-data; boundary=x", size), size, http.StatusUnauthorized, `{"error":"unauthorized"}`},
		"too large":     {head(key, "multipart/form-data; boundary=x", 300_000_000), size, http.StatusRequestEntityTooLarge, `{"error":"payload_too_large"}`},
		"no form":       {head(key, "text/plain", size), size, http.StatusBadRequest, `{"error":"bad_request","message":"the body is no multipart form"}`},
		"waits":         {head("", "multipart/form-data; boundary=x", size, "Expect: 100-continue"), 0, http.StatusUnauthorized, `{"error":"unauthorized"}`},
		"lies and ends": {head(key, "multipart/form-data; boundary=x", size), 100, http.StatusBadRequest, `{"error":"bad_request","message":"the body is no complete multipart form"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := s.dial()
			if _, err := io.WriteString(conn, test.head); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(bytes.Repeat([]byte("x"), test.sends)); err != nil {
				t.Fatalf("the service does not listen: %v", err)
			}
			if test.sends < size && test.sends > 0 {
				if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
					t.Fatal(err)
				}
			}
			got := read(t, conn)
			got.want(t, test.status, test.body)
			if got.header.Get("Connection") != "" && got.header.Get("Connection") != "close" {
				t.Errorf("Connection is %q", got.header.Get("Connection"))
			}
		})
	}
}

// TestPartHeader checks that the header of a part is bounded, whatever its
// length and position.
func TestPartHeader(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	c := s.client(s.key(s.user("ada@example.com", price.Least)))
	for name, test := range map[string]struct {
		before, header string
		ok             bool
	}{
		"usual":               {"", "", true},
		"8 kB":                {"", "X-Long: " + strings.Repeat("x", 7900) + "\r\n", true},
		"16 kB":               {"", "X-Long: " + strings.Repeat("x", 16_000) + "\r\n", false},
		"16 MB":               {"", "X-Long: " + strings.Repeat("x", 16_000_000) + "\r\n", false},
		"many":                {"", strings.Repeat("X-Short: x\r\n", 1100), false},
		"before all parts":    {strings.Repeat("x\r\n", 100_000), "", false},
		"after a long option": {"--x\r\nContent-Disposition: form-data; name=other\r\n\r\n" + strings.Repeat("y", 100_000) + "\r\n", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			body := test.before + "--x\r\n" + test.header + "Content-Disposition: form-data; name=pad\r\n\r\n51\r\n--x--\r\n"
			got := c.do(http.MethodPost, jobs, strings.NewReader(body), "Content-Type", "multipart/form-data; boundary=x")
			want := `{"error":"bad_request","field":"pad","message":"pad must be between 0 and 50"}`
			if !test.ok {
				want = `{"error":"bad_request","message":"the header of a part has more than 8192 bytes"}`
			}
			got.want(t, http.StatusBadRequest, want)
		})
	}
}

// TestUploadsOnTheirWay checks that uploads without a charge so far are bounded
// for each account and for all, until they are gone.
func TestUploadsOnTheirWay(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.MaxFile, c.UploadSpace = 1000, 1 }) // 20,000 for each account and for all
	key := s.key(s.user("ada@example.com", 900))
	ada, bob := s.client(key), s.client(s.key(s.user("bob@example.com", 900)))
	fields := func(n int) (files []field) {
		for i := range n {
			files = append(files, fileField(fmt.Sprint(i, ".gif"), bytes.Repeat([]byte("x"), 1000)))
		}
		return files
	}
	body, contentType := form(t, fields(15)...)
	conn := s.dial()
	begin := strings.Replace(head(key, contentType, len(body)+100), jobs, batches, 1)
	if _, err := io.WriteString(conn, begin+string(body[:len(body)-20])); err != nil {
		t.Fatal(err)
	}
	uploading := func(n int64) {
		for s.api.Load().Uploading != n {
			time.Sleep(time.Millisecond)
		}
	}
	answers := func(c *client, status int) {
		t.Helper()
		if got := c.submit(batches, fields(6)); got.status != status {
			t.Errorf("%d %s in place of %d", got.status, got.body, status)
		}
	}
	uploading(15_000) // while less was counted, the long upload could be the one to be refused
	answers(ada, http.StatusTooManyRequests)
	answers(bob, http.StatusServiceUnavailable)
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	uploading(0)
	answers(ada, http.StatusAccepted)
	answers(bob, http.StatusAccepted)
}

// TestSlowUpload checks that a stalled upload is ended, and that a slow but
// steady one is accepted.
func TestSlowUpload(t *testing.T) {
	t.Parallel()
	const stall = time.Second
	s := start(t, func(c *httpapi.Config) { c.Stall = stall })
	who := s.user("ada@example.com", price.OfSeconds(2.8))
	key := s.key(who)
	body, contentType := form(t, field{"other", "", strings.Repeat("x", 40_000)}, fileField("a.gif", clip(t, 40, 7)))

	conn := s.dial()
	if _, err := io.WriteString(conn, head(key, contentType, len(body))+string(body[:100])); err != nil {
		t.Fatal(err)
	}
	read(t, conn).want(t, http.StatusBadRequest, `{"error":"bad_request","message":"the body came too slowly"}`)

	conn = s.dial()
	if _, err := io.WriteString(conn, head(key, contentType, len(body))); err != nil {
		t.Fatal(err)
	}
	piece := 1 + len(body)/16 // so that the whole takes two stalls
	for tick := time.NewTicker(stall / 8); len(body) > 0; <-tick.C {
		n := min(len(body), piece)
		if _, err := conn.Write(body[:n]); err != nil {
			t.Fatal(err)
		}
		body = body[n:]
	}
	if got := read(t, conn); got.status != http.StatusAccepted {
		t.Errorf("a slow upload gets %d %s", got.status, got.body)
	}
}

// An upload of any size may take its time.
func TestCrawl(t *testing.T) {
	t.Parallel()
	if got := httpapi.Crawl(50e9); got != 5e6*time.Second {
		t.Errorf("50 GB may take %v", got)
	}
}

// TestLongUpload checks that an upload ends before the sweeper takes its
// content for abandoned, however steady it is.
func TestLongUpload(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.MaxUpload = time.Second })
	key := s.key(s.user("ada@example.com", price.Least))
	body, contentType := form(t, fileField("a.gif", clip(t, 40, 7)))
	conn := s.dial()
	if _, err := io.WriteString(conn, head(key, contentType, len(body))); err != nil {
		t.Fatal(err)
	}
	go func() { // until the connection ends
		for tick := time.NewTicker(100 * time.Millisecond); len(body) > 0; <-tick.C {
			if _, err := conn.Write(body[:1]); err != nil {
				return
			}
			body = body[1:]
		}
	}()
	read(t, conn).want(t, http.StatusBadRequest, `{"error":"bad_request","message":"the body came too slowly"}`)
}

// TestContinue checks that a client that waits for permission to send gets it.
func TestContinue(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	body, contentType := form(t, fileField("a.gif", clip(t, 2, 10)))
	conn := s.dial()
	if _, err := io.WriteString(conn, head(s.key(s.user("ada@example.com", price.Least)), contentType, len(body), "Expect: 100-continue")); err != nil {
		t.Fatal(err)
	}
	const goOn = "HTTP/1.1 100 Continue\r\n\r\n"
	told := make([]byte, len(goOn))
	if _, err := io.ReadFull(conn, told); err != nil || string(told) != goOn {
		t.Fatalf("told %q, %v", told, err)
	}
	if _, err := conn.Write(body); err != nil {
		t.Fatal(err)
	}
	if got := read(t, conn); got.status != http.StatusAccepted {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// endless answers as long as the client reads.
func endless(w http.ResponseWriter, _ *http.Request) {
	for data := make([]byte, 64<<10); ; {
		if _, err := w.Write(data); err != nil {
			return
		}
	}
}

// TestSlowDownload checks that a download may last longer than a stall, and
// that it ends when nobody reads it any more.
func TestSlowDownload(t *testing.T) {
	t.Parallel()
	const stall = time.Second
	observed := make(chan time.Duration, 1)
	s := start(t, func(c *httpapi.Config) {
		c.Stall = stall
		c.Observe = func(_ string, _ int, took time.Duration) { observed <- took }
	})
	conn := s.dial()
	if _, err := io.WriteString(conn, "GET /endless HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	for data := make([]byte, 1<<20); time.Since(started) < 3*stall; {
		if _, err := io.ReadFull(conn, data); err != nil {
			t.Fatalf("cut off after %v: %v", time.Since(started), err)
		}
	}
	if took := <-observed; took < 3*stall {
		t.Errorf("ended after %v", took)
	}
}

// TestKeepAlive checks that a connection serves several requests, even after
// refusals of bodies that were read.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	key := s.key(s.user("ada@example.com", 0))
	body, contentType := form(t, fileField("a.gif", clip(t, 2, 10)))
	conn := s.dial()
	in := bufio.NewReader(conn)
	for range 3 {
		if _, err := io.WriteString(conn, head(key, contentType, len(body))+string(body)); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusPaymentRequired || response.Close {
			t.Fatalf("got %s, close %v", response.Status, response.Close)
		}
	}
}
