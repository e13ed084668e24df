package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/api"
)

// eventsPath is the stream of an account.
const eventsPath = accountJobs + "/events"

// event is an event of a stream.
type event struct {
	id, name, data string
}

// job is the content of an event.
func (e event) job(t *testing.T) (j api.AccountJob) {
	t.Helper()
	if e.name != "job" {
		t.Fatalf("got %+v, want a job", e)
	}
	if err := json.Unmarshal([]byte(e.data), &j); err != nil {
		t.Fatal(err)
	}
	return j
}

// stream is an open stream.
type stream struct {
	*testing.T
	response *http.Response
	lines    *bufio.Scanner
	close    func()
}

// listen opens a stream in a browser. after is the last event of a returning
// EventSource, or empty.
func (c *client) listen(t *testing.T, after string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+eventsPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	browser := http.Client{Jar: c.http.Jar} // the checked one waits for the end
	response, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return &stream{t, response, bufio.NewScanner(response.Body), cancel}
}

// next returns the next event, or none if the stream has ended.
func (s *stream) next() (e event, comments int, ok bool) {
	s.Helper()
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if value != "" {
				comments++
			} else if e.name != "" {
				return e, comments, true
			}
		}
	}
	return e, comments, false
}

func (s *stream) must() event {
	s.Helper()
	e, _, ok := s.next()
	if !ok {
		s.Fatalf("the stream has ended: %v", s.lines.Err())
	}
	return e
}

// TestEvents follows a job in a browser, and again from each event.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 100)
	s.user("bob@example.com", 100)
	ada, bob := s.signedIn("ada@example.com"), s.signedIn("bob@example.com")
	live, other := ada.listen(t, ""), bob.listen(t, "")
	h := live.response.Header
	if live.response.StatusCode != http.StatusOK || h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("the stream is %d %v", live.response.StatusCode, h)
	}
	for _, s := range []*stream{live, other} {
		if e := s.must(); e != (event{"0", "ready", "{}"}) {
			t.Errorf("it begins with %+v", e)
		}
	}
	made := decode[api.JobsCreated](t, ada.submit(accountJobs, []field{fileField("a.gif", clip(t, 4, 10)), {name: "method", value: "fast"}}), http.StatusAccepted)
	s.work()
	self := accountJobs + "/" + made.Jobs[0].ID
	var all []event
	var states []string
	for len(all) == 0 || all[len(all)-1].job(t).Status != api.JobStatusDone {
		e := live.must()
		j := e.job(t)
		all, states = append(all, e), append(states, fmt.Sprint(e.id, j.Status, j.PreviewURL != nil, j.DownloadURL != nil, j.EndedAt != nil, j.Metadata.OutputSize != nil))
	}
	want := []string{
		"1queuedfalse false false false", "2processingfalse false false false", "3processingtrue false false false", "4donetrue true true true",
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	done := decode[api.AccountJob](t, ada.get(self), http.StatusOK)
	if diff := cmp.Diff(done, all[3].job(t)); diff != "" {
		t.Errorf("the last event is not the job (-job +event):\n%s", diff)
	}
	for after := range all {
		again := ada.listen(t, fmt.Sprint(after))
		for _, want := range all[after:] {
			if got := again.must(); got != want {
				t.Errorf("after %d came %+v, want %+v", after, got, want)
			}
		}
		again.close()
	}
	for _, after := range []string{"5", "x", "-1", "99999999999999999999"} {
		if e := ada.listen(t, after).must(); e != (event{"4", "reset", "{}"}) {
			t.Errorf("after %s comes %+v", after, e)
		}
	}
	other.close()
	if e, _, ok := other.next(); ok {
		t.Errorf("another account hears %+v", e)
	}
	if got := ada.do(http.MethodHead, eventsPath, nil); got.status != http.StatusOK || got.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %d %v", got.status, got.header)
	}
}

// TestEventsEnd checks that streams end with their session and when the service
// stops, and that they send signs of life until then.
func TestEventsEnd(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.KeepAlive = 20 * time.Millisecond })
	who := s.user("ada@example.com", 0)
	for name, end := range map[string]func(c *client){
		"signed out":            func(c *client) { c.do(http.MethodDelete, "/api/session", nil).want(t, http.StatusNoContent, "") },
		"signed out everywhere": func(c *client) { c.do(http.MethodDelete, "/api/sessions", nil).want(t, http.StatusNoContent, "") },
		"new password": func(*client) {
			if _, err := s.accounts.SetPassword(t.Context(), who.ID, password); err != nil {
				t.Error(err)
			}
		},
	} {
		c := s.signedIn("ada@example.com")
		live := c.listen(t, "")
		live.must()
		end(c)
		if e, comments, ok := live.next(); ok || live.lines.Err() != nil {
			t.Errorf("%s: came %+v after %d comments: %v", name, e, comments, live.lines.Err())
		}
	}
	c := s.signedIn("ada@example.com")
	live := c.listen(t, "")
	live.must()
	alive := time.AfterFunc(200*time.Millisecond, s.stopFeed)
	defer alive.Stop()
	whole := c.get(eventsPath) // checked against the specification
	if whole.status != http.StatusOK || !strings.HasPrefix(whole.body, "retry: 2000\n\nid: 0\nevent: ready\ndata: {}\n\n") {
		t.Errorf("a whole stream is %d %q", whole.status, whole.body)
	}
	if e, comments, ok := live.next(); ok || comments == 0 {
		t.Errorf("came %+v and %d comments", e, comments)
	}
	if strings.Contains(s.log.String(), "level=ERROR") {
		t.Error("streams that end are errors in the log")
	}
	if got := c.get(eventsPath); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("while it stops: %d %v", got.status, got.header)
	}
}

// TestEventsBegin checks that a resumed stream is open at once, even if nothing
// happens.
func TestEventsBegin(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) { c.KeepAlive = time.Hour })
	s.user("ada@example.com", 0)
	stream := s.signedIn("ada@example.com").listen(t, "0")
	if !stream.lines.Scan() || !strings.HasPrefix(stream.lines.Text(), "retry: ") {
		t.Errorf("it begins with %q", stream.lines.Text())
	}
}

func TestEventsBound(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	s.user("ada@example.com", 0)
	s.user("bob@example.com", 0)
	c := s.signedIn("ada@example.com")
	var open []*stream
	for range job.MaxFollowers {
		open = append(open, c.listen(t, ""))
		open[len(open)-1].must()
	}
	got := c.get(eventsPath)
	got.want(t, http.StatusTooManyRequests, `{"error":"rate_limited"}`)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.signedIn("bob@example.com").listen(t, "").must()
	open[0].close()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); {
		if again := c.listen(t, ""); again.response.StatusCode == http.StatusOK {
			return
		}
	}
	t.Error("a place that became free is not given")
}

// stub makes outputs at once.
type stub struct{}

func (stub) Process(_ context.Context, t job.Task) (job.Product, error) {
	preview, out := filepath.Join(t.Dir, "p.png"), filepath.Join(t.Dir, "out")
	for _, path := range []string{preview, out} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			return job.Product{}, err
		}
	}
	t.Preview(preview)
	return job.Product{Path: out}, nil
}

// TestManyStreams checks that each of 200 streams reports every state of every
// job of its account, while 50 jobs run.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	const accounts, streams, perAccount = 10, 20, 5
	s := startWith(t, job.Config{Unlimited: true}, nil)
	var listening, submitting sync.WaitGroup
	var browsers []*client
	for i := range accounts {
		email := fmt.Sprintf("user%d@example.com", i)
		s.user(email, 0)
		c := s.signedIn(email)
		browsers = append(browsers, c)
		for range streams {
			live := c.listen(t, "")
			live.must()
			listening.Go(func() {
				told := map[string]string{}
				for range 4 * perAccount {
					e, _, ok := live.next()
					if !ok {
						t.Errorf("a stream of %s has ended: %v", email, live.lines.Err())
						return
					}
					j := e.job(t)
					told[j.ID] += fmt.Sprint(j.Status, " ")
				}
				if len(told) != perAccount {
					t.Errorf("a stream of %s tells of %d jobs", email, len(told))
				}
				for id, states := range told {
					if states != "queued processing processing done " {
						t.Errorf("a stream of %s tells of %s: %s", email, id, states)
					}
				}
			})
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &job.Worker{Service: s.jobs, Processor: stub{}, TempDir: t.TempDir(), Slots: 8}
	var working sync.WaitGroup
	working.Go(func() {
		if err := w.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	content := fileField("a.gif", clip(t, 2, 10))
	for _, c := range browsers {
		submitting.Go(func() {
			for range perAccount {
				if got := c.submit(accountJobs, []field{content}); got.status != http.StatusAccepted {
					t.Errorf("a submission: %d %s", got.status, got.body)
				}
			}
		})
	}
	submitting.Wait()
	listening.Wait()
	stop()
	working.Wait()
}
