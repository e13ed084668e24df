package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/internal/testlog"
	"github.com/bgremove/bgremove/pkg/api"
)

// configuration is a node with all roles, on files of its own, without a
// network.
func configuration(t *testing.T, database string) server.Config {
	t.Helper()
	dir := t.TempDir()
	c := server.DefaultConfig()
	c.Addr, c.Database, c.TempDir, c.Slots = "127.0.0.1:0", database, filepath.Join(dir, "tmp"), 2
	c.Storage = (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "objects"))}).String()
	c.Engine.ModelsDir = filepath.Join(dir, "models")
	c.Rate, c.AccountRate = account.Rate{PerMinute: 60_000, Burst: 10_000}, account.Rate{PerMinute: 60_000, Burst: 10_000}
	return c
}

// each runs a test on every database.
func each(t *testing.T, f func(t *testing.T, c server.Config)) {
	t.Helper()
	storetest.EachURL(t, func(t *testing.T, database string) { f(t, configuration(t, database)) })
}

// node is a running node.
type node struct {
	*testing.T
	url     string // of the API; empty for a worker
	metrics string // of the metrics, if they are enabled
	log     *testlog.Lines
	stop    func() error // tells it to stop, waits, and returns Run's error
}

// start runs a node until the test ends.
func start(t *testing.T, c server.Config) *node {
	t.Helper()
	n := &node{T: t, log: &testlog.Lines{}}
	c.Log = slog.New(slog.NewTextHandler(n.log, nil))
	listening := make(chan struct{}, 2)
	c.Listening = func(at net.Addr) { n.url = "http://" + at.String(); listening <- struct{}{} }
	c.MetricsListening = func(at net.Addr) { n.metrics = "http://" + at.String(); listening <- struct{}{} }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, c) }()
	n.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = n.stop() })
	for range listeners(c) {
		select {
		case <-listening:
		case err := <-ended:
			t.Fatalf("the node ended: %v", err)
		}
	}
	return n
}

// listeners is the number of addresses at which a node listens.
func listeners(c server.Config) (n int) {
	if c.Role != server.Worker {
		n++
	}
	if c.MetricsAddr != "" {
		n++
	}
	return n
}

// dial opens a connection to the API.
func (n *node) dial() (net.Conn, error) {
	return (&net.Dialer{}).DialContext(n.Context(), "tcp", strings.TrimPrefix(n.url, "http://"))
}

// refuses waits until a node refuses requests.
func (n *node) refuses() {
	n.Helper()
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		conn, err := n.dial()
		if err != nil {
			return
		}
		_ = conn.Close()
	}
}

// stopped stops a node and checks for a clean end.
func (n *node) stopped() {
	n.Helper()
	if err := n.stop(); err != nil {
		n.Errorf("the node ended: %v", err)
	}
}

// customer is an account with a key, on the database of a service.
type customer struct {
	*testing.T
	db  *store.DB
	id  string
	key string
	// cookie is the session cookie after signing in.
	cookie string
}

const password = "correct horse"

// newCustomer creates an account with credits.
func newCustomer(t *testing.T, database string, credits int64) *customer {
	t.Helper()
	c := &customer{T: t, db: storetest.Open(t, database)}
	who, err := account.New(c.db).Register(t.Context(), "ada@example.com", password)
	if err != nil {
		t.Fatal(err)
	}
	c.id = who.ID
	if credits > 0 {
		_, err = account.NewLedger(c.db).Grant(t.Context(), c.id, credits, "test")
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, c.key, err = account.NewKeys(c.db).Create(t.Context(), c.id, "test"); err != nil {
		t.Fatal(err)
	}
	return c
}

// credits is the balance, which must match the ledger.
func (c *customer) credits() int64 {
	c.Helper()
	if wrong, err := account.NewLedger(c.db).Verify(c.Context()); len(wrong) > 0 || err != nil {
		c.Errorf("the ledger does not add up: %+v %v", wrong, err)
	}
	who, err := account.New(c.db).Get(c.Context(), c.id)
	if err != nil {
		c.Fatal(err)
	}
	return who.Credits
}

// state is the address of a job's state.
func (c *customer) state(id string) (s job.State) {
	c.Helper()
	if err := c.db.QueryRowContext(c.Context(), "SELECT state FROM jobs WHERE id = $1", id).Scan(&s); err != nil {
		c.Fatal(err)
	}
	return s
}

// answer is an answer, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// is checks for a status and a body, without the final line end.
func (a answer) is(t *testing.T, status int, body string) {
	t.Helper()
	if a.status != status || strings.TrimSpace(a.body) != body {
		t.Errorf("got %d %s, want %d %s", a.status, a.body, status, body)
	}
}

// do sends a request with the customer's key and more headers, as pairs of
// name and value.
func (c *customer) do(method, url string, body io.Reader, header ...string) answer {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, url, body)
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	if c.cookie != "" {
		r.Header.Set("Cookie", c.cookie)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		c.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(got)}
}

// signIn also makes later requests use the session.
func (c *customer) signIn(n *node) {
	c.Helper()
	got := c.do(http.MethodPost, n.url+"/api/session", strings.NewReader(`{"email":"ada@example.com","password":"`+password+`"}`),
		"Content-Type", "application/json")
	got.is(c.T, http.StatusNoContent, "")
	for _, cookie := range got.header.Values("Set-Cookie") {
		if strings.HasPrefix(cookie, session.CookieName+"=") {
			c.cookie, _, _ = strings.Cut(cookie, ";")
		}
	}
}

func (c *customer) get(url string, header ...string) answer {
	c.Helper()
	return c.do(http.MethodGet, url, nil, header...)
}

// submit sends a clip with options, as pairs of name and value.
func (c *customer) submit(n *node, clip []byte, options ...string) answer {
	c.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	file, err := form.CreateFormFile("file", "clip.gif")
	if err != nil {
		c.Fatal(err)
	}
	_, err = file.Write(clip)
	for i := 0; i+1 < len(options); i += 2 {
		err = errors.Join(err, form.WriteField(options[i], options[i+1]))
	}
	if err = errors.Join(err, form.Close()); err != nil {
		c.Fatal(err)
	}
	return c.do(http.MethodPost, n.url+"/api/v1/jobs", &body, "Content-Type", form.FormDataContentType())
}

// submitted is the id of a job that must be accepted.
func (c *customer) submitted(n *node, clip []byte, options ...string) (id string) {
	c.Helper()
	got := c.submit(n, clip, options...)
	return decode[api.JobCreated](c.T, got, http.StatusAccepted).ID
}

// ended polls a job until it has ended.
func (c *customer) ended(n *node, id string) (j api.Job) {
	c.Helper()
	c.until("the job has ended", func() bool {
		j = decode[api.Job](c.T, c.get(n.url+"/api/v1/jobs/"+id), http.StatusOK)
		return j.Status == api.JobStatusDone || j.Status == api.JobStatusFailed
	})
	return j
}

// metrics polls the metrics at an address until they have a line.
func (c *customer) metrics(url, line string) (all string) {
	c.Helper()
	c.until("the metrics have "+line, func() bool {
		all = c.get(url + "/metrics").body
		return strings.Contains(all, line+"\n")
	})
	return all
}

// until waits for something that happens by itself.
func (c *customer) until(what string, so func() bool) {
	c.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); !so(); {
		select {
		case <-tick.C:
		case <-limit:
			c.Fatalf("after a minute it is not so that %s", what)
		}
	}
}

// decode decodes the JSON of an answer that must have a status.
func decode[T any](t *testing.T, a answer, status int) (v T) {
	t.Helper()
	if a.status != status {
		t.Fatalf("got %d %s, want %d", a.status, a.body, status)
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	return v
}

// clip is a GIF of a red square that moves over white, 0.4 s.
func clip(t *testing.T) []byte {
	t.Helper()
	palette := color.Palette{color.White, color.RGBA{200, 30, 30, 255}}
	g := gif.GIF{}
	for i := range 4 {
		p := image.NewPaletted(image.Rect(0, 0, 48, 40), palette)
		for y := 10; y < 30; y++ {
			for x := 8 + i; x < 24+i; x++ {
				p.SetColorIndex(x, y, 1)
			}
		}
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, 10)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
