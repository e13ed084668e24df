package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cli/browser"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/cli/clientcmd"
	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/dashboard"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/system/scratch"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// edit is the work on one clip in a browser.
type edit struct {
	*app
	options       bgremove.Options
	input, output string
	force, open   bool

	mu      sync.Mutex // of the rest
	service *client.Client
	written bool
}

func (a *app) editCommand() *cobra.Command {
	e := &edit{app: a, options: bgremove.Defaults()}
	cmd := &cobra.Command{
		Use:   "edit INPUT",
		Short: "choose the subject of a clip in a browser, on this machine",
		Long: `edit opens a page for one clip: it shows the result, and takes clicks and brush
strokes on what to keep and what to drop. The clip follows them. "Done" writes the
result that is shown, and ends edit.

The page is on this machine and for you alone; nothing is sent anywhere. Without -o
the output is INPUT's name with -nobg, beside it.`,
		Example: `  bgremove edit clip.mp4
  bgremove edit clip.mp4 -o sticker.apng --canvas-w 512
  bgremove edit street.mp4 -o street.webm --keep 310,220@1.5`,
		Args: flags.OneArgument("INPUT"), ValidArgsFunction: filearg.CompleteUploads,
		RunE: func(cmd *cobra.Command, args []string) error {
			e.input = args[0]
			if err := e.check(cmd); err != nil {
				return err
			}
			return e.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&e.output, "output", "o", "", "the output `file`, whose extension decides the format, or its folder")
	clientcmd.AddOptions(f, &e.options)
	modelFlag(f, &e.options.Model)
	f.BoolVar(&e.force, "force", false, "overwrite the output")
	f.BoolVar(&e.open, "browser", true, "open the page in a browser; --no-browser only prints its address")
	a.removalFlags(f)
	return cmd
}

// check refuses what could not be done in the end.
func (e *edit) check(cmd *cobra.Command) error {
	if e.input == "-" || e.output == "-" {
		return flags.Usage(cmd, errors.New("edit reads and writes files, not standard input and output"))
	}
	if err := filearg.SetFormat(cmd, e.output, &e.options.Format); err != nil {
		return err
	}
	if err := errors.Join(flags.Usage(cmd, e.checkRemovalFlags()), flags.CheckOptions(cmd, &e.options)); err != nil {
		return err
	}
	if err := clientcmd.CheckInput(e.input); err != nil {
		return err
	}
	if note, ok := bgremove.FallBack(e.options); ok {
		e.Message("%s", failure.NoteText(note))
	}
	e.output = clientcmd.OutputPath(e.input, e.output, e.options)
	if err := clientcmd.CheckOutput(e.input, e.output, e.force); err != nil {
		return err
	}
	return e.checkEngine(cmd.Context())
}

// checkEngine refuses clips that cannot be read, and machines that lack a part.
func (e *edit) checkEngine(ctx context.Context) error {
	r := bgremove.New(e.engine)
	defer r.Close()
	if _, err := r.Probe(ctx, e.input); err != nil {
		return err
	}
	return r.CanFollow(ctx, e.options.Model)
}

// run serves the page until the person is done.
func (e *edit) run(ctx context.Context) error {
	dir, err := scratch.Open("")
	if err != nil {
		return err
	}
	defer dir.Close()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	c, err := e.config(dir.Path())
	if err != nil {
		return err
	}
	c.Finish = &dashboard.Finish{Output: filepath.Base(e.output), Take: func(ctx context.Context, jobID string) error {
		if err := e.write(ctx, jobID); err != nil {
			return err
		}
		stop()
		return nil
	}}
	at, signIn := make(chan string, 1), make(chan string, 1)
	c.Listening = func(addr net.Addr) { at <- "http://" + addr.String() }
	c.SignIn = func(url string) { signIn <- url }
	g, serving := errgroup.WithContext(serving)
	g.Go(func() error { return server.Run(serving, c) })
	g.Go(func() error {
		select {
		case <-serving.Done():
			return nil // it did not start, or was told to stop
		case address := <-at:
			if err := e.connect(serving, c.Database, address); err != nil {
				return err
			}
			return e.begin(serving, <-signIn)
		}
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if !e.written {
		return context.Cause(ctx)
	}
	e.Message("wrote %s", e.output)
	return nil
}

// config is that of a service of this person alone, whose data is in a folder. Its clip is
// not a stranger's, so that only the machine bounds it.
func (e *edit) config(dir string) (server.Config, error) {
	stat, err := os.Stat(e.input)
	if err != nil {
		return server.Config{}, err
	}
	c := server.DefaultConfig()
	c.Local, c.Addr, c.Slots = true, "127.0.0.1:0", 1
	c.Database, c.TempDir = "sqlite:"+filepath.Join(dir, "bgremove.db"), filepath.Join(dir, "tmp")
	c.Storage = blob.FolderURL(filepath.Join(dir, "objects"))
	c.Limits, c.Reserve, c.Jobs.TimeLimit = job.Limits{}, 0, 24*time.Hour
	c.MaxFile = max(c.MaxFile, stat.Size())
	c.UploadSpace = max(c.UploadSpace, 2*c.MaxFile)
	c.Engine, c.Model = e.engine, e.options.Model
	c.Log = slog.New(slog.NewTextHandler(e.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return c, nil
}

// connect makes a client of the service's only account.
func (e *edit) connect(ctx context.Context, database, address string) error {
	db, err := store.Open(ctx, database)
	if err != nil {
		return err
	}
	defer db.Close()
	who, err := account.New(db).ByEmail(ctx, server.LocalEmail)
	if err != nil {
		return err
	}
	_, secret, err := account.NewKeys(db).Create(ctx, who.ID, "edit")
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.service, err = client.New(address, secret, client.Options{})
	return err
}

// begin submits the clip and opens its page.
func (e *edit) begin(ctx context.Context, signIn string) error {
	made, err := e.service.Submit(ctx, client.File{Path: e.input}, clientcmd.JobOptions(e.options))
	if err != nil {
		return err
	}
	page := signIn + "&" + url.Values{"job": {made.ID}}.Encode()
	e.Message("choose the subject of %s on this page; Done there writes %s, Ctrl-C here ends without", e.input, e.output)
	fmt.Fprintln(e.Out, page)
	if e.open && term.IsTerminal(e.Out) {
		browser.Stdout, browser.Stderr = io.Discard, io.Discard
		if err := browser.OpenURL(page); err != nil {
			e.Message("no browser can be opened here: open the address yourself")
		}
	}
	return nil
}

// write writes the result of a job to the output.
func (e *edit) write(ctx context.Context, jobID string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := e.service.Download(ctx, jobID, e.output, client.DownloadOptions{Overwrite: e.force || e.written}); err != nil {
		return err
	}
	e.written = true
	return nil
}
