package job_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

var databases = []struct {
	name string
	url  func(testing.TB) string
}{{"sqlite", storetest.SQLite}, {"postgres", storetest.Postgres}}

// BenchmarkSubmit measures the transaction of a submission, with many at once
// for as many accounts.
func BenchmarkSubmit(b *testing.B) {
	for _, d := range databases {
		for _, accounts := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/%d accounts", d.name, accounts), func(b *testing.B) {
				x := newFixture(b, storetest.Open(b, d.url(b)), job.Config{})
				var owners []job.Owner
				for i := range accounts {
					owners = append(owners, x.account(fmt.Sprint(i), 1_000_000_000))
				}
				in := x.input("a.gif", 3)
				var n atomic.Int64
				b.SetParallelism(8)
				b.ResetTimer()
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						owner := owners[n.Add(1)%int64(accounts)]
						if _, err := x.Submit(context.Background(), x.submission(owner, in)); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
			})
		}
	}
}

// BenchmarkPickup measures the time from a submission to the start of its job,
// on an idle queue.
func BenchmarkPickup(b *testing.B) {
	for _, d := range databases {
		b.Run(d.name, func(b *testing.B) {
			x := newFixture(b, storetest.Open(b, d.url(b)), job.Config{Unlimited: true})
			begun := make(chan time.Time)
			stop := x.work(&job.Worker{Processor: processor(func(ctx context.Context, t job.Task) (job.Product, error) {
				begun <- time.Now()
				return echo(ctx, t)
			})})
			in := x.input("a.gif", 3)
			var waits []time.Duration
			for b.Loop() {
				at := time.Now()
				x.submit(x.owner, in)
				waits = append(waits, (<-begun).Sub(at))
				b.StopTimer()
				x.ended()
				b.StartTimer()
			}
			stop()
			slices.Sort(waits)
			for _, p := range []int{50, 99} {
				b.ReportMetric(float64(waits[(len(waits)-1)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
			}
		})
	}
}
