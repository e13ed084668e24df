package main

import (
	"cmp"
	"fmt"
	"html"
	"path"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/cli"
)

// reference returns a page in Markdown for each command, by its path in the site. A
// command that has others is the index of their folder.
func reference(root *cobra.Command) map[string]string {
	pages := map[string]string{}
	var add func(cmd *cobra.Command, path string)
	add = func(cmd *cobra.Command, path string) {
		cmd.InitDefaultHelpFlag()
		if len(children(cmd)) == 0 {
			pages[path+".md"] = commandPage(cmd)
			return
		}
		pages[path+"/index.md"] = commandPage(cmd)
		for _, c := range children(cmd) {
			add(c, path+"/"+c.Name())
		}
	}
	add(root, "reference")
	return pages
}

// children are the commands below a command that have a page.
func children(cmd *cobra.Command) (some []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			some = append(some, c)
		}
	}
	return some
}

func commandPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", cmd.CommandPath())
	writeProse(&b, cmp.Or(cmd.Long, cmd.Short))
	line := cmd.UseLine()
	if len(children(cmd)) > 0 {
		line += "\n" + cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, "```text\n%s\n```\n\n", line)
	if cmd.Example != "" {
		fmt.Fprintf(&b, "## Examples\n\n```sh\n%s\n```\n\n", unindented(cmd.Example))
	}
	if len(children(cmd)) > 0 {
		b.WriteString("## Commands\n\n")
		for _, c := range children(cmd) {
			fmt.Fprintf(&b, "- [%s](%s): %s\n", c.CommandPath(), link(c), plain(c.Short))
		}
		b.WriteByte('\n')
	}
	for _, g := range cli.FlagGroups(cmd) {
		writeFlags(&b, g.Title, g.Flags)
	}
	if cmd.InheritedFlags().HasAvailableFlags() {
		writeFlags(&b, "Global flags", cmd.InheritedFlags())
	}
	return b.String()
}

// link leads from a command's page to that of a command below it.
func link(child *cobra.Command) string {
	if len(children(child)) > 0 {
		return path.Join(child.Name(), "index.md")
	}
	return child.Name() + ".md"
}

func unindented(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}

// writeProse writes a command's description. Indented paragraphs keep their lines.
func writeProse(b *strings.Builder, text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, "  ") {
			fmt.Fprintf(b, "```text\n%s\n```\n\n", strings.TrimRight(paragraph, "\n"))
			continue
		}
		fmt.Fprintf(b, "%s\n\n", plain(paragraph))
	}
}

// writeFlags gives each flag a heading, so that a search and a link can lead to it.
func writeFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	fmt.Fprintf(b, "## %s\n\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			name, meaning := usage(f)
			fmt.Fprintf(b, "### `%s` { #%s }\n\n%s\n\n", name, f.Name, plain(meaning))
		}
	})
}

// usage is what the help shows of a flag: its names and its value's, and its meaning
// and default.
func usage(f *pflag.Flag) (name, meaning string) {
	one := pflag.NewFlagSet("", pflag.ContinueOnError)
	one.AddFlag(f)
	name, meaning, _ = strings.Cut(strings.TrimSpace(one.FlagUsages()), "   ")
	return name, strings.TrimSpace(meaning)
}

// plain is text that Markdown shows as it is.
func plain(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]()#+-.!", r) {
			b.WriteByte('\\')
		}
		b.WriteString(html.EscapeString(string(r)))
	}
	return b.String()
}
