package client_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/pkg/client"
)

// trouble is a proxy that spoils a fifth of the answers at random. It spoils
// each of the first ones in a different way.
type trouble struct {
	proxy  *httputil.ReverseProxy
	mu     sync.Mutex
	dice   *rand.Rand
	counts map[string]int
}

func newTrouble(t *testing.T, service string, seed uint64) *trouble {
	t.Helper()
	target, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	return &trouble{
		proxy: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }},
		dice:  rand.New(rand.NewPCG(seed, 1)), counts: map[string]int{},
	}
}

// The ways to spoil an answer. In the last three the service has already done
// the work.
var spoilers = []string{"limited", "unavailable", "cut before", "cut after", "unavailable after", "truncated"}

func (p *trouble) pick() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.counts["answers"]
	p.counts["answers"]++
	how := spoilers[p.dice.IntN(len(spoilers))]
	if n < len(spoilers) {
		how = spoilers[n]
	} else if p.dice.Float64() >= 0.2 {
		return ""
	}
	p.counts[how]++
	return how
}

func (p *trouble) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	how := p.pick()
	switch how {
	case "":
		p.proxy.ServeHTTP(w, r)
		return
	case "limited":
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "rate_limited")
		return
	case "unavailable":
		refuse(w, http.StatusServiceUnavailable, "unavailable")
		return
	case "cut before":
		panic(http.ErrAbortHandler)
	}
	answer := httptest.NewRecorder()
	p.proxy.ServeHTTP(answer, r)
	switch how {
	case "cut after":
		panic(http.ErrAbortHandler)
	case "unavailable after":
		http.Error(w, "<html>bad gateway</html>", http.StatusBadGateway)
		return
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	body := answer.Body.Bytes()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body[:len(body)/2])
	panic(http.ErrAbortHandler)
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":%q}`, code)
}

// TestStorm checks that every submission over bad connections is done, is
// returned whole, and is charged exactly once.
func TestStorm(t *testing.T) {
	t.Parallel()
	const submissions, price = 200, 3
	s := start(t, submissions*price)
	p := newTrouble(t, s.url, 7)
	proxy := httptest.NewServer(p)
	t.Cleanup(proxy.Close)
	c := quick(t, proxy.URL, s.key, func(o *client.Options) { o.Tries, o.Poll = 20, 10*time.Millisecond })
	dir := t.TempDir()
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(16)
	ids := make([]string, submissions)
	for i := range submissions {
		file := numbered(t, i)
		g.Go(func() error {
			made, err := c.Submit(ctx, file, client.JobOptions{Method: "fast"})
			if err != nil {
				return err
			}
			ids[i] = made.ID
			if _, err := c.Wait(ctx, made.ID, nil); err != nil {
				return err
			}
			_, err = c.Download(ctx, made.ID, fmt.Sprintf("%s/%d.gif", dir, i), client.DownloadOptions{})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	var jobs, done, charges int
	if err := s.db.QueryRowContext(t.Context(), "SELECT count(*), sum(CASE WHEN state = 'done' THEN 1 ELSE 0 END) FROM jobs").Scan(&jobs, &done); err != nil {
		t.Fatal(err)
	}
	if err := s.db.QueryRowContext(t.Context(), "SELECT count(DISTINCT job_id) FROM ledger WHERE amount = -3").Scan(&charges); err != nil {
		t.Fatal(err)
	}
	different := map[string]bool{}
	for _, id := range ids {
		different[id] = true
	}
	if left := s.balance(t); jobs != submissions || done != submissions || charges != submissions || len(different) != submissions || left != 0 {
		t.Errorf("%d jobs, %d done, %d charged, %d ids, %d credits left", jobs, done, charges, len(different), left)
	}
	for _, how := range spoilers {
		if p.counts[how] == 0 {
			t.Errorf("nothing was %s", how)
		}
	}
	t.Logf("spoiled: %v", p.counts)
}
