package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
	"github.com/bgremove/bgremove/internal/service/webhook"
)

// TestSigned checks that the end of a job is sent to the account's webhook and to the
// submission's, each signed with the right secrets.
func TestSigned(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, x *fixture) {
		mine, one := receive(t, always(http.StatusOK)), receive(t, always(http.StatusNoContent))
		_, secret := x.create(ann, mine.URL)
		_, first := x.create(ann, "")
		_, second := x.create(ann, "")
		x.run(x.Service)
		id := x.end(ann, one.URL+"/hook?a=b")
		m := <-mine.got
		if err := verify(t, m, secret); err != nil || m.body != `POST {"type":"job.done","data":{"id":"`+id+`"}}` || m.header.Get("Content-Type") != "application/json" {
			t.Errorf("%v: %+v", err, m)
		}
		if verify(t, m, first) == nil {
			t.Error("the webhook's message is signed with another secret")
		}
		m = <-one.got
		if err := errors.Join(verify(t, m, first), verify(t, m, second)); err != nil {
			t.Error(err)
		}
		if verify(t, m, secret) == nil {
			t.Error("the submission's message is signed with a webhook's secret")
		}
		for _, which := range []string{"NULL", "NOT NULL"} {
			x.until(id, "endpoint_id IS "+which+" AND state = 'delivered' AND attempts = 1 AND error IS NULL AND ended_at IS NOT NULL")
		}
	})
}

// TestAgain checks that a message that was refused is sent again with the same id,
// also after its process has died, until it is given up, and on demand.
func TestAgain(t *testing.T) {
	t.Parallel()
	if day := webhook.Pauses(); day < 22*time.Hour || day > 24*time.Hour {
		t.Errorf("it is tried for %v", day)
	}
	each(t, func(t *testing.T, x *fixture) {
		r := receive(t, func(n int) int { return []int{500, 302, 200, 503, 410, 200}[n] })
		x.create(ann, r.URL)
		id := x.end(ann, "")
		x.exec("UPDATE webhook_deliveries SET attempts = 1, next_at = now_ms() - 1") // its process died while it was sent
		x.run(x.Service)
		d := x.until(id, "status = 500")
		if pause := time.Until(d.NextAt); d.State != webhook.Waiting || d.Attempts != 2 || d.Error != "it answered 500" || pause < 20*time.Second {
			t.Errorf("after 500: %+v", d)
		}
		if err := x.Redeliver(context.Background(), ann, d.ID); err != nil { // now, and not later
			t.Fatal(err)
		}
		if d = x.until(id, "status = 302"); d.Attempts != 3 {
			t.Errorf("after a redirect: %+v", d)
		}
		x.exec("UPDATE webhook_deliveries SET next_at = 0")
		x.until(id, "state = 'delivered'")
		if err := x.Redeliver(context.Background(), ann, d.ID); err != nil {
			t.Fatal(err)
		}
		x.until(id, "status = 503 AND attempts = 1")
		x.exec("UPDATE webhook_deliveries SET next_at = 0")
		if d := x.until(id, "state = 'failed'"); d.Status != http.StatusGone {
			t.Errorf("after 410: %+v", d)
		}
		if err := x.Redeliver(context.Background(), ann, d.ID); err != nil {
			t.Fatal(err)
		}
		x.until(id, "state = 'delivered'")
		for range 6 {
			if m := <-r.got; m.header.Get("webhook-id") != d.ID {
				t.Errorf("it has the id %s, not %s", m.header.Get("webhook-id"), d.ID)
			}
		}
		for _, strange := range []string{"acc_bob", ""} {
			if err := x.Redeliver(context.Background(), strange, d.ID); !errors.Is(err, webhook.ErrNotFound) {
				t.Errorf("a stranger: %v", err)
			}
		}
	})
}

// TestGivenUp checks that a message is given up after a day, and when its webhook is
// removed.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, x *fixture) {
		r := receive(t, always(http.StatusInternalServerError))
		endpoint, _ := x.create(ann, r.URL)
		id := x.end(ann, "")
		x.exec("UPDATE webhook_deliveries SET attempts = $1", webhook.Attempts-1)
		x.run(x.Service)
		x.until(id, "state = 'failed' AND status = 500")
		id = x.end(ann, "")
		x.until(id, "status = 500")
		if err := x.Delete(context.Background(), "acc_bob", endpoint.ID); !errors.Is(err, webhook.ErrNotFound) {
			t.Errorf("a stranger: %v", err)
		}
		if err := x.Delete(context.Background(), ann, endpoint.ID); err != nil {
			t.Fatal(err)
		}
		d := x.until(id, "state = 'failed'")
		if err := x.Redeliver(context.Background(), ann, d.ID); !errors.Is(err, webhook.ErrNotFound) {
			t.Errorf("to a removed webhook: %v", err)
		}
		x.end(ann, "")
		if all, err := x.Deliveries(context.Background(), ann, "", 10); err != nil || len(all) != 2 {
			t.Errorf("%d deliveries, %v", len(all), err)
		}
	})
}

// Old deliveries are removed, but none that is to be sent again.
func TestSweep(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, x *fixture) {
		x.create(ann, "https://example.com/hook")
		old, again, young := x.end(ann, ""), x.end(ann, ""), x.end(ann, "")
		x.exec("UPDATE webhook_deliveries SET state = 'failed', ended_at = created_at")
		x.exec("UPDATE webhook_deliveries SET created_at = created_at - $1 WHERE job_id IN ($2, $3)", (31 * 24 * time.Hour).Milliseconds(), old, again)
		if err := x.Redeliver(t.Context(), ann, x.delivery(again).ID); err != nil {
			t.Fatal(err)
		}
		if n, err := x.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("%d removed, %v", n, err)
		}
		for id, want := range map[string]string{old: "", again: again, young: young} {
			if got := x.delivery(id).JobID; got != want {
				t.Errorf("%s is %q, want %q", id, got, want)
			}
		}
	})
}

// TestSlow checks that slow endpoints of one account do not delay another's messages,
// and that they count as failed in the end.
func TestSlow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, x *fixture) {
		release := make(chan struct{})
		slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		t.Cleanup(slow.Close)
		t.Cleanup(func() { close(release) })
		quick := receive(t, always(http.StatusOK))
		x.account("acc_bob")
		x.create("acc_bob", slow.URL)
		x.create(ann, quick.URL)
		for range 40 {
			x.end("acc_bob", "")
		}
		x.run(x.Service)
		x.until(x.end(ann, ""), "state = 'delivered'")

		hasty := newFixtureOn(x)
		hasty.SetTimeout(50 * time.Millisecond)
		x.create(ann, "") // first, as a message without a secret is not sent
		id := x.end(ann, slow.URL)
		hasty.run(hasty.Service)
		x.exec("UPDATE webhook_deliveries SET next_at = 0 WHERE job_id = $1 AND endpoint_id IS NULL AND state = 'waiting'", id)
		x.until(id, "endpoint_id IS NULL AND error LIKE 'no answer within%'")
	})
}

// A message whose job cannot be read for now, as when a node stops, is sent later. One whose job is
// gone is not.
func TestJobCannotBeRead(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, x *fixture) {
		r := receive(t, always(http.StatusOK))
		x.create(ann, r.URL)
		for wrong, want := range map[error]webhook.Delivery{
			context.Canceled: {State: webhook.Waiting, Error: "the job could not be read"},
			webhook.ErrGone:  {State: webhook.Failed, Error: webhook.ErrGone.Error()},
		} {
			id := x.end(ann, "")
			stopping := webhook.New(x.db, webhook.Config{Guard: outbound.Private(), Body: func(context.Context, string, string, string) ([]byte, error) { return nil, wrong }})
			x.runUntil(stopping, id, "error IS NOT NULL")
			if d := x.delivery(id); d.State != want.State || d.Error != want.Error || d.Attempts != 1 {
				t.Errorf("%v: it is %s after %d attempts, %q; want %s, %q", wrong, d.State, d.Attempts, d.Error, want.State, want.Error)
			}
			if want.State == webhook.Waiting {
				x.exec("UPDATE webhook_deliveries SET next_at = 0 WHERE job_id = $1", id)
				x.runUntil(newService(x.db, true), id, "state = 'delivered'")
			}
		}
	})
}

// A message that cannot be signed is not told to have had no connection.
func TestCannotBeSigned(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, x *fixture) {
		x.create(ann, receive(t, always(http.StatusOK)).URL)
		x.exec("UPDATE webhook_endpoints SET secret = 'whsec_?'")
		id := x.end(ann, "")
		x.runUntil(newService(x.db, true), id, "error IS NOT NULL")
		if d := x.delivery(id); d.State != webhook.Waiting || d.Error != "the message could not be signed" {
			t.Errorf("it is %s, %q", d.State, d.Error)
		}
	})
}

// An attempt that the end of its process interrupts does not count, not as the last one either.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, x *fixture) {
		begun, release := make(chan struct{}, 1), make(chan struct{})
		slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			begun <- struct{}{}
			<-release
		}))
		t.Cleanup(slow.Close)
		t.Cleanup(func() { close(release) })
		x.create(ann, slow.URL)
		id := x.end(ann, "")
		x.exec("UPDATE webhook_deliveries SET attempts = $1", webhook.Attempts-1)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { x.Run(ctx) })
		<-begun
		stop()
		running.Wait()
		if d := x.delivery(id); d.State != webhook.Waiting || d.Attempts != int64(webhook.Attempts-1) || d.Error != "" || time.Until(d.NextAt) > 0 {
			t.Errorf("%+v", d)
		}
	})
}

// TestOnce checks that processes on one database send each message once, and prints
// how soon after the job's end.
func TestOnce(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		x := newFixture(t, storetest.Open(t, url), true)
		r := receive(t, always(http.StatusOK))
		x.create(ann, r.URL)
		x.run(x.Service, newService(storetest.Open(t, url), true), newService(storetest.Open(t, url), true))
		const jobs = 40
		ended := make(map[string]time.Time)
		var took []time.Duration
		for range jobs {
			before := time.Now()
			ended[x.end(ann, "")] = before
			time.Sleep(5 * time.Millisecond) // jobs end one after the other
		}
		seen := make(map[string]bool)
		for range jobs {
			m := <-r.got
			if id := m.header.Get("webhook-id"); seen[id] {
				t.Errorf("%s was sent twice", id)
			}
			seen[m.header.Get("webhook-id")] = true
			for id, at := range ended {
				if strings.Contains(m.body, `"`+id+`"`) {
					took = append(took, m.at.Sub(at))
				}
			}
		}
		for id := range ended {
			if d := x.until(id, "state = 'delivered'"); d.Attempts != 1 {
				t.Errorf("%+v", d)
			}
		}
		slices.Sort(took)
		t.Logf("from the job's end to its message: p50 %v, p95 %v of %d", took[len(took)/2], took[len(took)*95/100], len(took))
		select {
		case m := <-r.got:
			t.Errorf("one more: %+v", m)
		default:
		}
	})
}

// TestLimits checks how many webhooks an account may have, and that a webhookUrl needs
// a secret.
func TestLimits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, x *fixture) {
		const url = "https://example.com/hook"
		if err := x.CheckSubmission(t.Context(), ann, url); !errors.Is(err, webhook.ErrNoSecret) {
			t.Errorf("without a secret: %v", err)
		}
		var wait sync.WaitGroup
		for range webhook.MaxEndpoints + 5 {
			wait.Go(func() {
				if _, secret, err := x.Create(context.Background(), ann, ""); err != nil && !errors.Is(err, webhook.ErrTooMany) || err == nil && !strings.HasPrefix(secret, "whsec_") {
					t.Errorf("%q, %v", secret, err)
				}
			})
		}
		wait.Wait()
		if all, err := x.List(t.Context(), ann); err != nil || len(all) != webhook.MaxEndpoints {
			t.Errorf("%d, %v", len(all), err)
		}
		if err := x.CheckSubmission(t.Context(), ann, url); err != nil {
			t.Errorf("with a secret: %v", err)
		}
	})
}
