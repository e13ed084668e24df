// Package cli is bgremove's command line, with one file per command. The commands
// of client are in package clientcmd. Only this package prints the error that ends
// a command, and chooses the exit code.
package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/clientcmd"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/config"
	"github.com/bgremove/bgremove/internal/spell"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// app is the state that all commands share.
type app struct {
	*term.Streams
	version    string
	configPath string
	args       []string
	engine     bgremove.Config
	audit      auditLog
}

// Main runs the command line and returns the exit code. version is the release,
// or empty for other builds. A command that lacks ONNX Runtime runs a second time if
// the user lets setup get it.
func Main(ctx context.Context, version string, args []string, streams *term.Streams) int {
	a, cmd, err := execute(ctx, version, args, streams)
	installed, setupErr := a.offerRuntime(ctx, cmd, err)
	switch {
	case setupErr != nil:
		err = setupErr
	case installed:
		a, _, err = execute(ctx, version, args, streams)
	}
	return a.report(ctx, cmd, err)
}

// execute runs the command line once. The command is the one that was found.
func execute(ctx context.Context, version string, args []string, streams *term.Streams) (*app, *cobra.Command, error) {
	a := &app{Streams: streams, version: version}
	a.engine.Audit = a.audit.record
	root := a.rootCommand()
	a.args = expandFlags(root, args)
	root.SetArgs(a.args)
	cmd, err := root.ExecuteContextC(ctx)
	a.reportAudit()
	return a, cmd, err
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "bgremove",
		Version: a.build().Version,
		Short:   "take the background out of animations and video",
		Long: `bgremove takes the background out of animations, video and pictures:
` + strings.Join(option.InputExtensions(), " ") + ` in;
` + flags.Formats("and") + ` out. Every frame keeps its time.

Every flag can also come from an environment variable (BGREMOVE_ and the flag
in capitals, _ for -) or from bgremove.yaml in the working directory or the
user's configuration folder. The command line wins over the environment, the
environment over the file.`,
		Example: `  bgremove remove clip.mp4
  bgremove remove clip.mp4 -o sticker.apng --canvas-w 512
  bgremove probe clip.mov --json`,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return a.welcome(cmd) },
		Args:          noArguments,
	}
	root.PersistentFlags().StringVar(&a.configPath, "config", "", "read settings from this `file`")
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(config.Spelling(name))
	})
	root.SetFlagErrorFunc(a.flagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.loadSettings(root, cmd) }
	root.SetVersionTemplate("bgremove {{.Version}}\n")
	root.AddCommand(a.removeCommand(), a.batchCommand(), a.editCommand(), a.probeCommand(), a.modelsCommand(), a.setupCommand(), a.doctorCommand(),
		a.serveCommand(), a.adminCommand(), a.clientCommand(), a.mcpCommand(), a.versionCommand())
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Short, cmd.Long = "print completions for a shell", ""
			cmd.Args, cmd.RunE = noArguments, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Short = "print completions for " + shell.Name()
			}
		case "help":
			cmd.Short, cmd.Long = "show the help of a command", ""
			cmd.Args = checkHelpTopic
		}
	}
	describeValues(root)
	describe(root)
	a.complete(root)
	return root
}

func (a *app) clientCommand() *cobra.Command {
	cmd := clientcmd.New(a.Streams, a.build().Version, a.engine)
	cmd.Args = noArguments
	return cmd
}

// checkHelpTopic refuses help on unknown commands.
func checkHelpTopic(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err != nil || found == nil || len(rest) > 0 {
		return flags.Usage(cmd, fmt.Errorf("no command is called %q", strings.Join(args, " ")))
	}
	return nil
}

// loadSettings sets the missing flags of a command from the environment and the file.
func (a *app) loadSettings(root, cmd *cobra.Command) error {
	flags.MarkTyped(cmd)
	if err := checkSecrets(cmd); err != nil {
		return err
	}
	switch {
	case slices.Contains([]string{"version", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, cmd.Name()),
		cmd.HasParent() && cmd.Parent().Name() == "completion":
		return nil // these work with any settings
	}
	path := a.configPath
	if f := cmd.Flags().Lookup("config"); f != nil && !f.Changed {
		path = configPath()
	}
	known := allFlags(root)
	err := flags.Usage(cmd, config.Fill(settableFlags(cmd), path, known))
	a.warnUnknown(cmd, known)
	return err
}

// warnUnknown warns about variables that look like settings.
func (a *app) warnUnknown(cmd *cobra.Command, known []string) {
	if isQuiet(cmd) {
		return
	}
	var variables []string
	for _, flag := range known {
		variables = append(variables, config.Variable(flag))
	}
	for _, name := range config.Unknown(os.Environ(), append(known, "config")) {
		meant := ""
		if variable := spell.Meant(name, variables); variable != "" {
			meant = "; did you mean " + variable + "?"
		}
		fmt.Fprintf(a.Err, "warning: %s is not a setting%s\n", term.Printable(name), meant)
	}
}

// settableFlags are the flags of a command that the environment and the file may
// set. For admin's commands these are only the flags for the service's data.
func settableFlags(cmd *cobra.Command) *pflag.FlagSet {
	admin := strings.Contains(cmd.CommandPath()+" ", " admin ")
	some := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if isSetting(f) && (!admin || slices.Contains([]string{"data", "database", "storage"}, f.Name)) {
			some.AddFlag(f)
		}
	})
	return some
}

// isSetting reports whether a file or the environment can set a flag. --config names the
// file, and with --help or --version a command does nothing else.
func isSetting(f *pflag.Flag) bool {
	return !slices.Contains([]string{"config", "help", "version"}, f.Name)
}

// allFlags are the names of the flags of a command and those below it which are settings.
func allFlags(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if isSetting(f) {
			names = append(names, f.Name)
		}
	})
	for _, c := range cmd.Commands() {
		names = append(names, allFlags(c)...)
	}
	return names
}

// deviceFlags are the flags of all commands that run networks; require
// describes the effect of --require-gpu.
func (a *app) deviceFlags(f *pflag.FlagSet, require string) {
	f.Var(flags.Word(&a.engine.Device), "device", "where a network runs: auto, cpu, cuda, coreml or directml")
	f.BoolVar(&a.engine.RequireGPU, "require-gpu", false, require)
}

// engineFlags are the flags of all commands that run the engine.
func (a *app) engineFlags(f *pflag.FlagSet) {
	f.StringVar(&a.engine.FFmpeg, "ffmpeg", "", "the ffmpeg program (default: in PATH)")
	f.StringVar(&a.engine.FFprobe, "ffprobe", "", "the ffprobe program (default: in PATH)")
	f.Var(flags.Sandbox(&a.engine.Sandbox), "sandbox", "keep ffmpeg to its job's files, without network: auto, on (with limits, or not at all), off or audit (tell what it would refuse)")
	f.StringVar(&a.engine.Library, "onnxruntime", "", "ONNX Runtime's shared library, or its folder (default: found)")
	a.modelsDirFlag(f)
	f.SortFlags = false
}

// removalFlags are the flags of commands that remove backgrounds on this machine.
func (a *app) removalFlags(f *pflag.FlagSet) {
	a.deviceFlags(f, "fail where a network would run on the CPU")
	f.IntVar(&a.engine.Workers, "workers", 0, "frames of a file worked on at once (default: one for each core)")
	a.engineFlags(f)
}

// checkRemovalFlags refuses invalid values of removalFlags.
func (a *app) checkRemovalFlags() error {
	if err := checkParallel("workers", a.engine.Workers); err != nil {
		return err
	}
	return a.checkDevice()
}

// maxParallel is more than any machine does at once. Far more would only take memory, and
// not end at a signal.
const maxParallel = 1024

// checkParallel refuses a number of things at once that no machine has room for.
func checkParallel(flag string, n int) error {
	switch {
	case n < 0:
		return fmt.Errorf("%s must not be negative: %d", flag, n)
	case n > maxParallel:
		return fmt.Errorf("%s must be at most %d, not %d", flag, maxParallel, n)
	}
	return nil
}

// checkDevice refuses unknown devices.
func (a *app) checkDevice() error {
	if a.engine.Device == "" {
		return nil
	}
	return checkWord("device", string(a.engine.Device))
}

func (a *app) modelsDirFlag(f *pflag.FlagSet) {
	f.StringVar(&a.engine.ModelsDir, "models-dir", "", "the `folder` of installed models (default: in the user's cache)")
}
