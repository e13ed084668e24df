package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/service/httpapi"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/server"
)

// serveOptions are the flags of serve that are not fields of the server's own
// types. The flags' defaults are those of Config.
type serveOptions struct {
	server.Config
	location
	shop                             shopOptions
	role, credits, signUp, logFormat string
	fileURLs                         string
	proxies                          []string
	publicURL                        string
	addrGiven                        bool
}

func (a *app) serveCommand() *cobra.Command {
	o := &serveOptions{Config: server.DefaultConfig()}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run the service: the HTTP job API and its workers",
		Long: `serve runs a node of the service. By default it does everything, with one SQLite
file and a folder of files. Nodes of --role api and worker share a PostgreSQL
database and S3 storage, or on one machine a data folder.

With --local it is for you alone: it listens on this machine only, needs no
account, charges nothing, and prints an address to open in a browser. That
address works once; start again for another.

SIGTERM lets running jobs end within --drain and gives the rest back.`,
		Example: `  bgremove serve --local
  bgremove serve
  bgremove serve --credits unlimited --addr :8080
  bgremove serve --role worker --database postgres://db/bgremove --storage 's3://clips?region=eu-central-1'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.addrGiven = cmd.Flags().Changed("addr")
			if err := errors.Join(o.check(), o.checkLocal(cmd.Flags()), a.checkDevice()); err != nil {
				return flags.Usage(cmd, err)
			}
			if err := o.setDefaults(); err != nil {
				return err
			}
			if err := o.createFolder(); err != nil {
				return err
			}
			return a.serve(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Addr, "addr", o.Addr, "listen at this `address`")
	f.BoolVar(&o.Local, "local", false, "for you alone: this machine only, no account, no credits")
	o.addFlags(f)
	o.addStorageFlag(f)
	f.StringVar(&o.role, "role", string(o.Role), "all, api or worker")
	f.StringVar(&o.credits, "credits", "metered", "metered or unlimited")
	f.StringVar(&o.signUp, "signup", "closed", "open lets everyone register; closed")
	o.jobFlags(f)
	o.limitFlags(f)
	f.StringSliceVar(&o.proxies, "trusted-proxies", nil, "`networks` whose X-Forwarded-For is believed, such as 10.0.0.0/8")
	f.BoolVar(&o.PrivateWebhooks, "private-webhooks", false, "let webhooks go to private addresses and by http, for tests")
	f.StringVar(&o.fileURLs, "file-urls", "off", "off, or where files are fetched from that submissions give by address: public (https alone), or private too (any address, and http)")
	f.StringVar(&o.publicURL, "public-url", "", "where browsers reach the service, such as https://clips.example")
	o.shopFlags(f)
	f.StringVar(&o.MetricsAddr, "metrics-addr", "", "an `address` for /metrics, /healthz and /readyz alone (on --addr, /metrics answers this machine only, and no trusted proxy)")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	modelFlag(f, &o.Model)
	f.StringSliceVar(&o.Models, "models", nil, "the `names` of networks that a submission may choose in the place of --model")
	a.deviceFlags(f, "do without networks where they would run on the CPU")
	a.engineFlags(f)
	return cmd
}

func (o *serveOptions) jobFlags(f *pflag.FlagSet) {
	f.IntVar(&o.Slots, "slots", o.Slots, "jobs that run at once on this node")
	f.IntVar(&o.Jobs.MaxRunning, "max-running", o.Jobs.MaxRunning, "jobs of one account that run at once, on all nodes")
	f.DurationVar(&o.Jobs.Lease, "lease", o.Jobs.Lease, "after this silence a worker has lost its jobs")
	f.DurationVar(&o.Jobs.TimeLimit, "time-limit", o.Jobs.TimeLimit, fmt.Sprintf("for an attempt at a job, plus %d times the clip's duration", job.TimePerDuration))
	f.DurationVar(&o.Drain, "drain", o.Drain, "how long running jobs may go on when the node stops")
	f.DurationVar(&o.SplitOver, "split-over", o.SplitOver, "do longer clips in parts of at most this duration, with the help of workers that have no job; 0 is never")
	f.DurationVar(&o.Jobs.KeepInputs, "keep-inputs", o.Jobs.KeepInputs, "how long uploads stay after their job's end")
	f.DurationVar(&o.Jobs.KeepOutputs, "keep-outputs", o.Jobs.KeepOutputs, "how long results stay")
	f.DurationVar(&o.Jobs.KeepJobs, "keep-jobs", o.Jobs.KeepJobs, "how long a job is known after its end, once its files are gone")
	f.DurationVar(&o.Jobs.KeepOrphans, "keep-orphans", o.Jobs.KeepOrphans, "how long files stay that no job names; an upload may take half of it")
}

func (o *serveOptions) limitFlags(f *pflag.FlagSet) {
	f.IntVar(&o.Rate.PerMinute, "rate", o.Rate.PerMinute, "requests a minute of one API key")
	f.IntVar(&o.Rate.Burst, "burst", o.Rate.Burst, "requests at once of one API key")
	f.IntVar(&o.AccountRate.PerMinute, "account-rate", o.AccountRate.PerMinute, "requests a minute of one account, by all its keys and browsers")
	f.IntVar(&o.AccountRate.Burst, "account-burst", o.AccountRate.Burst, "requests at once of one account")
	sizeFlag(f, &o.MaxFile, "max-file", "`bytes` of a file")
	f.DurationVar(&o.Limits.MaxDuration, "max-duration", o.Limits.MaxDuration, "duration of a clip")
	f.IntVar(&o.Limits.MaxDimension, "max-dimension", o.Limits.MaxDimension, "`pixels` of a side")
	f.Int64Var(&o.Limits.MaxPixels, "max-pixels", o.Limits.MaxPixels, "`pixels` of all frames of a clip")
	f.IntVar(&o.Limits.MaxFPS, "max-fps", o.Limits.MaxFPS, "frames a second of a clip")
	f.Int64Var(&o.Limits.PixelRate, "pixel-rate", o.Limits.PixelRate, "`pixels` a second that this service works on: what takes longer than --time-limit is refused")
	f.DurationVar(&o.Engine.ProbeLimits.CPU, "probe-cpu", o.Engine.ProbeLimits.CPU, "processor time to read a file's metadata, in the sandbox")
	sizeFlag(f, &o.Engine.ProbeLimits.Memory, "probe-memory", "`bytes` of memory to read a file's metadata, in the sandbox")
	sizeFlag(f, &o.UploadSpace, "upload-space", fmt.Sprintf("`bytes` of uploads on their way, of all accounts; one may send %d files at a time", httpapi.MaxFiles))
	sizeFlag(f, &o.Reserve, "reserve", "`bytes` that stay free on the disk: with less, uploads are refused")
	sizeFlag(f, &o.TempSpace, "temp-space", "`bytes` of local copies of what is on S3")
}

// serve runs a node until a signal comes.
func (a *app) serve(ctx context.Context, o *serveOptions) error {
	c := o.Config
	c.Database, c.Storage, c.TempDir = o.database, o.storage, filepath.Join(o.data, "tmp")
	c.Engine = a.engine
	c.Engine.ChildLimits, c.Engine.ProbeLimits = o.Engine.ChildLimits, o.Engine.ProbeLimits
	c.AnyPort = o.Local && !o.addrGiven
	c.SignIn = func(url string) { fmt.Fprintln(a.Out, url) }
	c.Log = slog.New(slog.NewTextHandler(a.Err, nil))
	if o.logFormat == "json" {
		c.Log = slog.New(slog.NewJSONHandler(a.Err, nil))
	}
	c.Engine.Audit = func(program, call string) {
		c.Log.Warn("system call not on the sandbox's list", "program", program, "call", call)
	}
	c.Listening = func(at net.Addr) {
		c.Log.Info("listening", "url", "http://"+at.String(), "docs", "http://"+at.String()+"/docs")
	}
	c.MetricsListening = func(at net.Addr) { c.Log.Info("listening", "metrics", "http://"+at.String()+"/metrics") }
	if err := server.Run(ctx, c); err != nil {
		return &serviceError{err}
	}
	c.Log.Info("stopped")
	return nil
}
