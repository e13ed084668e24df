// Command manual writes a release's description of the command line: man pages
// into DIR/man and completions for shells into DIR/completions. Pages bear the
// month of SOURCE_DATE_EPOCH, so that a release can be rebuilt to the byte.
//
//	SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) go run ./tools/manual DIR
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/bgremove/bgremove/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual DIR")
		os.Exit(2)
	}
	date, err := date()
	if err == nil {
		err = write(os.Args[1], cli.Manual(), date)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// date is SOURCE_DATE_EPOCH, or now.
func date() (time.Time, error) {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		return time.Now().UTC(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// write replaces the content of dir/man and dir/completions.
func write(dir string, root *cobra.Command, date time.Time) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := os.RemoveAll(d); err != nil {
			return err
		}
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	undated(root)
	header := &doc.GenManHeader{Section: "1", Source: "bgremove", Manual: "bgremove manual", Date: &date}
	if err := doc.GenManTree(root, header, man); err != nil {
		return err
	}
	for name, generate := range map[string]func(path string) error{
		"bgremove.bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_bgremove":     root.GenZshCompletionFile,
		"bgremove.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		"bgremove.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := generate(filepath.Join(completions, name)); err != nil {
			return fmt.Errorf("completion %s: %w", name, err)
		}
	}
	return nil
}

// undated removes the day of generation from all pages.
func undated(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	for _, c := range cmd.Commands() {
		undated(c)
	}
}
