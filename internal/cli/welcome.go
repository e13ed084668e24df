package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/term"
)

// firstSteps are shown to somebody who types only the program's name.
var firstSteps = [][2]string{
	{"bgremove remove clip.mp4", "makes clip-nobg.gif, a transparent GIF"},
	{"bgremove remove clip.mp4 -o clip.webm", "a WebM with transparency and sound, for a page"},
	{"bgremove remove clip.mp4 --frame 1.5", "a PNG of one moment"},
	{"bgremove edit clip.mp4", "click on what to keep, in your browser"},
	{"bgremove batch clips --out cut", "all clips of a folder"},
	{"bgremove serve --local", "pages to drop clips on, for you alone"},
	{"bgremove doctor", "shows what is missing here, and how to get it"},
}

// welcome says what to do first, or prints the help where nobody watches.
func (a *app) welcome(cmd *cobra.Command) error {
	if !term.IsTerminal(a.Out) {
		return cmd.Help()
	}
	fmt.Fprint(a.Out, "bgremove takes the background out of animations, video and pictures.\n\n")
	for _, step := range firstSteps {
		fmt.Fprintf(a.Out, "  %-39s %s\n", step[0], step[1])
	}
	_, err := fmt.Fprint(a.Out, "\nbgremove --help lists all commands, bgremove remove --help all flags.\n")
	return err
}
