package client_test

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/client"
)

// TestService uses a real service: a job, a batch with a file that is not a
// clip, and their prices.
func TestService(t *testing.T) {
	t.Parallel()
	s := start(t, 9)
	c := quick(t, s.url, s.key)
	made, err := c.Submit(t.Context(), numbered(t, 1), client.JobOptions{OutputFormat: "apng"})
	if err != nil || made.CreditsRemaining != 6 {
		t.Fatalf("%+v, %v", made, err)
	}
	var seen []api.JobStatus
	job, err := c.Wait(t.Context(), made.ID, func(j client.Job) { seen = append(seen, j.Status) })
	if err != nil || job.Status != api.JobStatusDone || len(seen) == 0 || seen[len(seen)-1] != api.JobStatusDone {
		t.Errorf("%+v, %v, seen %v", job, err, seen)
	}
	var preview bytes.Buffer
	if _, err := c.Preview(t.Context(), made.ID, &preview); err != nil {
		t.Error(err)
	}
	if _, err := png.Decode(&preview); err != nil {
		t.Error(err)
	}
	text := client.File{Name: "text.gif", Content: strings.NewReader("no clip")}
	if _, err := c.Submit(t.Context(), text, client.JobOptions{}); !errors.Is(err, client.ErrUnreadable) {
		t.Errorf("got %v", err)
	}
	var option *client.BadRequestError
	if _, err := c.Submit(t.Context(), numbered(t, 1), client.JobOptions{Tolerance: 7}); !errors.As(err, &option) || option.Field != "tolerance" {
		t.Errorf("got %v", err)
	}
	both, err := c.SubmitBatch(t.Context(), []client.File{numbered(t, 2), text}, client.JobOptions{})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := c.WaitBatch(t.Context(), both.ID, nil)
	if err != nil || batch.Status != api.BatchStatusPartial || batch.Jobs[0].Status != api.JobStatusDone {
		t.Errorf("%+v, %v", batch, err)
	}
	var gone *client.JobFailedError
	if _, err := c.Wait(t.Context(), both.Jobs[1].ID, nil); !errors.As(err, &gone) || gone.Code != "unreadable_file" {
		t.Errorf("got %v", err)
	}
	var poor *client.InsufficientCreditsError
	if _, err := c.SubmitBatch(t.Context(), []client.File{numbered(t, 3), numbered(t, 4)}, client.JobOptions{}); !errors.As(err, &poor) || poor.CreditsRemaining != 3 {
		t.Errorf("got %v", err)
	}
	if left := s.balance(t); left != 3 {
		t.Errorf("%d credits are left", left)
	}
}

// says is an answer as JSON.
type says struct {
	status     int
	body       string
	retryAfter string
}

// canned gives each request the next answer, and repeats the last one.
type canned struct {
	answers []says
	asked   []time.Duration // since the first
	first   time.Time
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.first.IsZero() {
		c.first = time.Now()
	}
	c.asked = append(c.asked, time.Since(c.first))
	a := c.answers[0]
	if len(c.answers) > 1 {
		c.answers = c.answers[1:]
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", a.retryAfter)
	w.WriteHeader(a.status)
	_, _ = w.WriteString(a.body)
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

const (
	queued = `{"id":"job_1","status":"queued","outputFormat":"gif","metadata":{},"error":null}`
	done   = `{"id":"job_1","status":"done","outputFormat":"gif","metadata":{},"error":null}`
)

// TestPolling checks that jobs are polled about as often as documented, and
// that the service's wishes to wait are followed. Time is the bubble's.
func TestPolling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &canned{answers: []says{
			{200, queued, ""}, {200, queued, ""}, {200, queued, "40"},
			{429, `{"error":"rate_limited"}`, "100"}, {503, `{"error":"unavailable"}`, ""}, {200, done, ""},
		}}
		c, err := client.New("http://clips.example", "key", client.Options{HTTPClient: &http.Client{Transport: s}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(t.Context(), "job_1", nil); err != nil {
			t.Fatal(err)
		}
		var waits []time.Duration
		for i := range s.asked[1:] {
			waits = append(waits, s.asked[i+1]-s.asked[i])
		}
		within := [][2]time.Duration{
			{200 * time.Millisecond, 300 * time.Millisecond}, {300 * time.Millisecond, 450 * time.Millisecond}, {40 * time.Second, 40 * time.Second},
			{100 * time.Second, 100*time.Second + 200*time.Millisecond}, {500 * time.Millisecond, time.Second},
		}
		for i, w := range within {
			if waits[i] < w[0] || waits[i] > w[1] {
				t.Errorf("wait %d is %v, want %v", i, waits[i], w)
			}
		}
	})
}

// TestUnknownStatus checks that a status of a newer service ends the wait, and is not
// taken for success.
func TestUnknownStatus(t *testing.T) {
	t.Parallel()
	c := quick(t, answering(t, http.StatusOK, strings.Replace(done, "done", "archived", 1)), "key")
	job, err := c.Wait(t.Context(), "job_1", nil)
	var failed *client.JobFailedError
	if !errors.As(err, &failed) || job.Status != "archived" || *failed != (client.JobFailedError{ID: job.ID, Code: "archived"}) {
		t.Errorf("%+v, %v", job, err)
	}
}

// TestPatience checks that tries are bounded, and that the client does not wait
// for too long a Retry-After.
func TestPatience(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer says
		tries  int
		most   time.Duration
	}{
		"away":      {says{503, `{"error":"unavailable"}`, ""}, 8, 64 * time.Second},
		"asks long": {says{503, `{"error":"unavailable"}`, "301"}, 1, 0},
		"garbled":   {says{200, `{"id":"job_`, ""}, 8, 64 * time.Second},
		"for good":  {says{401, `{"error":"unauthorized"}`, ""}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &canned{answers: []says{test.answer}}
				c, err := client.New("http://clips.example", "key", client.Options{HTTPClient: &http.Client{Transport: s}})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.Batch(t.Context(), "batch_1"); err == nil {
					t.Error("no error")
				}
				if took := s.asked[len(s.asked)-1]; len(s.asked) != test.tries || took > test.most {
					t.Errorf("%d tries in %v", len(s.asked), took)
				}
			})
		})
	}
}

// TestDeadline checks that the end of a context ends a wait, and that the error
// names the last problem.
func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &canned{answers: []says{{429, `{"error":"rate_limited"}`, "60"}}}
		c, err := client.New("http://clips.example", "key", client.Options{HTTPClient: &http.Client{Transport: s}})
		if err != nil {
			t.Fatal(err)
		}
		cause := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, cause)
		defer cancel()
		if _, err := c.Wait(ctx, "job_1", nil); !errors.Is(err, cause) || !errors.As(err, new(*client.RateLimitedError)) {
			t.Errorf("got %v", err)
		}
	})
}
