package server

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
)

// metrics are a node's numbers for Prometheus. It is a job.Observer.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	wait     prometheus.Histogram
	stages   *prometheus.HistogramVec
	running  *prometheus.HistogramVec
	credits  *prometheus.CounterVec
	sweeps   *prometheus.CounterVec
	swept    prometheus.Gauge
}

// Seconds, from a poll to a long video.
var (
	requestBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60}
	jobBuckets     = []float64{.005, .025, .1, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800}
)

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bgremove_http_request_seconds",
			Help: "Time to answer HTTP requests.", Buckets: requestBuckets}, []string{"route", "status"}),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bgremove_job_wait_seconds",
			Help: "Time from a job's submission to its claim by a worker.", Buckets: jobBuckets}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bgremove_job_stage_seconds",
			Help: "Time of each stage of a job, busy time of all cores where a stage has several.", Buckets: jobBuckets}, []string{"stage"}),
		running: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bgremove_job_run_seconds",
			Help: "Time that attempts at jobs ran, by outcome.", Buckets: jobBuckets}, []string{"outcome"}),
		credits: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bgremove_credits_total",
			Help: "Credits charged and refunded by this node."}, []string{"kind"}),
		sweeps: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bgremove_sweeps_total",
			Help: "Sweeps of expired data, by whether they removed all of it."}, []string{"outcome"}),
		swept: prometheus.NewGauge(prometheus.GaugeOpts{Name: "bgremove_sweep_complete_time_seconds",
			Help: "When this node's last complete sweep ended, in seconds since 1970."}),
	}
	m.registry.MustRegister(m.requests, m.wait, m.stages, m.running, m.credits, m.sweeps, m.swept,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.begin()
	return m
}

// stripeRoute is the label of the requests of Stripe's webhooks.
const stripeRoute = "POST /api/stripe/webhook"

// begin lets the series that alerts count begin at 0: Prometheus sees no increase in one
// that begins with its first event.
func (m *metrics) begin() {
	m.running.WithLabelValues("lost")
	for _, status := range []int{http.StatusBadRequest, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		m.requests.WithLabelValues(stripeRoute, strconv.Itoa(status))
	}
	for _, kind := range []account.Kind{account.Charge, account.Refund} {
		m.credits.WithLabelValues(string(kind))
	}
	for _, outcome := range []string{"complete", "incomplete"} {
		m.sweeps.WithLabelValues(outcome)
	}
}

// Claimed implements job.Observer.
func (m *metrics) Claimed(wait time.Duration) { m.wait.Observe(wait.Seconds()) }

// Stage implements job.Observer.
func (m *metrics) Stage(name string, took time.Duration) {
	m.stages.WithLabelValues(name).Observe(took.Seconds())
}

// Ended implements job.Observer.
func (m *metrics) Ended(outcome string, ran time.Duration) {
	m.running.WithLabelValues(outcome).Observe(ran.Seconds())
}

// Credits implements job.Observer.
func (m *metrics) Credits(kind account.Kind, amount int64) {
	m.credits.WithLabelValues(string(kind)).Add(float64(amount))
}

// Swept implements job.Observer.
func (m *metrics) Swept(done job.Swept, err error) {
	if err != nil {
		m.sweeps.WithLabelValues("incomplete").Inc()
		return
	}
	m.sweeps.WithLabelValues("complete").Inc()
	m.swept.SetToCurrentTime()
}

// request is called for each HTTP request that was answered.
func (m *metrics) request(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// gauge adds a number that is asked for when it is read.
func (m *metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// watchDisk adds the free space of this node's disks.
func (m *metrics) watchDisk(blobs *blob.Store) {
	m.gauge("bgremove_disk_free_bytes", "Free space on the disk of the storage, or of temporary files with S3; -1 if unknown.", func() float64 {
		n, err := blobs.Free()
		if err != nil {
			return -1
		}
		return float64(n)
	})
}

// watchUploads adds what this node does for requests that are not paid for yet.
func (m *metrics) watchUploads(load func() httpapi.Load) {
	m.gauge("bgremove_probes_waiting", "Uploaded files waiting to be measured.",
		func() float64 { return float64(load().WaitingProbes) })
	m.gauge("bgremove_upload_bytes", "Bytes of uploads in progress that are not charged yet.",
		func() float64 { return float64(load().Uploading) })
}

// watchQueue adds the queue of all nodes, which is asked for when it is read.
func (m *metrics) watchQueue(jobs *job.Service, log *slog.Logger) {
	m.registry.MustRegister(&queue{
		jobs: jobs, log: log,
		depth:  prometheus.NewDesc("bgremove_jobs", "Jobs of all nodes that have not ended.", []string{"state"}, nil),
		oldest: prometheus.NewDesc("bgremove_jobs_oldest_wait_seconds", "How long the oldest queued job has waited.", nil, nil),
	})
}

// queue is a prometheus.Collector.
type queue struct {
	jobs          *job.Service
	log           *slog.Logger
	depth, oldest *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (q *queue) Describe(to chan<- *prometheus.Desc) { to <- q.depth; to <- q.oldest }

// statsTimeout bounds how long a reader of the metrics waits for the database.
const statsTimeout = 2 * time.Second

// Collect implements prometheus.Collector. While the database is away the
// queue's numbers are missing.
func (q *queue) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout) // Prometheus passes none
	defer cancel()
	s, err := q.jobs.Stats(ctx)
	if err != nil {
		q.log.Warn("count queue", "error", err)
		return
	}
	to <- prometheus.MustNewConstMetric(q.depth, prometheus.GaugeValue, float64(s.Queued), string(job.Queued))
	to <- prometheus.MustNewConstMetric(q.depth, prometheus.GaugeValue, float64(s.Running), string(job.Processing))
	to <- prometheus.MustNewConstMetric(q.oldest, prometheus.GaugeValue, s.OldestWait.Seconds())
}
