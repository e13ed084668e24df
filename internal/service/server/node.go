package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/deployment"
	"github.com/bgremove/bgremove/internal/service/editor"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/mailer"
	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/removal"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/webhook"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// sweepEvery is the interval of sweeps.
const sweepEvery = 5 * time.Minute

// node has the resources of a process of the service.
type node struct {
	config   Config
	db       *store.DB
	blobs    *blob.Store
	accounts *account.Accounts
	keys     *account.Keys
	sessions *account.Sessions
	limiter  *account.Limiter
	jobs     *job.Service
	webhooks *webhook.Service
	feed     *job.Feed
	engine   *bgremove.Remover
	remover  *removal.Remover
	editors  *editor.Editors
	metrics  *metrics
	local    *local           // nil: a service for others
	shop     *billing.Service // nil: nothing is sold
	mail     *httpapi.Mail    // nil: no mail is sent
	// fastOnly is set where a network cannot run.
	fastOnly bool
	// models are the networks that submissions may choose, and unguided those that follow
	// no hints; "" is that of submissions that choose none.
	models, unguided []string
}

func open(ctx context.Context, c Config) (_ *node, err error) {
	n := &node{config: c, metrics: newMetrics()}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	if n.db, err = store.OpenWith(ctx, c.Database, store.Options{Patience: c.Patience}); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if n.blobs, err = blob.Open(ctx, c.Storage, blob.Options{TempDir: c.TempDir, TempSpace: c.TempSpace, Reserve: c.Reserve}); err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	if err := deployment.Bind(ctx, n.db, n.blobs); err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	n.accounts, n.keys = account.New(n.db), account.NewKeys(n.db)
	n.sessions, n.limiter = account.NewSessions(n.db), account.NewLimiter(n.db)
	if c.Local {
		n.local = &local{accounts: n.accounts, token: newToken()}
		if _, err := n.local.account(ctx); err != nil {
			return nil, fmt.Errorf("database: %w", err)
		}
	}
	if err := n.openShop(); err != nil {
		return nil, err
	}
	c.Jobs.Log, c.Jobs.Observer = c.Log, n.metrics
	n.openWebhooks()
	c.Jobs.Ended = n.webhooks.Enqueue
	n.jobs = job.New(n.db, n.blobs, c.Jobs)
	n.feed = job.NewFeed(n.jobs)
	n.metrics.watchQueue(n.jobs, c.Log)
	n.metrics.watchDisk(n.blobs)
	if err := n.openEngine(ctx, engineConfig(c)); err != nil {
		return nil, err
	}
	n.openEditors()
	return n, n.checkNetwork(ctx)
}

// openEditors makes what shows what hints would make of clips.
func (n *node) openEditors() {
	c := editor.DefaultConfig()
	c.Blobs, c.Limiter, c.TimeLimit = n.blobs, n.limiter, n.config.Jobs.TimeLimit
	c.Study = func(ctx context.Context, path string, o job.Options, progress func(float64)) (editor.Clip, error) {
		clip, err := n.remover.Study(ctx, path, o, progress)
		if err != nil {
			return nil, err
		}
		return clip, nil
	}
	n.editors = editor.New(c)
}

// openWebhooks makes what tells others of the ends of jobs.
func (n *node) openWebhooks() {
	guard := outbound.Public()
	if n.config.PrivateWebhooks || n.config.Local {
		guard = outbound.Private()
	}
	n.webhooks = webhook.New(n.db, webhook.Config{
		Guard: guard, Log: n.config.Log,
		Body: func(ctx context.Context, accountID, jobID, event string) ([]byte, error) {
			j, err := n.jobs.Get(ctx, job.Owner{AccountID: accountID}, jobID)
			switch {
			case errors.Is(err, job.ErrNotFound):
				return nil, webhook.ErrGone
			case err != nil:
				return nil, err
			}
			return httpapi.WebhookBody(j, event)
		},
	})
}

// openShop makes what sells plans and what sends mails, where they are set up.
func (n *node) openShop() (err error) {
	c := n.config
	if c.Shop.Key != "" {
		c.Shop.DB, c.Shop.PublicURL, c.Shop.Log = n.db, c.PublicURL, c.Log
		if n.shop, err = billing.New(c.Shop); err != nil {
			return fmt.Errorf("prices: %w", err)
		}
	}
	if c.Mail.Server != nil {
		m, err := mailer.New(c.Mail)
		if err != nil {
			return fmt.Errorf("mail: %w", err)
		}
		n.mail = &httpapi.Mail{Mailer: m, Outbox: mailer.NewOutbox(m, c.Log), PublicURL: c.PublicURL}
	}
	return nil
}

// MaxFrames bounds the frames of a clip, which are counted before it is paid for.
const MaxFrames = 100_000

// engineConfig bounds what the content of strangers' files may demand.
func engineConfig(c Config) bgremove.Config {
	e := c.Engine
	e.TempDir = cmp.Or(e.TempDir, c.TempDir)
	e.Inputs = option.ServiceInputs()
	side := c.Limits.MaxDimension
	e.Limits = bgremove.Limits{MaxArea: int64(side) * int64(side), MaxFrames: MaxFrames, MaxPixels: c.Limits.MaxPixels}
	return e
}

// openEngine opens the library that removes backgrounds. If all parts of the
// sandbox work, they are required from then on: a child that does not start in
// it fails.
func (n *node) openEngine(ctx context.Context, c bgremove.Config) error {
	n.engine = bgremove.New(c)
	found := n.engine.DiagnoseFFmpeg(ctx)
	missing := found.Err()
	if missing != nil && n.config.Role == Worker {
		return missing // it would fail the jobs that others can do
	}
	if missing != nil {
		n.config.Log.WarnContext(ctx, "ffmpeg missing: no video on this node", "error", missing)
	}
	holds := missing == nil
	for _, check := range found.Checks {
		if check.Confines && !check.OK {
			holds = false
			n.config.Log.WarnContext(ctx, "ffmpeg not confined", "lacking", check.Name, "purpose", check.Detail, "reason", check.Err)
		}
	}
	if holds && c.Sandbox != bgremove.SandboxOff {
		c.Sandbox = bgremove.SandboxOn
		n.engine = bgremove.New(c)
	}
	n.remover = removal.New(n.engine)
	n.remover.Model = n.config.Model
	return nil
}

// checkNetwork says before anybody asks for it that a network cannot run.
func (n *node) checkNetwork(ctx context.Context) error {
	n.models = n.config.Models
	if n.config.Role == API {
		return nil // workers do it
	}
	err := n.engine.CanSegment(ctx, n.config.Model)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		n.config.Log.WarnContext(ctx, "neural network unavailable: method rembg refused, auto means fast", "error", err)
		n.fastOnly, n.remover.FastOnly, n.models = true, true, nil
	}
	for _, model := range n.models {
		if err := n.engine.CanSegment(ctx, model); err != nil {
			return fmt.Errorf("models: %s: %w", model, err)
		}
	}
	for _, model := range append([]string{""}, n.models...) {
		if n.engine.CanFollow(ctx, cmp.Or(model, n.config.Model)) != nil {
			n.unguided = append(n.unguided, model)
		}
	}
	return nil
}

// readyTimeout is how long the database and the storage may take to answer.
const readyTimeout = 2 * time.Second

// ready reports whether requests can be served.
func (n *node) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return errors.Join(n.db.PingContext(ctx), n.blobs.Ping(ctx), n.blobs.Room())
}

// sweep removes sessions, tokens, deliveries, events of Stripe and buckets of the rate
// limit that have expired, until ctx ends.
func (n *node) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		_, sessions := n.sessions.Sweep(ctx)
		_, buckets := n.limiter.Sweep(ctx)
		_, tokens := n.accounts.SweepTokens(ctx)
		_, deliveries := n.webhooks.Sweep(ctx)
		var events error
		if n.shop != nil {
			_, events = n.shop.Sweep(ctx)
		}
		if err := errors.Join(sessions, buckets, tokens, deliveries, events); err != nil && ctx.Err() == nil {
			n.config.Log.ErrorContext(ctx, "cleanup failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (n *node) close() error {
	var errs []error
	if n.editors != nil {
		errs = append(errs, n.editors.Close())
	}
	if n.engine != nil {
		errs = append(errs, n.engine.Close())
	}
	if n.blobs != nil {
		errs = append(errs, n.blobs.Close())
	}
	if n.db != nil {
		errs = append(errs, n.db.Close())
	}
	return errors.Join(errs...)
}
