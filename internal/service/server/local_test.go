package server_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/pkg/api"
)

// startLocal runs a local node and returns the address to open in a browser.
func startLocal(t *testing.T, c server.Config) (n *node, signIn string) {
	t.Helper()
	c.Local = true
	told := make(chan string, 1)
	c.SignIn = func(url string) { told <- url }
	n = start(t, c)
	return n, <-told
}

// visitor is a browser that does not follow redirects.
type visitor struct {
	*testing.T
	http http.Client
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (v *visitor) do(method, url, host string, body io.Reader, contentType string) answer {
	v.Helper()
	r, err := http.NewRequestWithContext(v.Context(), method, url, body)
	if err != nil {
		v.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Content-Type", contentType)
	response, err := v.http.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		v.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(got)}
}

func (v *visitor) get(url string) answer {
	v.Helper()
	return v.do(http.MethodGet, url, "", nil, "")
}

// TestLocal follows a newcomer from the printed address to a first job.
func TestLocal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c server.Config) {
		n, signIn := startLocal(t, c)
		if !strings.HasPrefix(signIn, n.url+"/local?token=") || len(signIn) < len(n.url)+60 {
			t.Errorf("the address is %s", signIn)
		}
		v, thief := newVisitor(t), newVisitor(t)
		for _, url := range []string{n.url + "/local", n.url + "/local?token=", n.url + "/local?token=guess", signIn + "x"} {
			if got := thief.get(url); got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" || !strings.Contains(got.body, "stop bgremove with Ctrl-C") {
				t.Errorf("%s: %d %s", url, got.status, got.body)
			}
		}
		if got := thief.do(http.MethodHead, signIn, "", nil, ""); got.status != http.StatusNoContent || got.header.Get("Set-Cookie") != "" {
			t.Errorf("HEAD: %d %v", got.status, got.header)
		}
		in := v.get(signIn)
		if in.status != http.StatusSeeOther || in.header.Get("Location") != "/" || !strings.Contains(in.header.Get("Set-Cookie"), "HttpOnly") ||
			in.header.Get("Referrer-Policy") != "no-referrer" {
			t.Fatalf("signing in: %d %v", in.status, in.header)
		}
		if got := thief.get(signIn); got.status != http.StatusForbidden {
			t.Errorf("the address works twice: %d", got.status)
		}
		if got := v.get(signIn); got.status != http.StatusSeeOther {
			t.Errorf("opened again where it was opened: %d", got.status)
		}
		who := decode[api.Account](t, v.get(n.url+"/api/account"), http.StatusOK)

		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		file, err := form.CreateFormFile("file", "clip.gif")
		if err == nil {
			_, err = file.Write(clip(t))
		}
		if err != nil || form.Close() != nil {
			t.Fatal(err)
		}
		made := decode[api.JobsCreated](t, v.do(http.MethodPost, n.url+"/api/jobs", "", &body, form.FormDataContentType()), http.StatusAccepted)
		if made.CreditsRemaining != 0 || who.Credits != 0 {
			t.Errorf("%+v was charged from %d", made, who.Credits)
		}
		n.stopped()

		n, signIn = startLocal(t, c)
		v = newVisitor(t)
		v.get(signIn)
		if list := decode[api.JobPage](t, v.get(n.url+"/api/jobs"), http.StatusOK); len(list.Jobs) != 1 || list.Jobs[0].ID != made.Jobs[0].ID {
			t.Errorf("after another start there are %+v", list.Jobs)
		}
		n.stopped()
	})
}

// TestLocalNeighbours checks that a browser can be signed in to two local
// services of one machine at once, although cookies ignore ports.
func TestLocalNeighbours(t *testing.T) {
	t.Parallel()
	one, signInToOne := startLocal(t, configuration(t, storetest.SQLite(t)))
	two, signInToTwo := startLocal(t, configuration(t, storetest.SQLite(t)))
	v := newVisitor(t)
	v.get(signInToOne)
	v.get(signInToTwo)
	for _, n := range []*node{one, two} {
		if got := v.get(n.url + "/api/account"); got.status != http.StatusOK {
			t.Errorf("%s: %d", n.url, got.status)
		}
		n.stopped()
	}
}

// TestLocalHosts checks that a local service answers only to its own names.
func TestLocalHosts(t *testing.T) {
	t.Parallel()
	n, signIn := startLocal(t, configuration(t, storetest.SQLite(t)))
	v := newVisitor(t)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(n.url, "http://"))
	for host, want := range map[string]int{
		"localhost:" + port: http.StatusOK, "LocalHost": http.StatusOK, "127.0.0.1": http.StatusOK, "127.1.2.3:80": http.StatusOK, "[::1]:" + port: http.StatusOK, "[::1]": http.StatusOK,
		"evil.example": http.StatusForbidden, "evil.example:" + port: http.StatusForbidden, "127.0.0.1.evil.example:" + port: http.StatusForbidden,
		"localhost.evil.example": http.StatusForbidden, "192.168.1.4:" + port: http.StatusForbidden, "0.0.0.0:" + port: http.StatusForbidden, "2130706433": http.StatusForbidden,
	} {
		for _, path := range []string{"/healthz", "/docs"} {
			if got := v.do(http.MethodGet, n.url+path, host, nil, ""); got.status != want {
				t.Errorf("%s of %s: %d, want %d", path, host, got.status, want)
			}
		}
	}
	if got := v.do(http.MethodGet, signIn, "evil.example:"+port, nil, ""); got.status != http.StatusForbidden || got.body != `{"error":"forbidden"}` {
		t.Errorf("another name signs in: %d %s", got.status, got.body)
	}
	if got := v.get(signIn); got.status != http.StatusSeeOther {
		t.Errorf("the token is gone: %d", got.status)
	}
	n.stopped()
}

// TestLocalPort checks that a taken port is skipped if any port will do.
func TestLocalPort(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	c := configuration(t, storetest.SQLite(t))
	c.Addr, c.AnyPort = taken.Addr().String(), true
	n, signIn := startLocal(t, c)
	if n.url == "http://"+taken.Addr().String() || newVisitor(t).get(signIn).status != http.StatusSeeOther {
		t.Errorf("it listens at %s", n.url)
	}
	n.stopped()
}

// TestLocalRefused checks that a local service refuses to run where others
// could reach it.
func TestLocalRefused(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{":8080", "0.0.0.0:0", "[::]:0", "192.168.1.4:8080", "example.com:80", "localhost", ""} {
		if err := server.CheckLocal(addr); err == nil {
			t.Errorf("%q is taken", addr)
		}
	}
	for _, addr := range []string{"127.0.0.1:8080", "localhost:0", "[::1]:8080", "127.9.9.9:1"} {
		if err := server.CheckLocal(addr); err != nil {
			t.Errorf("%q: %v", addr, err)
		}
	}
	c := configuration(t, storetest.SQLite(t))
	c.Local, c.Addr = true, "0.0.0.0:0"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Listening = func(net.Addr) { t.Error("it listens"); cancel() }
	if err := server.Run(ctx, c); err == nil || !strings.Contains(err.Error(), "not a loopback address") {
		t.Errorf("the error is %v", err)
	}
}
