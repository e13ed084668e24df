package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/outfile"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
)

// order is what submit and batch share.
type order struct {
	*customer
	options bgremove.Options
	output  string // a file or, of a batch, a folder
	wait    bool
	force   bool
	dryRun  bool
	once    string // the Idempotency-Key
}

func (c *customer) newOrder(cmd *cobra.Command) *order {
	o := &order{customer: c, options: bgremove.Defaults()}
	f := cmd.Flags()
	serviceFlags(f, &o.options)
	f.BoolVar(&o.wait, "wait", false, "wait for the result and download it")
	f.BoolVar(&o.force, "force", false, "overwrite outputs")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the price in credits and submit nothing")
	f.StringVar(&o.once, "idempotency-key", "", "a `text` of your own: within 24 hours the same submission with it is not charged again")
	f.StringVar(&c.engine.FFmpeg, "ffmpeg", "", "")
	f.StringVar(&c.engine.FFprobe, "ffprobe", "", "")
	f.Var(&sandboxValue{&c.engine.Sandbox}, "sandbox", "")
	c.flags(cmd)
	hide(cmd, "ffmpeg", "ffprobe", "sandbox")
	return o
}

// settle checks what can be checked before anything is sent.
func (o *order) settle(cmd *cobra.Command, flag string, inputs []string) error {
	if err := o.settingsOnly(cmd); err != nil {
		return err
	}
	if o.output != "" && !o.wait {
		return usage(cmd, fmt.Errorf("--%s is where --wait puts the result; bgremove client download gets it later", flag))
	}
	if err := checkOptions(cmd, &o.options); err != nil {
		return err
	}
	for _, input := range inputs {
		if err := checkInput(input); err != nil {
			return err
		}
	}
	if note, ok := bgremove.FallBack(o.options); ok {
		o.say("%s", note)
	}
	if o.once == "" {
		o.once = rand.Text()
	}
	return nil
}

// checkInput refuses what the service would refuse.
func checkInput(path string) error {
	if err := checkLocal(path); err != nil {
		return err
	}
	e := &bgremove.Error{Kind: bgremove.Unreadable, Path: path}
	stat, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Reason, e.Err = bgremove.NotFound, "no such file", err
	case err != nil:
		return err
	case !stat.Mode().IsRegular():
		e.Reason, e.Hint = "not a regular file", "name a file; bgremove client batch takes folders"
	default:
		switch strings.ToLower(filepath.Ext(path)) {
		case ".gif", ".mp4", ".mov", ".webm":
			return nil
		}
		e.Reason, e.Hint = "not a .gif, .mp4, .mov or .webm", "the service goes by the name first: rename a file that is one of these"
	}
	return e
}

// settings are the options as the client sends them.
func (o *order) settings() client.JobOptions {
	b := o.options
	return client.JobOptions{
		Method: api.Method(b.Method), Tolerance: b.Tolerance, Crop: &b.Crop, Pad: &b.Pad, CanvasW: b.CanvasW, CanvasH: b.CanvasH,
		Anchor: api.Anchor(b.Anchor), OutputFormat: api.OutputFormat(b.Format), BgColor: b.Background, Trim: b.Trim,
		IdempotencyKey: o.once,
	}
}

// reserve refuses places where a result could not be put, before it is paid
// for.
func reserve(path string, force bool) error {
	f, err := outfile.Create(path, force)
	if err != nil {
		return inTheWay(path, err)
	}
	f.Discard()
	return nil
}

// inTheWay says what to do about what is in an output's way; other errors stay
// as they are.
func inTheWay(path string, err error) error {
	e := &bgremove.Error{Kind: bgremove.Failed, Path: path, Err: err}
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrExist):
		e.Kind, e.Reason, e.Hint = bgremove.Exists, "the output already exists", "--force overwrites it"
	case errors.Is(err, fs.ErrNotExist):
		e.Reason, e.Hint = "the output's folder does not exist", "make it first: mkdir -p "+quoted(filepath.Dir(path))
	case errors.As(err, &at):
		e.Reason, e.Hint = "the output cannot be created: "+at.Err.Error(), "name another place with -o or --out"
	default:
		return err
	}
	return e
}
