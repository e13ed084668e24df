package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/internal/system/cores"
	"github.com/bgremove/bgremove/pkg/api"
)

// poor is the answer to a submission that an account's credits do not suffice
// for.
func poor(credits int64) string {
	return fmt.Sprintf(`{"creditsRemaining":%d,"error":"insufficient_credits"}`, credits)
}

func TestInsufficientCredits(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	credits := min(price.OfSeconds(5.02), 2*price.Least) - 1
	who := s.user("ada@example.com", credits)
	c := s.client(s.key(who))
	long := fileField("a.gif", clip(t, 2, 251)) // 5.02 s
	c.submit(jobs, []field{long}).want(t, http.StatusPaymentRequired, poor(credits))
	short := fileField("a.gif", clip(t, 2, 10))
	c.submit(batches, []field{short, short}).want(t, http.StatusPaymentRequired, poor(credits))
	if kept := s.objects(); kept != 0 {
		t.Errorf("%d objects are kept", kept)
	}
	decode[api.JobCreated](t, c.submit(jobs, []field{short}), http.StatusAccepted)
}

// prober stands in for the real one, to observe and hold measurements.
type prober func(ctx context.Context, path string) (job.Media, error)

func (p prober) Probe(ctx context.Context, path string, _ job.Limits) (job.Media, error) {
	return p(ctx, path)
}

func (p prober) Check(context.Context, job.Options) error { return nil }

// TestPoor checks that an account without enough credits for any job learns so
// before a file is kept or measured. Mistakes in the form come first.
func TestPoor(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *httpapi.Config) {
		c.Prober = prober(func(context.Context, string) (job.Media, error) {
			t.Error("a file is measured")
			return job.Media{}, nil
		})
	})
	c := s.client(s.key(s.user("ada@example.com", price.Least-1)))
	file := fileField("a.gif", []byte("not even a clip"))
	c.submit(jobs, []field{file}).want(t, http.StatusPaymentRequired, poor(price.Least-1))
	c.submit(jobs, []field{file, {"pad", "", "51"}}).wantStatus(t, http.StatusBadRequest)
	c.submit(jobs, []field{fileField("a.txt", nil)}).wantStatus(t, http.StatusBadRequest)
	more := s.client(s.key(s.user("bob@example.com", 2*price.Least-1)))
	more.submit(batches, []field{file, file}).want(t, http.StatusPaymentRequired, poor(2*price.Least-1))
	if kept := s.objects(); kept != 0 {
		t.Errorf("%d objects are kept", kept)
	}
}

// TestSuspendedMeanwhile checks that an account that is suspended while its file is measured
// is not charged, and that its file is not kept.
func TestSuspendedMeanwhile(t *testing.T) {
	t.Parallel()
	var suspend func() error
	s := start(t, func(c *httpapi.Config) {
		c.Prober = prober(func(context.Context, string) (job.Media, error) {
			return job.Media{FrameCount: 1, Width: 1, Height: 1, Duration: time.Second}, suspend()
		})
	})
	who := s.user("ada@example.com", price.Least)
	suspend = func() error { return s.accounts.Suspend(context.Background(), who.ID) }
	s.client(s.key(who)).submit(jobs, []field{fileField("a.gif", []byte("a clip"))}).want(t, http.StatusForbidden, `{"error":"suspended"}`)
	if left, kept := s.balance(who), s.objects(); left != price.Least || kept != 0 {
		t.Errorf("%d credits are left and %d objects are kept", left, kept)
	}
}

// TestProbesTakeTurns checks that an account with many uploads leaves places
// for others.
func TestProbesTakeTurns(t *testing.T) {
	t.Parallel()
	var held sync.WaitGroup // files of ada under measurement
	release := make(chan struct{})
	s := start(t, func(c *httpapi.Config) {
		c.Prober = prober(func(_ context.Context, path string) (job.Media, error) {
			content, err := os.ReadFile(path)
			if string(content) == "slow" {
				held.Done()
				<-release
			}
			return job.Media{FrameCount: 1, Width: 1, Height: 1, Duration: time.Second}, err
		})
	})
	slow, quick := s.client(s.key(s.user("ada@example.com", 900))), s.client(s.key(s.user("bob@example.com", 900)))
	places := max(1, cores.Count()) // half of all places
	held.Add(places)
	var sent sync.WaitGroup
	for range places {
		sent.Go(func() {
			slow.submit(jobs, []field{fileField("a.gif", []byte("slow"))}).wantStatus(t, http.StatusAccepted)
		})
	}
	held.Wait()
	held.Add(places)
	for range places { // these wait
		sent.Go(func() {
			slow.submit(jobs, []field{fileField("a.gif", []byte("slow"))}).wantStatus(t, http.StatusAccepted)
		})
	}
	quick.submit(jobs, []field{fileField("b.gif", []byte("quick"))}).wantStatus(t, http.StatusAccepted)
	close(release)
	sent.Wait()
}
