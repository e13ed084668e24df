package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/service/server"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// flagWords are the values of flags that take one of a few, beside those of options.
var flagWords = map[string][]string{
	"sandbox": flags.SandboxWords(),
	"device": {string(bgremove.DeviceAuto), string(bgremove.DeviceCPU), string(bgremove.DeviceCUDA),
		string(bgremove.DeviceCoreML), string(bgremove.DeviceDirectML)},
	"role":       {string(server.All), string(server.API), string(server.Worker)},
	"credits":    {"metered", "unlimited"},
	"signup":     {"closed", "open"},
	"file-urls":  {"off", "public", "private"},
	"log-format": {"text", "json"},
}

// backgroundWords begin the backgrounds that are no colour and no file.
var backgroundWords = []string{option.Transparent, "blur", "gradient:"}

// freeFlags are the flags with free values. Shells would offer files for them.
var freeFlags = []string{"edge-colour", "outline", "start", "end", "frame", "fps", "loop", "max-size"}

// complete offers shells the values of the flags of all commands, unless a
// command has done so itself.
func (a *app) complete(cmd *cobra.Command) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		complete := cobra.FixedCompletions(nil, cobra.ShellCompDirectiveNoFileComp)
		kind, _ := pflag.UnquoteUsage(f)
		_, given := cmd.GetFlagCompletionFunc(f.Name)
		switch {
		case given:
			return
		case wordsOf(f) != nil:
			complete = cobra.FixedCompletions(wordsOf(f), cobra.ShellCompDirectiveNoFileComp)
		case flagWords[f.Name] != nil && valueRules[f.Value.Type()] == "": // admin's --credits is a number
			complete = cobra.FixedCompletions(flagWords[f.Name], cobra.ShellCompDirectiveNoFileComp)
		case f.Value.Type() == "background": // or a file
			complete = cobra.FixedCompletions(backgroundWords, cobra.ShellCompDirectiveDefault)
		case f.Value.Type() == "drawn background":
			complete = cobra.FixedCompletions(backgroundWords, cobra.ShellCompDirectiveNoFileComp)
		case len(flags.Option(f.Name).Words) > 0:
			complete = cobra.FixedCompletions(flags.Option(f.Name).Words, cobra.ShellCompDirectiveNoFileComp)
		case f.Name == "model":
			complete = a.completeModel(cobra.ShellCompDirectiveDefault) // or a file
		case kind == "folder":
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		case !slices.Contains(freeFlags, f.Name):
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // the flag does not exist
		}
	})
	if cmd.ValidArgsFunction == nil && cmd.Use == cmd.Name() { // it takes no arguments
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, c := range cmd.Commands() {
		a.complete(c)
	}
}

// wordsOf are the words that a flag of this command alone offers, or nil.
func wordsOf(f *pflag.Flag) []string {
	if w, ok := f.Value.(interface{ Words() []string }); ok {
		return w.Words()
	}
	return nil
}

// completeModel offers the names of models.
func (a *app) completeModel(directive cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		list, err := a.modelStore().List()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []cobra.Completion
		for _, e := range list {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.Description))
		}
		return names, directive
	}
}
