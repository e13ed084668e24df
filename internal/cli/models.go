package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/network/model"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// catalogue is nil for the built-in one; tests set their own.
var catalogue []model.Model

func (a *app) modelStore() *model.Store {
	return &model.Store{Dir: a.engine.ModelsDir, Models: catalogue}
}

func (a *app) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models",
		Short: "list, fetch, check and remove the networks of method rembg",
		Long: `models manages the networks that --method rembg uses. Each is checked by its
sha256 when it is installed, and by verify. Any other .onnx file can be named by
its path, or imported; a file NAME.json beside NAME.onnx says how the network
wants its pictures.`,
		Example: `  bgremove models list
  bgremove models pull u2netp
  bgremove models pull isnet-general-use --from https://mirror.example/models
  bgremove models export u2netp /media/stick`,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Args: noArguments,
	}
	for _, c := range []*cobra.Command{a.modelsList(), a.modelsPull(), a.modelsImport(), a.modelsExport(), a.modelsVerify(), a.modelsRemove()} {
		a.modelsDirFlag(c.Flags())
		cmd.AddCommand(c)
	}
	return cmd
}

func (a *app) modelsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "show what there is and what is installed",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			list, err := a.modelStore().List()
			if err != nil {
				return err
			}
			if asJSON {
				return a.JSON(map[string]any{"models": list})
			}
			return a.printModels(list)
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON)
	return cmd
}

func (a *app) printModels(list []model.Entry) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MODEL\tINSTALLED\tSIZE\tLICENCE\tFOR")
	for _, e := range list {
		size, licence, purpose := "?", e.Licence, e.Description
		if e.Bytes > 0 {
			size = term.ByteSize(e.Bytes)
		}
		switch {
		case e.Imported:
			licence, purpose = "?", "imported"
		case !e.Commercial:
			licence += " (non-commercial)"
		case e.Copyleft:
			licence += " (copyleft)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", e.Name, yesNo(e.Installed), size, licence, purpose)
	}
	return w.Flush()
}

// pullFlags are the flags of models pull.
type pullFlags struct {
	from   string
	accept bool
	quiet  bool
}

func (a *app) modelsPull() *cobra.Command {
	var o pullFlags
	cmd := &cobra.Command{
		Use:   "pull NAME...",
		Short: "fetch models and check them",
		Long: `pull fetches models from where their authors publish them, or from a mirror. An
interrupted download goes on where it ended. Nothing is used before its sha256
is right.`,
		Args: flags.SomeArguments("NAME"), ValidArgsFunction: a.completeModel(cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, names []string) error {
			for _, name := range names {
				err := a.pullModel(cmd, name, o)
				if err != nil && cmd.Context().Err() != nil {
					return &failure.Stopped{Message: "interrupted; the same command continues where it stopped"}
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "a mirror: a `URL` or folder that holds the files as models export names them")
	f.BoolVar(&o.accept, "accept-license", false, "accept a licence that is copyleft or forbids commercial use")
	flags.AddQuiet(f, &o.quiet)
	return cmd
}

func (a *app) pullModel(cmd *cobra.Command, name string, o pullFlags) error {
	var bar *term.Bar
	if !o.quiet {
		bar = a.NewByteBar("fetching " + name)
	}
	err := a.modelStore().Pull(cmd.Context(), name, model.PullOptions{From: o.from, AcceptLicence: o.accept, Progress: bar.SetBytes})
	bar.Close()
	if err != nil {
		return err
	}
	if !o.quiet {
		a.Message("%s is installed", name)
	}
	return nil
}

func (a *app) modelsImport() *cobra.Command {
	var o model.ImportOptions
	cmd := &cobra.Command{
		Use:   "import FILE.onnx",
		Short: "take in a network from this machine",
		Long: `import copies an .onnx file, and the .json file of the same name beside it, into
the folder of models. A file that the catalogue knows gets its name there.`,
		Args: flags.OneArgument("FILE.onnx"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := a.modelStore().Import(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			a.Message("%s is installed", name)
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Name, "name", "", "the `name` to import it under (default: the file's)")
	cmd.Flags().BoolVar(&o.AcceptLicence, "accept-license", false, "accept a licence that is copyleft or forbids commercial use")
	return cmd
}

func (a *app) modelsExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export NAME PATH",
		Short: "copy an installed model to a file or folder, for another machine",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return a.completeModel(cobra.ShellCompDirectiveNoFileComp)(cmd, args, begun)
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return flags.Usage(cmd, errors.New("a NAME and a PATH are needed"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := a.modelStore().Export(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Out, path)
			return err
		},
	}
}

// verifyResult is a line of models verify.
type verifyResult struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`

	mark string
}

func (a *app) modelsVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "verify [NAME...]", ValidArgsFunction: a.completeModel(cobra.ShellCompDirectiveNoFileComp),
		Short: "read installed models again and compare their sha256",
		RunE: func(cmd *cobra.Command, names []string) error {
			verdicts := []verifyResult{}
			var unprinted error
			failure := a.verifyModels(cmd.Context(), names, func(v verifyResult) {
				verdicts = append(verdicts, v)
				if !asJSON && unprinted == nil {
					_, unprinted = fmt.Fprintf(a.Out, "%-7s  %s\n", v.mark, v.Name)
				}
			})
			if unprinted != nil {
				return unprinted
			}
			if asJSON && (failure == nil || len(verdicts) > 0) {
				failure = errors.Join(a.JSON(map[string]any{"models": verdicts}), failure)
			}
			return failure
		},
	}
	flags.AddJSON(cmd.Flags(), &asJSON)
	return cmd
}

// verifyModels checks the named models, or all installed ones. Names that are not
// installed are refused before anything is read. The error is about a damaged
// model or, if there is none, about one that cannot be checked.
func (a *app) verifyModels(ctx context.Context, names []string, report func(verifyResult)) error {
	store := a.modelStore()
	if len(names) == 0 {
		list, err := store.List()
		if err != nil {
			return err
		}
		for _, e := range list {
			if e.Installed && !e.Bundled {
				names = append(names, e.Name)
			}
		}
	}
	for _, name := range names {
		if _, err := store.Path(name); err != nil {
			return err
		}
	}
	var failure error
	for _, name := range names {
		err := store.Verify(ctx, name)
		if ctx.Err() != nil {
			return err
		}
		v := verifyResult{Name: name, OK: err == nil, mark: "ok"}
		if err != nil {
			v.Error, v.mark = err.Error(), "UNKNOWN"
			damaged := errors.As(err, new(*model.DamagedError))
			if damaged {
				v.mark = "DAMAGED"
			}
			if failure == nil || damaged {
				failure = err
			}
		}
		report(v)
	}
	return failure
}

func (a *app) modelsRemove() *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME...",
		Short: "delete installed models",
		Args:  flags.SomeArguments("NAME"), ValidArgsFunction: a.completeModel(cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, names []string) error {
			for i, name := range names {
				if slices.Contains(names[:i], name) {
					continue // it has been removed
				}
				err := a.modelStore().Remove(name)
				if errors.As(err, new(*model.NotInstalledError)) {
					return &bgremove.Error{Kind: bgremove.Failed, Cause: failure.ModelAbsent, Reason: err.Error(), Err: err}
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}
