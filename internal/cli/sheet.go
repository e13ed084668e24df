package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/internal/batch"
	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// sheetFlags are the flags for how a sprite sheet is written. Whether one is says
// --sheet, which names its file only where there is one input.
func sheetFlags(f *pflag.FlagSet, o *bgremove.Options) {
	f.Var(flags.Word(&o.SheetData), "sheet-data", "the schema of the data: "+
		flags.Choices("sheet-data", map[string]string{"texturepacker": "JSON Hash", "aseprite": "one page, with a tag"}))
	f.Var(flags.Word(&o.SheetPack), "sheet-pack", "how frames are placed: "+
		flags.Choices("sheet-pack", map[string]string{"tight": "trimmed, equal ones once", "rows": "all, whole, in equal cells"}))
	f.IntVar(&o.SheetMax, "sheet-max", 0, fmt.Sprintf("longest side of a page in `pixels`, %s (default %d)", flags.Bounds("sheet-max"), option.SheetSide))
	f.BoolVar(&o.SheetPowerOfTwo, "sheet-power-of-two", false, "make both sides of each page a power of two")
	f.Var(flags.Optional(&o.SheetPadding), "sheet-padding", fmt.Sprintf("`pixels` between frames, %d..%d (default: %d, and none in rows)",
		option.SheetPadding.Min, option.SheetPadding.Max, option.TightPadding))
	f.IntVar(&o.SheetExtrude, "sheet-extrude", 0, "`pixels` around each frame in which its edge is repeated, "+flags.Bounds("sheet-extrude"))
}

// checkSheet refuses flags for a sheet without one, and a sheet that is no PNG.
func checkSheet(cmd *cobra.Command, path string) error {
	if path != "" && !strings.EqualFold(filepath.Ext(path), ".png") {
		return flags.Usage(cmd, fmt.Errorf("--sheet names a .png file, not %s", path))
	}
	if path != "" {
		return nil
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Name, "sheet-") && flags.Typed(cmd, f.Name) {
			err = flags.Usage(cmd, errors.New("--"+f.Name+" is of use with --sheet only"))
		}
	})
	return err
}

// clipWanted reports whether the command line asks for a clip, too, where it asks for
// a sheet.
func clipWanted(cmd *cobra.Command, output string) bool {
	return output != "" || flags.Typed(cmd, "format")
}

// written is the format by which the output of an input of a batch is named. A sheet has
// the extension of its picture.
func (o *batchOptions) written(input string) bgremove.Format {
	if !o.clips {
		return bgremove.PNG
	}
	return bgremove.WrittenFormat(input, o.Options)
}

// places are the files of an item: its clip, its sheet, or both.
func (o *batchOptions) places(item batch.Item) (clip, sheet string) {
	switch {
	case !o.sheet:
		return item.Output, ""
	case !o.clips:
		return "", item.Output
	}
	return item.Output, bgremove.SheetPath(item.Output)
}

// outputNames are the files of a result, in words.
func outputNames(r *bgremove.Result) string {
	if r.Matte != nil {
		return r.Output + " and " + r.Matte.Output
	}
	if r.Sheet == nil {
		return r.Output
	}
	var names []string
	if r.OutputFormat != bgremove.SheetFormat {
		names = append(names, r.Output)
	}
	for _, p := range r.Sheet.Pages {
		names = append(names, p.Image)
	}
	return strings.Join(names, ", ") + " and " + r.Sheet.Pages[0].Data
}
