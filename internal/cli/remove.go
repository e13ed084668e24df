package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/filearg"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// removeOptions are the flags of one removal.
type removeOptions struct {
	bgremove.Options
	output  string
	numbers bool // in the names that were given
	sheet   string
	matte   string
	force   bool
	quiet   bool
	json    bool
	preview string
	compare string
}

func (a *app) removeCommand() *cobra.Command {
	o := &removeOptions{Options: bgremove.Defaults()}
	cmd := &cobra.Command{
		Use:   "remove INPUT",
		Short: "take the background out of one file",
		Long: `remove takes the background out of an animation, video or picture and writes
` + flags.Formats("or") + `.
INPUT and OUTPUT may be - for standard input and output. Numbered pictures are a
clip: a folder of them, or a pattern such as f%04d.png.

Without -o the output is INPUT's name with -nobg, beside it. It appears when it
is complete; an existing file is kept unless --force is given.`,
		Example: `  bgremove remove clip.mp4
  bgremove remove clip.mp4 -o clip.webm --crop=false
  bgremove remove walk.gif --canvas-w 128 --canvas-h 128 --anchor bottom --pad 0
  bgremove remove walk.gif --sheet walk.png
  bgremove remove clip.mp4 --frame 1.5
  bgremove remove green.mov --key green --bg '#ffffff' -o white.mp4
  bgremove remove 'frames/f%04d.png' --fps 12 -o walk.gif
  bgremove remove clip.mp4 -o 'frames/f%04d.png' --fps 12
  bgremove remove - --format apng -o - <clip.gif >clip.apng`,
		Args: flags.OneArgument("INPUT"), ValidArgsFunction: filearg.CompleteClips,
		RunE: func(cmd *cobra.Command, args []string) error { return a.remove(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the output `file`, whose extension decides the format, or its folder; f%04d.png is a file for each frame; - is standard output")
	optionFlags(f, &o.Options)
	f.StringVar(&o.sheet, "sheet", "", "write a sprite sheet, a PNG `file`, and its data as .json; the clip only with -o or --format")
	f.StringVar(&o.matte, "matte", "", "also write the matte, white on black, as a `file` in the format of its extension; an mp4 then needs no --bg")
	f.StringVar(&o.preview, "preview", "", "also write the first cut-out as a PNG `file`")
	f.StringVar(&o.compare, "compare", "", "also write before and after, side by side, as a PNG `file`")
	f.BoolVar(&o.force, "force", false, "overwrite the output")
	flags.AddQuiet(f, &o.quiet)
	f.BoolVar(&o.json, "json", false, "print a report as one JSON object")
	a.removalFlags(f)
	return cmd
}

// modelFlag is --model of commands that run networks.
func modelFlag(f *pflag.FlagSet, model *string) {
	f.StringVar(model, "model", "", "the network of method rembg: a `name` or a path")
}

// optionFlags are the flags for Options.
func optionFlags(f *pflag.FlagSet, o *bgremove.Options) {
	flags.AddServiceOptions(f, o, option.Formats())
	flags.AddBackground(f, o)
	flags.AddRim(f, o)
	sheetFlags(f, o)
	modelFlag(f, &o.Model)
	f.Var(flags.Colour(&o.Key, flags.Option("key").Words...), "key", "the backdrop's colour: auto (measured), green or blue for a lit screen, or a `colour`")
	f.BoolVar(&o.KeepShadow, "keep-shadow", false, "keep the shadows on a green or blue screen")
	f.Var(flags.Word(&o.Holes), "holes", "fast: enclosed areas of the backdrop's colour: "+flags.Choices("holes", map[string]string{"auto": "large ones go"}))
	f.Var(flags.Word(&o.Subject), "subject", "rembg: "+flags.Choices("subject", map[string]string{"moving": "drop all that does not move", "salient": "keep all that is found"}))
	flags.AddHints(f, o)
	f.Var(flags.Word(&o.Scale), "scale", "how to scale: "+flags.Choices("scale", map[string]string{"auto": "crisp where pixel art is enlarged"}))
	f.BoolVar(&o.NoAudio, "no-audio", false, "drop the sound")
	flags.AddTiming(f, o, option.Formats())
	f.Lookup("fps").Usage += "; of numbered pictures: show n a second"
	flags.AddFrame(f, o)
	flags.AddPreset(f, o)
	sizeFlag(f, &o.MaxSize, "max-size", "give up quality, colours, frame rate, size and length, in that order, until the output has at most so many `bytes`: 256KB, 1MiB")
	f.Var(flags.Colour(&o.EdgeColour), "edge-colour", "gif: blend half-transparent edges on this `colour`")
	f.BoolVar(&o.NoReuse, "no-reuse", false, "run the network on each frame, also where others tell enough")
	f.BoolVar(&o.NoCloser, "no-closer", false, "let the network look at each frame once, not again at what it found")
	f.BoolVar(&o.NoColours, "no-colours", false, "leave undecided what the network doubts, whatever its colour")
	f.BoolVar(&o.NoMotion, "no-motion", false, "do not tell the subject by its motion")
	f.BoolVar(&o.NoPlate, "no-plate", false, "do not compare with what lies behind the subject in other frames")
	f.BoolVar(&o.NoSteady, "no-steady", false, "do not steady the network's mattes over time")
	f.BoolVar(&o.NoRefine, "no-refine", false, "do not fit the network's mattes to the picture's edges")
	f.BoolVar(&o.NoDecontaminate, "no-decontaminate", false, "leave the old backdrop in the colour of edges")
	f.BoolVar(&o.Strict, "strict", false, "fail, and write nothing, where there is a warning about the result")
	f.BoolVar(&o.MaskOnly, "mask-only", false, "write the matte, white on black, of the whole picture unless --crop is given")
}

func (a *app) remove(cmd *cobra.Command, input string, o *removeOptions) error {
	if err := checkClip(input); err != nil {
		return err
	}
	if err := a.resolveOutput(cmd, input, o); err != nil {
		return err
	}
	toStdout := o.output == "-"
	if toStdout && term.IsTerminal(a.Out) {
		return flags.Usage(cmd, filearg.ErrStdoutTerminal)
	}
	path, cleanup, err := a.inputPath(cmd.Context(), input)
	if err != nil {
		return err
	}
	defer cleanup()
	output := o.output
	if toStdout {
		dir, err := os.MkdirTemp("", "bgremove-*")
		if err != nil {
			return fmt.Errorf("temporary folder: %w", err)
		}
		defer os.RemoveAll(dir)
		output = filepath.Join(dir, "out."+o.EffectiveFormat().Extension())
	}
	pictures, err := o.pictures(input)
	if err != nil {
		return err
	}
	result, err := a.runRemoval(cmd, path, output, o, pictures)
	if err != nil {
		return withArgument(err, path, input)
	}
	result.Input = input
	if err := pictures.save(); err != nil {
		return err
	}
	if toStdout {
		a.printNotes(cmd, result, o)
		return a.copyToStdout(result.Output)
	}
	return a.printResult(cmd, result, o)
}

// runRemoval removes the background and shows a progress bar.
func (a *app) runRemoval(cmd *cobra.Command, input, output string, o *removeOptions, p *pictures) (*bgremove.Result, error) {
	extras := bgremove.Extras{Overwrite: o.force, Sheet: o.sheet, Matte: o.matte, Numbered: o.numbers, Preview: p.onPreview()}
	if !o.quiet {
		bar := a.NewBar("removing")
		defer bar.Close()
		extras.Progress = func(p bgremove.Progress) {
			bar.Set(framesDone(p), p.Frames)
		}
	}
	// The remover is not closed: the process ends with the command, and it need
	// not wait for a network that is still being opened.
	return bgremove.New(a.engine).Remove(cmd.Context(), input, output, o.Options, extras)
}

// framesDone is the progress of a clip in frames of its output. The clip may
// take two passes.
func framesDone(p bgremove.Progress) int {
	return ((p.Pass-1)*p.Frames + p.Frame) / max(1, p.Passes)
}

// resolveOutput determines the output's name and format, and refuses conflicting
// flags, before any work. The extension decides the format unless the command
// line also gives one.
func (a *app) resolveOutput(cmd *cobra.Command, input string, o *removeOptions) error {
	switch {
	case a.checkRemovalFlags() != nil:
		return flags.Usage(cmd, a.checkRemovalFlags())
	case checkSheet(cmd, o.sheet) != nil:
		return checkSheet(cmd, o.sheet)
	case o.sheet != "" && !clipWanted(cmd, o.output):
		return flags.CheckOptions(cmd, &o.Options)
	case o.output == "-" && o.json:
		return flags.Usage(cmd, filearg.ErrStdoutShared)
	case o.output == "" && input == "-":
		return flags.Usage(cmd, errors.New("-o is needed when INPUT is -"))
	case o.output == "-" && !cmd.Flags().Changed("format") && !cmd.Flags().Changed("preset"):
		return flags.Usage(cmd, errors.New("--format is needed when OUTPUT is -"))
	}
	if err := filearg.SetFormat(cmd, o.output, &o.Format); err != nil {
		return err
	}
	if filearg.IsOutputFolder(o.output) && input == "-" {
		return flags.Usage(cmd, errors.New("-o must name a file when INPUT is -"))
	}
	byDefault := o.output == "" || filearg.IsOutputFolder(o.output)
	o.numbers = !byDefault && bgremove.HasNumber(o.output) || bgremove.HasNumber(o.matte)
	if byDefault {
		format := bgremove.WrittenFormat(input, o.Options)
		if o.matte != "" && o.Format == bgremove.MP4 {
			format = bgremove.MP4 // its transparency is in the matte
		}
		o.output = filearg.OutputPath(input, o.output, format)
		o.Options = filearg.KeepFormat(o.output, o.Options)
	}
	return flags.CheckOptions(cmd, &o.Options)
}

// looksLikeFile reports whether an output is named like a file of a format, and
// nothing with that name exists.
func looksLikeFile(output string) bool {
	_, format := bgremove.FormatOf(output)
	return format && !filearg.IsOutputFolder(output) && !filearg.Exists(output)
}

func (a *app) printNotes(cmd *cobra.Command, r *bgremove.Result, o *removeOptions) {
	if o.quiet {
		return
	}
	for _, note := range shownNotes(cmd, r.Notes) {
		a.Message("%s", failure.NoteText(note))
	}
	if named, ok := bgremove.FormatOf(r.Output); ok && o.output != "-" && !fitsName(r.OutputFormat, r.Output) {
		a.Message("%s: a %s is written, although the name says %s", r.Output, r.OutputFormat, named)
	}
	for _, w := range r.Quality.Warnings {
		fmt.Fprintf(a.Err, "warning: %s%s\n", w.Message, warningHint(w.Code, r.Method))
	}
}

// fitsName reports whether a file of a format may have a name. That of a PNG also fits
// an APNG.
func fitsName(written bgremove.Format, path string) bool {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	return written == bgremove.SheetFormat || written.Extension() == ext || written == bgremove.APNG && ext == bgremove.PNG.Extension()
}

// shownNotes leaves out what is noted of options that the command line itself does not
// give: the environment and the file hold for many runs.
func shownNotes(cmd *cobra.Command, notes []bgremove.Note) []bgremove.Note {
	return slices.DeleteFunc(slices.Clone(notes), func(n bgremove.Note) bool {
		return n.Code == bgremove.Unused && !flags.Typed(cmd, flags.Name(n.Field))
	})
}

// printResult reports a finished result.
func (a *app) printResult(cmd *cobra.Command, r *bgremove.Result, o *removeOptions) error {
	a.printNotes(cmd, r, o)
	if o.json {
		return a.JSON(newJSONResult(r))
	}
	if o.quiet {
		return nil
	}
	a.Message("%s", summary(r))
	return nil
}

// jsonResult is a result as --json prints it: with its notes in words.
type jsonResult struct {
	*bgremove.Result
	Notes []string `json:"notes,omitempty"`
}

func newJSONResult(r *bgremove.Result) jsonResult {
	out := jsonResult{Result: r}
	if r != nil {
		for _, note := range r.Notes {
			out.Notes = append(out.Notes, failure.NoteText(note))
		}
	}
	return out
}

// summary describes a result in one line.
func summary(r *bgremove.Result) string {
	return fmt.Sprintf("%s: %s, %d×%d, %s, in %.1f s (%s: %s)", outputNames(r), term.Count(r.Frames, "frame"), r.Width, r.Height,
		term.ByteSize(r.OutputSize), r.Timings["total"], r.Method, r.Reason)
}

func (a *app) copyToStdout(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(a.Out, f); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	return nil
}

// inputPath is the file to read: the argument itself or, for -, a copy of
// standard input. cleanup removes the copy.
func (a *app) inputPath(ctx context.Context, arg string) (path string, cleanup func(), err error) {
	if arg != "-" {
		return arg, func() {}, nil
	}
	path, err = bgremove.Spool(ctx, a.In)
	return path, func() { _ = os.Remove(path) }, err
}

// withArgument replaces a temporary file's name with the argument that the user typed.
func withArgument(err error, path, arg string) error {
	if e := (*bgremove.Error)(nil); path != arg && errors.As(err, &e) && e.Path == path {
		e.Path = arg
	}
	return err
}
