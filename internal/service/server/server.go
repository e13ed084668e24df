// Package server runs a node of the service: it opens the node's resources,
// listens, works, and shuts down in order.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/dashboard"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/mailer"
	"github.com/bgremove/bgremove/internal/service/outbound"
	"github.com/bgremove/bgremove/internal/service/session"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Role is the task of a node.
type Role string

// The roles. Nodes of all three may share one database and storage.
const (
	All    Role = "all"    // API and Worker
	API    Role = "api"    // answers requests
	Worker Role = "worker" // runs jobs
)

// Config configures a node: start from DefaultConfig. Database and Storage are
// required, too.
type Config struct {
	Role Role
	// Addr is where the API listens; MetricsAddr, if set, is one more place
	// for /metrics, /healthz and /readyz, the only one of a worker.
	Addr, MetricsAddr string
	// Database and Storage are URLs, see store.Open and blob.Open. TempDir is
	// for uploads and running jobs; empty means the system's.
	Database, Storage, TempDir string
	// Patience is how long PostgreSQL may not answer, see store.Options.
	Patience time.Duration
	// TempSpace bounds local copies of objects on S3, in bytes. Reserve is what
	// must stay free on the disk for uploads to be taken. See blob.Options.
	TempSpace, Reserve int64

	Jobs job.Config
	// Limits bound the clips that are taken; Run sets their TimeLimit.
	Limits job.Limits
	// MaxFile is the largest file that is taken, and UploadSpace how much of
	// uploads may be on its way, in bytes.
	MaxFile, UploadSpace int64
	// Slots is how many jobs a worker runs at once. Drain is the time that they
	// get once it is told to stop.
	Slots int
	Drain time.Duration
	// SplitOver is the duration from which on workers do a clip in parts, see job.Worker.
	SplitOver time.Duration

	// Rate is of a key, AccountRate of an account by all its keys and browsers.
	Rate, AccountRate account.Rate
	SignUp            bool
	TrustedProxies    []netip.Prefix
	PublicURL         *url.URL

	// PrivateWebhooks lets webhooks go to addresses that are not public.
	PrivateWebhooks bool
	// FileURLs decides where the files are fetched from that submissions give by
	// address; nil: none are.
	FileURLs *outbound.Guard

	// Shop sells plans, if it has a Key: by that, WebhookSecret, Prices, API.
	Shop billing.Config
	// Mail sends mails, if it has a Server.
	Mail mailer.Config

	// Local serves the user of this machine: Addr and MetricsAddr are loopback
	// addresses, credits are unlimited, and a browser signs in by the address
	// that SignIn is called with. AnyPort takes a free port where that of Addr
	// is taken.
	Local, AnyPort bool
	// SignIn, if set, is called with the address by which a browser signs in. With
	// "&job=" and an id after it, the address leads to the page of a job.
	SignIn func(url string)
	// Finish, if set, lets the pages end the work on one clip.
	Finish *dashboard.Finish

	// Engine is what removes backgrounds, by Model where a network does, or by one of
	// Models that a submission chooses. Run sets its Limits.
	Engine bgremove.Config
	Model  string
	Models []string

	Log *slog.Logger
	// Listening and MetricsListening, if set, are called with the address of
	// the API and of the metrics once they listen there.
	Listening, MetricsListening func(net.Addr)
}

// DefaultConfig is a node of everything, with the defaults of all its parts.
func DefaultConfig() Config {
	disk, requests := blob.DefaultOptions(), httpapi.DefaultConfig()
	return Config{
		Role: All, Addr: "127.0.0.1:8080",
		Patience: store.DefaultOptions().Patience, TempSpace: disk.TempSpace, Reserve: disk.Reserve,
		Jobs: job.DefaultConfig(), Limits: job.DefaultLimits(), Slots: job.DefaultSlots(), Drain: job.DefaultDrain,
		MaxFile: requests.MaxFile, UploadSpace: requests.UploadSpace,
		Rate: requests.Rate, AccountRate: session.DefaultThrottle().Requests,
		Mail: mailer.DefaultConfig(), Engine: bgremove.Config{ChildLimits: childLimits(), ProbeLimits: probeLimits()},
	}
}

// childLimits bound ffmpeg at work for strangers. The job's limit bounds its
// time.
func childLimits() bgremove.ChildLimits {
	l := bgremove.DefaultChildLimits()
	l.CPU, l.FileSize = 4*time.Hour, 4<<30
	return l
}

// probeLimits bound ffprobe. The other defaults are for a sandbox of which all
// parts work.
func probeLimits() bgremove.ChildLimits {
	l := bgremove.DefaultProbeLimits()
	return bgremove.ChildLimits{CPU: l.CPU, Memory: l.Memory}
}

// Run runs a node until ctx ends: then it takes no more requests and jobs,
// gives those that run Drain to end, and returns nil.
func Run(ctx context.Context, c Config) error {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Local {
		c.Jobs.Unlimited = true
		c.AccountRate = account.Rate{PerMinute: account.MaxPerMinute, Burst: account.MaxPerMinute} // one's own machine
	}
	c.Limits.TimeLimit = c.Jobs.TimeLimit
	n, err := open(ctx, c)
	if err != nil && ctx.Err() != nil {
		return nil // told to stop before it started
	}
	if err != nil {
		return err
	}
	return errors.Join(n.run(ctx), n.close())
}

// run starts the parts of a node and waits for them. The first that fails ends
// the others.
func (n *node) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	if err := n.start(ctx, g); err != nil {
		g.Go(func() error { return err }) // started parts must end before their database closes
	}
	return g.Wait()
}

func (n *node) start(ctx context.Context, g *errgroup.Group) error {
	if n.config.Role != Worker {
		handler, err := n.handler(ctx)
		if err != nil {
			return err
		}
		served, end := context.WithCancel(context.WithoutCancel(ctx)) // until the last request has ended
		if err := n.listen(ctx, g, n.config.Addr, handler, n.listening, end); err != nil {
			end()
			return err
		}
		g.Go(func() error { return n.keys.Run(served) })
		g.Go(func() error { n.feed.Run(ctx); return nil })
		if n.mail != nil {
			g.Go(func() error { n.mail.Outbox.Run(served); return nil })
		}
	}
	if n.config.MetricsAddr != "" {
		if err := n.listen(ctx, g, n.config.MetricsAddr, n.operations(), n.config.MetricsListening, func() {}); err != nil {
			return err
		}
	}
	if n.config.Role != API {
		w := &job.Worker{Service: n.jobs, Processor: n.remover, Slots: n.config.Slots, Drain: n.config.Drain, SplitOver: n.config.SplitOver, TempDir: n.config.TempDir}
		g.Go(func() error { return w.Run(ctx) })
	}
	g.Go(func() error { n.webhooks.Run(ctx); return nil })
	g.Go(func() error { n.jobs.RunSweeper(ctx); return nil })
	g.Go(func() error { n.sweep(ctx); return nil })
	n.config.Log.InfoContext(ctx, "started", "role", n.config.Role)
	return nil
}

// Times that keep slow or idle clients from holding connections. Bodies have
// deadlines of their own, which move with the data.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
)

// ErrAddressInUse means that another program listens at an address.
var ErrAddressInUse = errors.New("the address is in use")

// bind listens at an address, which must be as near as the service is.
func (n *node) bind(ctx context.Context, addr string) (net.Listener, error) {
	if n.config.Local {
		if err := CheckLocal(addr); err != nil {
			return nil, err
		}
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if host, _, wrong := net.SplitHostPort(addr); err != nil && wrong == nil && n.config.AnyPort && addr == n.config.Addr {
		l, err = lc.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	return l, err
}

// listen serves h at addr until ctx ends and the requests under way have ended
// or Drain is over. Then it calls ended.
func (n *node) listen(ctx context.Context, g *errgroup.Group, addr string, h http.Handler, listening func(net.Addr), ended func()) error {
	l, err := n.bind(ctx, addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %w", addr, ErrAddressInUse)
	}
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(n.config.Log.Handler(), slog.LevelWarn),
	}
	g.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	g.Go(func() error {
		defer ended()
		<-ctx.Done()
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.config.Drain)
		defer cancel()
		if server.Shutdown(rest) != nil {
			_ = server.Close() // cuts off the remaining connections
		}
		return nil
	})
	if listening != nil {
		listening(l.Addr())
	}
	return nil
}

// listening announces the API's address.
func (n *node) listening(at net.Addr) {
	if n.config.Listening != nil {
		n.config.Listening(at)
	}
	if n.local != nil && n.config.SignIn != nil {
		n.config.SignIn(n.local.signInURL(at))
	}
}
