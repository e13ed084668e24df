// Package filearg deals with the files that a command line names: the inputs, and
// the paths of the outputs.
package filearg

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// Reasons why a result cannot go to standard output.
var (
	ErrStdoutShared   = errors.New("-o - and --json both write to standard output")
	ErrStdoutFolder   = errors.New("--out names a folder, not standard output")
	ErrStdoutTerminal = errors.New("standard output is a terminal; redirect it or name a file with -o")
)

// CompleteClips completes the arguments of commands that read clips.
var CompleteClips cobra.CompletionFunc = cobra.FixedCompletions(extensions(option.InputExtensions()), cobra.ShellCompDirectiveFilterFileExt)

// CompleteUploads is CompleteClips for commands that send clips to a service.
var CompleteUploads cobra.CompletionFunc = cobra.FixedCompletions(extensions(option.UploadExtensions()), cobra.ShellCompDirectiveFilterFileExt)

// extensions are those without the dot, as shells take them.
func extensions(dotted []string) (all []cobra.Completion) {
	for _, e := range dotted {
		all = append(all, strings.TrimPrefix(e, "."))
	}
	return all
}

// Exists reports whether there is a file or folder.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// IsFolder reports whether there is a folder.
func IsFolder(path string) bool {
	stat, err := os.Stat(path)
	return err == nil && stat.IsDir()
}

// IsURL reports whether an argument is an address on the web.
func IsURL(arg string) bool {
	return strings.HasPrefix(arg, "http://") || strings.HasPrefix(arg, "https://")
}

// URLName is the name of the file at an address.
func URLName(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.HasSuffix(u.Path, "/") || u.Path == "" {
		return "clip"
	}
	return path.Base(u.Path)
}

// CheckLocal refuses web addresses.
func CheckLocal(paths ...string) error {
	for _, p := range paths {
		if IsURL(p) {
			return &bgremove.Error{Kind: bgremove.NotFound, Cause: failure.URLGiven, Path: p, Reason: "an address on the web, not a file"}
		}
	}
	return nil
}

// IsOutputFolder reports whether an output is a folder for a file with the default
// name. Its name ends in a slash, or it exists and is not named like a format.
func IsOutputFolder(output string) bool {
	if output == "" || output == "-" {
		return false
	}
	_, format := bgremove.FormatOf(output)
	return os.IsPathSeparator(output[len(output)-1]) || !format && IsFolder(output)
}

// OutputPath is the path of an output: as given, or INPUT's name with -nobg in
// the given folder or beside INPUT.
func OutputPath(input, output string, format bgremove.Format) string {
	switch byDefault := bgremove.OutputPath(input, format); {
	case output == "":
		return byDefault
	case IsOutputFolder(output):
		return filepath.Join(output, filepath.Base(byDefault))
	}
	return output
}

// SetFormat sets the format from an output's extension, unless the command line
// itself sets it.
func SetFormat(cmd *cobra.Command, output string, format *bgremove.Format) error {
	if output == "-" || IsOutputFolder(output) || flags.Typed(cmd, "format") {
		return nil
	}
	ext := strings.ToLower(filepath.Ext(output))
	if f, ok := bgremove.FormatOf(output); ok {
		*format = f
	} else if ext == ".jpg" || ext == ".jpeg" {
		return flags.Usage(cmd, fmt.Errorf("%s: JPEG is not written: use .png or .webp", output))
	} else if ext != "" {
		return flags.Usage(cmd, fmt.Errorf("%s: the extension names no format; --format %s does", output, flags.Formats("or")))
	}
	return nil
}

// KeepFormat are the options with the format of a name that OutputPath has made, where
// they leave it open: the input may say something else when it is read whole.
func KeepFormat(output string, o bgremove.Options) bgremove.Options {
	if _, preset := o.Preset.Limits(); o.Format == "" && !preset {
		o.Format, _ = bgremove.FormatOf(output)
	}
	return o
}

// ExplainCollision adds advice to the error about inputs with the same output;
// other errors are unchanged.
func ExplainCollision(err error) error {
	if !errors.As(err, new(*batch.CollisionError)) {
		return err
	}
	return &bgremove.Error{Kind: bgremove.Invalid, Cause: failure.OutputsCollide, Reason: err.Error(), Err: err}
}
