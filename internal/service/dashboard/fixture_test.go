package dashboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/internal/testlog"
)

const password = "correct horse"

// patience is the longest wait for something that the service does by itself.
const patience = 2 * time.Minute

// service is a complete node on files of its own, served as in production.
type service struct {
	testing.TB
	url string
	db  *store.DB
	log *testlog.Lines
}

// start runs a service until the test ends. change may change the defaults; it
// may be nil.
func start(t testing.TB, change func(*server.Config)) *service {
	t.Helper()
	dir := t.TempDir()
	s := &service{TB: t, log: &testlog.Lines{}}
	listening := make(chan struct{})
	c := server.DefaultConfig()
	c.Addr, c.Database, c.TempDir, c.Slots = "127.0.0.1:0", storetest.SQLite(t), filepath.Join(dir, "tmp"), 1
	c.Storage = (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "objects"))}).String()
	c.Engine.ModelsDir = filepath.Join(dir, "models")
	c.Engine.Library = filepath.Join(dir, "none") // whatever this machine has: see following
	c.Log = slog.New(slog.NewTextHandler(s.log, nil))
	c.Listening = func(at net.Addr) { s.url = "http://" + at.String(); close(listening) }
	if change != nil {
		change(&c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, c) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the service ended: %v", err)
		}
	})
	select {
	case <-listening:
	case err := <-ended:
		ended <- nil
		t.Fatalf("the service ended: %v", err)
	}
	s.db = storetest.Open(t, c.Database)
	return s
}

// user creates an account with credits.
func (s *service) user(email string, credits int64) account.Account {
	s.Helper()
	who, err := account.New(s.db).Register(s.Context(), email, password)
	if err == nil && credits > 0 {
		_, err = account.NewLedger(s.db).Grant(s.Context(), who.ID, credits, "welcome")
	}
	if err != nil {
		s.Fatal(err)
	}
	return who
}

// balance is an account's credits.
func (s *service) balance(who account.Account) int64 {
	s.Helper()
	now, err := account.New(s.db).Get(s.Context(), who.ID)
	if err != nil {
		s.Fatal(err)
	}
	return now.Credits
}

// person is a browser without scripts.
type person struct {
	testing.TB
	url string
	http.Client
}

func (s *service) person() *person {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &person{TB: s.TB, url: s.url, Client: http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedIn is a signed-in browser of an account.
func (s *service) signedIn(email string) *person {
	s.Helper()
	p := s.person()
	p.post("/signin", "email", email, "password", password).leads("/")
	return p
}

// page is an answer, read to its end.
type page struct {
	testing.TB
	status int
	header http.Header
	body   string
}

func (p *person) do(method, path, contentType string, body io.Reader, header ...string) page {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), method, p.url+path, body)
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := p.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		p.Fatal(err)
	}
	return page{p.TB, response.StatusCode, response.Header, string(got)}
}

func (p *person) get(path string, header ...string) page {
	p.Helper()
	return p.do(http.MethodGet, path, "", nil, header...)
}

// post sends a form of pairs of name and value.
func (p *person) post(path string, fields ...string) page {
	p.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return p.do(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// upload sends options and files. files alternates names and contents.
func (p *person) upload(path string, files []string, options ...string) page {
	p.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	var err error
	for i := 0; i+1 < len(files); i += 2 {
		w, e := form.CreateFormFile("file", files[i])
		if e != nil {
			p.Fatal(e)
		}
		_, e = io.WriteString(w, files[i+1])
		err = errors.Join(err, e)
	}
	for i := 0; i+1 < len(options); i += 2 {
		err = errors.Join(err, form.WriteField(options[i], options[i+1]))
	}
	if err = errors.Join(err, form.Close()); err != nil {
		p.Fatal(err)
	}
	return p.do(http.MethodPost, path, form.FormDataContentType(), &b)
}

// leads checks for a redirect by GET to a path.
func (p page) leads(path string) {
	p.Helper()
	if got := p.header.Get("Location"); p.status != http.StatusSeeOther || got != path {
		p.Errorf("it leads to %d %q, want %q: %.200s", p.status, got, path, p.body)
	}
}

// says checks that a page has a status and contains words.
func (p page) says(status int, words ...string) page {
	p.Helper()
	if p.status != status {
		p.Errorf("it is %d %s, want %d\n%s", p.status, p.header, status, text(p.body))
	}
	for _, w := range words {
		if !strings.Contains(p.body, w) {
			p.Errorf("it does not say %q:\n%s", w, text(p.body))
		}
	}
	return p
}

var markup = regexp.MustCompile(`(?s)<head>.*</head>|<[^>]*>|\s+`)

// text is roughly the visible text of a page.
func text(page string) string { return markup.ReplaceAllString(page, " ") }

// ended waits until a job has ended, and returns its state. It asks less often
// than an account may, for a job that takes long on a busy machine.
func (p *person) ended(id string) string {
	p.Helper()
	var j struct{ Status string }
	p.until("job "+id+" has ended", func() bool {
		got := p.get("/api/jobs/" + id)
		if err := json.Unmarshal([]byte(got.body), &j); err != nil || got.status != http.StatusOK {
			p.Fatalf("%d %s: %v", got.status, got.body, err)
		}
		return j.Status == "done" || j.Status == "failed"
	})
	return j.Status
}

// until waits until something is so.
func (p *person) until(something string, so func() bool) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	for tick := time.NewTicker(150 * time.Millisecond); !so(); <-tick.C {
		if ctx.Err() != nil {
			p.Fatalf("not within %s: %s", patience, something)
		}
	}
}

// hop makes a GIF of the sample clip: a figure on a flat backdrop.
var hop = sync.OnceValues(func() ([]byte, error) {
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hop")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "hop.gif")
	out, err := exec.Command(ffmpeg, "-v", "error", "-i", "../../../testdata/demo/hop.mp4", "-vf", "fps=12,scale=360:-1,split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", path).CombinedOutput()
	if err != nil {
		return nil, errors.New(string(out))
	}
	return os.ReadFile(path)
})

func clip(t testing.TB) []byte {
	t.Helper()
	content, err := hop()
	if err != nil {
		t.Fatal(err)
	}
	return content
}
