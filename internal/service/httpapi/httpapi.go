// Package httpapi serves the HTTP API of pkg/api: it reads requests, calls
// account, job and blob, and writes their results.
//
// A request passes Handler (request id, log, deadlines, panics), the mux, guard
// (identity, rate, volume), and then one method of operations for each
// operation of the specification. Methods return errors; the table refusals
// turns these into a status and a body.
package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"net/http"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/internal/service/webhook"
	"github.com/bgremove/bgremove/internal/system/cores"
	"github.com/bgremove/bgremove/pkg/api"
)

// Prober describes uploads; *removal.Remover is one.
type Prober interface {
	// Check refuses options that cannot be done, by an *option.Error, before any
	// file is measured.
	Check(ctx context.Context, o job.Options) error
	// Probe describes the clip at path. The error is job.ErrUnreadable,
	// wrapped, a *job.LimitError, or of the machine.
	Probe(ctx context.Context, path string, l job.Limits) (job.Media, error)
}

// Config is what an API works on. All pointers but FileURLs, Shop, Mail and Log are
// needed. Numbers that are zero have the values of DefaultConfig.
type Config struct {
	Accounts *account.Accounts
	Keys     *account.Keys
	Ledger   *account.Ledger
	Sessions *session.Manager
	// Throttle bounds failed authentication and sign-in.
	Throttle *session.Throttle
	Limiter  *account.Limiter
	Jobs     *job.Service
	Feed     *job.Feed
	Blobs    *blob.Store
	Prober   Prober
	Webhooks *webhook.Service
	// FileURLs decides where files are fetched from; nil: none are.
	FileURLs *outbound.Guard
	// Shop sells plans; nil: nothing is sold.
	Shop *billing.Service
	// Mail sends mails; nil: none are sent, and addresses are believed.
	Mail *Mail

	// Limits bound the clips that are taken.
	Limits job.Limits
	// MaxFile is the largest file that is taken, in bytes. A size that cannot be counted
	// for a batch means the largest that can.
	MaxFile int64
	// UploadSpace is how many bytes of uploads may be on their way, of all
	// accounts; an account may send one batch at a time. It is at least a batch.
	UploadSpace int64
	// Rate bounds the requests of a key.
	Rate account.Rate
	// SignUp lets everyone register.
	SignUp bool
	// WithoutNetwork refuses method rembg, for which this service lacks a
	// runtime or a model.
	WithoutNetwork bool
	// Models are the networks that a submission may choose.
	Models []string
	// Unguided are the networks that follow no hints; "" is that of submissions that
	// choose none.
	Unguided []string
	// MaxUpload is how long a request may send, at any rate: that of the
	// job.Config of Jobs.
	MaxUpload time.Duration
	// Stall is how long a client may neither send nor take anything.
	Stall time.Duration
	// KeepAlive is the interval between signs of life in an idle stream of
	// events.
	KeepAlive time.Duration
	// Ready says whether requests can be served; its error is logged.
	Ready func(context.Context) error
	// NotFound, if set, answers people for a page that mux does not know;
	// others get JSON.
	NotFound http.Handler
	// Observe, if set, gets each finished request: the pattern of its route,
	// empty if it has none, the status, and its duration.
	Observe func(pattern string, status int, took time.Duration)
	// Log gets a line for each request and each error of the service; nil
	// discards them.
	Log *slog.Logger
}

// DefaultConfig has the default of each number and time.
func DefaultConfig() Config {
	return Config{
		MaxFile: 200e6, UploadSpace: 20e9, Rate: account.Rate{PerMinute: 120, Burst: 60},
		MaxUpload: job.DefaultConfig().MaxUpload(), Stall: 30 * time.Second, KeepAlive: 15 * time.Second,
	}
}

// countable is the largest MaxFile: the longest body of a batch fits in 64 bits.
const countable = (math.MaxInt64 - maxForm) / MaxFiles

func (c Config) withDefaults() Config {
	d := DefaultConfig()
	c.MaxFile, c.UploadSpace, c.Rate = min(cmp.Or(c.MaxFile, d.MaxFile), countable), cmp.Or(c.UploadSpace, d.UploadSpace), cmp.Or(c.Rate, d.Rate)
	c.MaxUpload, c.Stall, c.KeepAlive = cmp.Or(c.MaxUpload, d.MaxUpload), cmp.Or(c.Stall, d.Stall), cmp.Or(c.KeepAlive, d.KeepAlive)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// API is the handlers of one service. It is safe for concurrent use.
type API struct {
	Config
	probes  *fairSemaphore // bounds the files that are measured at once
	fetcher *fetcher       // nil where no files are fetched
	uploads *uploadQuota
}

// Load is a node's work for requests that are not charged yet.
type Load struct {
	WaitingProbes int64 // files that wait to be measured
	Uploading     int64 // bytes of uploads on their way
}

// Load is that of now.
func (a *API) Load() Load {
	return Load{WaitingProbes: a.probes.waiting.Load(), Uploading: a.uploads.inUse()}
}

// New makes an API.
func New(c Config) *API {
	c = c.withDefaults()
	batch := MaxFiles * c.MaxFile
	return &API{
		Config: c, probes: newFairSemaphore(2 * cores.Count()), fetcher: newFetcher(c),
		uploads: newUploadQuota(max(c.UploadSpace, batch), batch, c.Blobs.Room),
	}
}

// Register adds the operations of the specification to mux. They need what
// Handler puts around them.
func (a *API) Register(mux *http.ServeMux) {
	strict := api.NewStrictHandlerWithOptions(operations{a}, nil, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  a.refuseBody,
		ResponseErrorHandlerFunc: a.Refuse,
	})
	api.HandlerWithOptions(strict, api.StdHTTPServerOptions{
		BaseRouter:       mux,
		Middlewares:      []api.MiddlewareFunc{a.guard},
		ErrorHandlerFunc: a.refuseParameter,
	})
}

// operations has the methods of the specification. It is a separate type so
// that API exports only its own methods.
type operations struct{ *API }

var _ api.StrictServerInterface = operations{}
