package cli

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/cli/failure"
	"github.com/bgremove/bgremove/internal/system/outfile"
	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// pictures are the stills of --preview and --compare. They are written after
// the clip itself.
type pictures struct {
	preview, compare string
	overwrite        bool
	before, after    *image.NRGBA
}

// pictures checks before any work that the stills can be written.
func (o *removeOptions) pictures(input string) (*pictures, error) {
	used := o.files(input)
	for _, path := range []string{o.preview, o.compare} {
		if path == "" {
			continue
		}
		if slices.ContainsFunc(used, func(other string) bool { return other != "" && bgremove.HasFile(other, path) }) {
			return nil, &bgremove.Error{Kind: bgremove.Invalid, Path: path, Reason: "named twice: each file needs a name of its own"}
		}
		if o.sheet != "" && bgremove.HasPage(o.sheet, path) {
			return nil, &bgremove.Error{Kind: bgremove.Invalid, Path: path, Reason: "may be a page of the sprite sheet: each file needs a name of its own"}
		}
		used = append(used, path)
		if !strings.EqualFold(filepath.Ext(path), ".png") {
			return nil, &bgremove.Error{Kind: bgremove.Invalid, Path: path, Reason: "stills are written as .png"}
		}
		if err := checkStill(path, o.force); err != nil {
			return nil, err
		}
	}
	return &pictures{preview: o.preview, compare: o.compare, overwrite: o.force}, nil
}

// files are those that a removal reads and writes, without its stills. Some are empty.
func (o *removeOptions) files(input string) []string {
	behind, _ := option.ParseBackground(o.Background)
	all := []string{input, o.output, o.sheet, o.matte, behind.File}
	for _, h := range o.Hints {
		all = append(all, h.Mask)
	}
	return all
}

// checkStill reports why a still cannot be written.
func checkStill(path string, overwrite bool) error {
	f, err := outfile.Create(path, overwrite)
	at := (*fs.PathError)(nil)
	switch {
	case err == nil:
		f.Discard()
		return nil
	case errors.Is(err, fs.ErrExist):
		return &bgremove.Error{Kind: bgremove.Exists, Cause: failure.FileExists, Path: path, Reason: "the picture already exists"}
	case errors.Is(err, fs.ErrNotExist):
		return &bgremove.Error{Kind: bgremove.Failed, Cause: failure.FolderMissing, Path: path, Reason: "the picture's folder does not exist", Err: err}
	case errors.As(err, &at):
		return &bgremove.Error{Kind: bgremove.Failed, Path: path, Reason: "the picture cannot be created: " + at.Err.Error(), Err: err}
	}
	return err
}

// onPreview returns the function that receives the stills, or nil if none is wanted.
func (p *pictures) onPreview() func(before, after *image.NRGBA) {
	if p.preview == "" && p.compare == "" {
		return nil
	}
	return func(before, after *image.NRGBA) { p.before, p.after = before, after }
}

// save writes the requested stills.
func (p *pictures) save() error {
	if p.after == nil {
		return nil
	}
	if p.preview != "" {
		if err := p.savePNG(p.preview, p.after); err != nil {
			return err
		}
	}
	if p.compare != "" {
		return p.savePNG(p.compare, canvas.SideBySide(p.before, p.after))
	}
	return nil
}

// savePNG writes a picture that appears only when it is complete.
func (p *pictures) savePNG(path string, img image.Image) error {
	f, err := outfile.Create(path, p.overwrite)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := png.Encode(f, img); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = f.Commit()
	return err
}
