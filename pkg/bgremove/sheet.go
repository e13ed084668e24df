package bgremove

import (
	"context"
	"errors"
	"image"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/internal/sheet"
	"github.com/bgremove/bgremove/internal/system/outfile"
	"github.com/bgremove/bgremove/pkg/option"
)

// Sheet describes a sprite sheet that was written.
type Sheet struct {
	Pages []SheetPage `json:"pages"`
	// Sprites is how many different pictures there are.
	Sprites int `json:"sprites"`
	// Size is the bytes of all its files.
	Size int64 `json:"size"`
}

// SheetPage is a picture of a sheet and the file that describes it.
type SheetPage struct {
	Image  string `json:"image"`
	Data   string `json:"data"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// SheetFormat is Result.OutputFormat where only a sheet was written.
const SheetFormat Format = "sheet"

// sheetExtension is what the path of a sheet ends in.
const sheetExtension = ".png"

// SheetPath is the default place of a sheet: that of a clip's output, as a picture.
func SheetPath(output string) string {
	return strings.TrimSuffix(output, filepath.Ext(output)) + sheetExtension
}

// outputs are the files of one removal: a clip, a sheet, or both.
type outputs struct {
	*removal
	path   string
	inputs []read
	info   media.Info // of the clip that is read
	plays  int
	clip   *target // nil without one
	matte  *target // nil without one
	pace   *pacer  // of numbered pictures, else nil
	pages  []sheetFiles
	sheet  *sheet.Writer // nil without one
	size   int64         // of the sheet
}

// sheetFiles are the files of a page.
type sheetFiles struct{ picture, data *outfile.File }

// createAll makes the files, or explains why it cannot, and then leaves none.
func (j *removal) createAll(in *input, path, output string) (*outputs, error) {
	o := &outputs{removal: j, path: output, inputs: j.reads(in, path), info: in.clip.Info(), plays: in.clip.Info().Plays}
	if j.options.Loop != nil {
		o.plays = *j.options.Loop
	}
	if err := o.create(); err != nil {
		o.discard()
		return nil, err
	}
	return o, nil
}

func (o *outputs) create() (err error) {
	path := o.extras.Sheet
	if path != "" {
		if !strings.EqualFold(filepath.Ext(path), sheetExtension) {
			return &Error{Kind: Invalid, Path: path, Reason: "a sprite sheet is written as " + sheetExtension}
		}
		if err := o.addPage(); err != nil {
			return err
		}
	}
	if o.path != "" || path == "" {
		o.clip, err = newTarget(o.path, o.format(), o.extras, o.config.ChildLimits.FileSize)
	}
	if err == nil && o.extras.Matte != "" {
		o.matte, err = newTarget(o.extras.Matte, o.removal.matte, o.extras, o.config.ChildLimits.FileSize)
	}
	return err
}

// samePath reports whether two paths are one name, perhaps by a link to its folder.
func samePath(a, b string) bool {
	a, err := filepath.Abs(a)
	b, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && (a == b || filepath.Base(a) == filepath.Base(b) && sameFile(filepath.Dir(a), filepath.Dir(b)))
}

// addPage makes the files of the sheet's next page.
func (o *outputs) addPage() error {
	path := sheet.PageName(o.extras.Sheet, len(o.pages))
	for _, name := range []string{path, sheet.DataName(path)} {
		switch reason := o.replaces(name, o.inputs); {
		case reason != "":
			return &Error{Kind: Invalid, Cause: OutputIsInput, Path: name, Reason: reason}
		case o.path != "" && (samePath(o.path, name) || sameFile(o.path, name)):
			return &Error{Kind: Invalid, Path: name, Reason: "named twice: the sprite sheet and the clip need names of their own"}
		}
	}
	picture, err := create(path, o.extras.Overwrite)
	if err != nil {
		return err
	}
	data, err := create(sheet.DataName(path), o.extras.Overwrite)
	if err != nil {
		picture.Discard()
		return err
	}
	o.pages = append(o.pages, sheetFiles{picture, data})
	return nil
}

// page is the files of a page, whose first exists.
func (o *outputs) page(page int) (picture, data io.Writer, err error) {
	if page == len(o.pages) {
		if err := o.addPage(); err != nil {
			return nil, nil, err
		}
	}
	files := o.pages[page]
	limit := o.config.ChildLimits.FileSize
	return &limitedFile{file: files.picture, limit: limit}, &limitedFile{file: files.data, limit: limit}, nil
}

// sink opens the writer of the files; clip opens that of the clip.
func (o *outputs) sink(ctx context.Context, out pipeline.Output, clip func(*target) (media.Sink, error)) (media.Sink, error) {
	if o.extras.Sheet == "" {
		s, err := clip(o.clip)
		if err == nil && o.clip.pattern != nil {
			return o.paced(s, out), nil
		}
		return s, err
	}
	var err error
	if o.sheet, err = sheet.NewWriter(ctx, out.Size.X, out.Size.Y, o.page, o.sheetOptions(out)); err != nil {
		return nil, err
	}
	if o.clip == nil {
		return o.sheet, nil
	}
	other, err := clip(o.clip)
	if err != nil {
		o.sheet.Abort()
		return nil, err
	}
	return sheet.Beside(o.sheet, other), nil
}

// sheetOptions translates the options for the sheet.
func (o *outputs) sheetOptions(out pipeline.Output) sheet.Options {
	want := o.options
	so := sheet.Options{
		Limits: sheet.Limits{Max: want.SheetMax, PowerOfTwo: want.SheetPowerOfTwo, Extrude: want.SheetExtrude},
		Data:   want.SheetData, Pack: want.SheetPack, Pivot: sheet.Point{X: 0.5, Y: 0.5}, Plays: o.plays,
		Image: filepath.Base(o.extras.Sheet), Pool: out.Pool, TempDir: o.config.TempDir,
	}
	if so.Max == 0 {
		so.Max = option.SheetSide
	}
	switch {
	case want.SheetPadding != nil:
		so.Padding = *want.SheetPadding
	case want.SheetPack != option.Rows:
		so.Padding = option.TightPadding
	}
	if want.Anchor == Bottom {
		so.Pivot.Y = 1
	}
	return so
}

// paced is the sink of an output of numbered pictures.
func (o *outputs) paced(s media.Sink, out pipeline.Output) media.Sink {
	o.pace = o.pacer(s, out)
	return o.pace
}

func (o *outputs) pacer(s media.Sink, out pipeline.Output) *pacer {
	return &pacer{Sink: s, rate: timingOf(o.options, o.info).MaxRate, tolerance: pipeline.Rounding(o.info), pool: out.Pool}
}

// commit gives all files their names, or none, and returns the clip's size. Files
// that are overwritten are gone, should a later one fail.
func (o *outputs) commit() (clip int64, err error) {
	var all []named
	for i, p := range o.pages {
		path := sheet.PageName(o.extras.Sheet, i)
		all = append(all, named{p.picture, path, &o.size}, named{p.data, sheet.DataName(path), &o.size})
	}
	all = append(append(all, o.matte.files()...), o.clip.files()...)
	for i, n := range all {
		size, err := n.file.Commit()
		if err != nil {
			for _, done := range all[:i] {
				_ = outfile.Remove(done.path) // the error says more
			}
			if errors.Is(err, fs.ErrExist) {
				err = existsError(n.path, err)
			}
			return 0, err
		}
		*n.size += size
	}
	if o.clip == nil {
		return 0, nil
	}
	return o.clip.size, nil
}

// discard removes what has no name yet.
func (o *outputs) discard() {
	for _, p := range o.pages {
		p.picture.Discard()
		p.data.Discard()
	}
	o.clip.discard()
	o.matte.discard()
}

// report says in a result what was written beside a clip, or in its place.
func (o *outputs) report(r *Result) {
	r.Matte = o.matteReport()
	if o.pace != nil {
		r.Frames, r.FrameRate = o.pace.pictures, o.pace.frameRate()
		if r.FrameRate > 0 {
			r.Notes = append(r.Notes, o.pace.note())
		}
	}
	if o.sheet == nil {
		return
	}
	r.Sheet = &Sheet{Sprites: o.sheet.Sprites(), Size: o.size}
	for i, size := range o.sheet.Pages() {
		r.Sheet.Pages = append(r.Sheet.Pages, o.sheetPage(i, size))
	}
	if o.clip == nil {
		r.Output, r.OutputFormat, r.OutputSize = o.extras.Sheet, SheetFormat, o.size
	}
}

func (o *outputs) sheetPage(page int, size image.Point) SheetPage {
	path := sheet.PageName(o.extras.Sheet, page)
	return SheetPage{Image: path, Data: sheet.DataName(path), Width: size.X, Height: size.Y}
}

// sheetError explains what a sheet cannot hold; it is nil for other errors.
func sheetError(path string, err error) error {
	var (
		size  *sheet.SizeError
		pages *sheet.PagesError
	)
	switch {
	case errors.As(err, &size):
		return &Error{Kind: Failed, Path: path, Cause: SheetFrameTooLarge, Limit: strconv.Itoa(size.Max), Reason: size.Error(), Err: err}
	case errors.As(err, &pages):
		return &Error{Kind: Failed, Path: path, Cause: SheetPages, Limit: strconv.Itoa(pages.Max), Reason: pages.Error(), Err: err}
	}
	return nil
}
