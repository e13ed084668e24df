package clientcmd

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/bucket"
	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/system/outfile"
	"github.com/bgremove/bgremove/pkg/api"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
	"github.com/bgremove/bgremove/pkg/option"
)

// submission is the state that submit and batch share.
type submission struct {
	*remote
	options        bgremove.Options
	output         string // a file, or a folder for a batch
	wait           bool
	force          bool
	dryRun         bool
	idempotencyKey string // the Idempotency-Key
	webhookURL     string
}

func (c *remote) newSubmission(cmd *cobra.Command) *submission {
	o := &submission{remote: c, options: bgremove.Defaults()}
	f := cmd.Flags()
	AddOptions(f, &o.options)
	f.StringVar(&o.options.Model, "model", "", "the network of method rembg: a `name` that the service offers")
	_ = cmd.RegisterFlagCompletionFunc("model", c.completeModel) // the flag is there
	f.BoolVar(&o.wait, "wait", false, "wait for the result and download it")
	f.BoolVar(&o.force, "force", false, "overwrite outputs")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the price in credits and submit nothing")
	f.StringVar(&o.idempotencyKey, "idempotency-key", "", "a `text` of your own: within 24 hours the same submission with it is not charged again")
	f.StringVar(&o.webhookURL, "webhook-url", "", "an https `address` that the service tells of the end of each job; the account needs a signing secret")
	f.StringVar(&c.engine.FFmpeg, "ffmpeg", "", "")
	f.StringVar(&c.engine.FFprobe, "ffprobe", "", "")
	f.Var(flags.Sandbox(&c.engine.Sandbox), "sandbox", "")
	c.addFlags(cmd)
	hide(cmd, "ffmpeg", "ffprobe", "sandbox")
	return o
}

// AddOptions adds the flags for all options that the service takes.
func AddOptions(f *pflag.FlagSet, o *bgremove.Options) {
	flags.AddServiceOptions(f, o, option.ServiceFormats())
	flags.AddDrawnBackground(f, o)
	flags.AddRim(f, o)
	flags.AddPlaces(f, o)
	flags.AddTiming(f, o, option.ServiceFormats())
}

// validate checks as much as possible before anything is sent.
func (o *submission) validate(cmd *cobra.Command, flag string, inputs []string) error {
	if err := o.prepare(cmd); err != nil {
		return err
	}
	if flags.Typed(cmd, flag) && o.output != "" && !o.wait {
		return flags.Usage(cmd, fmt.Errorf("--%s is where --wait puts the result; bgremove client download gets it later", flag))
	}
	if o.wait && bucket.IsAddress(o.output) {
		return flags.Usage(cmd, fmt.Errorf("--%s is a place of this machine, not an address such as %s", flag, o.output))
	}
	if !flags.Typed(cmd, "model") {
		o.options.Model = "" // a setting of that name is for this machine
	}
	if err := flags.CheckOptions(cmd, &o.options); err != nil {
		return err
	}
	for _, input := range inputs {
		if err := CheckInput(input); err != nil {
			return err
		}
	}
	if note, ok := bgremove.FallBack(o.options); ok {
		o.say("%s", failure.NoteText(note))
	}
	if o.idempotencyKey == "" {
		o.idempotencyKey = rand.Text()
	}
	return nil
}

// CheckInput refuses inputs that the service would refuse.
func CheckInput(path string) error {
	if err := filearg.CheckLocal(path); err != nil {
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
		e.Cause, e.Reason = failure.NotAFile, "not a regular file"
	default:
		if option.IsUpload(path) {
			return nil
		}
		e.Cause, e.Reason = failure.BadExtension, "not a "+option.List(option.UploadExtensions(), "or")
	}
	return e
}

// jobOptions are the options and the settings of the submission in the client's form.
func (o *submission) jobOptions() client.JobOptions {
	j := JobOptions(o.options)
	j.WebhookURL, j.IdempotencyKey = o.webhookURL, o.idempotencyKey
	return j
}

// JobOptions are options in the client's form.
func JobOptions(b bgremove.Options) client.JobOptions {
	j := client.JobOptions{
		Method: api.Method(b.Method), Tolerance: b.Tolerance, Crop: &b.Crop, Pad: &b.Pad, CanvasW: b.CanvasW, CanvasH: b.CanvasH,
		Anchor: api.Anchor(b.Anchor), OutputFormat: api.OutputFormat(b.Format), BgColor: b.Background, Trim: b.Trim,
		Outline: b.Outline, Shadow: b.Shadow, Harmonise: b.Harmonise,
		Hints: b.Hints, Largest: b.Largest,
		FPS: b.FPS, Start: b.Start, End: b.End, Quality: b.Quality, Loop: b.Loop, Model: b.Model,
	}
	if _, colour := option.ParseColour(b.Background); !colour && !b.Transparent() {
		j.BgColor, j.Background = "", b.Background
	}
	return j
}

// CheckOutput refuses unusable paths for the result of an input before any payment. An
// input that is no file of this machine is empty.
func CheckOutput(input, path string, force bool) error {
	if input != "" && bgremove.HasFile(input, path) {
		return &bgremove.Error{Kind: bgremove.Invalid, Cause: bgremove.OutputIsInput, Field: "output", Path: path, Reason: "would be the input itself"}
	}
	f, err := outfile.Create(path, force)
	if err != nil {
		return explainOutput(path, err)
	}
	f.Discard()
	return nil
}

// explainOutput adds advice to an error about an output's path; other errors are
// unchanged.
func explainOutput(path string, err error) error {
	e := &bgremove.Error{Kind: bgremove.Failed, Path: path, Err: err}
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrExist):
		e.Kind, e.Cause, e.Reason = bgremove.Exists, failure.FileExists, "the output already exists"
	case errors.Is(err, fs.ErrNotExist):
		e.Cause, e.Reason = failure.FolderMissing, "the output's folder does not exist"
	case errors.As(err, &at):
		e.Cause, e.Reason = bgremove.OutputNotCreated, "the output cannot be created: "+at.Err.Error()
	default:
		return err
	}
	return e
}
