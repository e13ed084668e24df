package httpapi_test

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/pkg/api"
)

// quick is a service without limits, and a client without checks.
func quick(b *testing.B) *client {
	b.Helper()
	s := start(b, func(c *httpapi.Config) {
		c.Rate = account.Rate{PerMinute: 60_000_000, Burst: 1_000_000}
		c.Log = nil
	})
	c := s.client(s.key(s.user("ada@example.com", 1_000_000_000)))
	c.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return c
}

// BenchmarkStatus measures polls of one job by 16 clients.
func BenchmarkStatus(b *testing.B) {
	c := quick(b)
	made := decode[api.JobCreated](b, c.submit(jobs, []field{fileField("a.gif", clip(b, 2, 10))}), http.StatusAccepted)
	b.ReportAllocs()
	b.SetParallelism(16 / min(16, runtime.GOMAXPROCS(0)))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if got := c.get(made.Links.Self); got.status != http.StatusOK {
				b.Errorf("got %d %s", got.status, got.body)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "polls/s")
}

// BenchmarkSubmit measures submissions of a GIF of 200 kB by 16 clients.
func BenchmarkSubmit(b *testing.B) {
	c := quick(b)
	content := clip(b, 20, 10)
	content = append(content, make([]byte, 200_000-len(content))...)
	body, contentType := form(b, fileField("a.gif", content))
	b.ReportAllocs()
	b.SetParallelism(16 / min(16, runtime.GOMAXPROCS(0)))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if got := c.do(http.MethodPost, jobs, bytes.NewReader(body), "Content-Type", contentType); got.status != http.StatusAccepted {
				b.Errorf("got %d %s", got.status, got.body)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// zeros is an endless upload.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// BenchmarkUpload measures one upload of 200 MB and the growth of the heap,
// including the client's part. Zeros are refused after they have arrived.
func BenchmarkUpload(b *testing.B) {
	const size = 200e6 - 1000
	c := quick(b)
	frame, contentType := form(b, fileField("a.gif", []byte("|")))
	before, after, _ := bytes.Cut(frame, []byte("|"))
	var grown uint64
	for b.Loop() {
		runtime.GC()
		stop, peak := watch()
		body := io.MultiReader(bytes.NewReader(before), io.LimitReader(zeros{}, size), bytes.NewReader(after))
		got := c.do(http.MethodPost, jobs, body, "Content-Type", contentType)
		stop()
		if got.status != http.StatusUnprocessableEntity {
			b.Fatalf("got %d %s", got.status, got.body)
		}
		grown = max(grown, peak.Load())
	}
	b.SetBytes(size)
	b.ReportMetric(float64(grown)/1e6, "MB-grown")
}

// watch measures the rise of the used memory above its current amount.
func watch() (stop func(), peak *atomic.Uint64) {
	peak = &atomic.Uint64{}
	first := inUse()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			if now := inUse(); now > first {
				peak.Store(max(peak.Load(), now-first))
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(done); <-ended }, peak
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
