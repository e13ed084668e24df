package cli

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// pictures are the stills that --preview and --compare ask for. They are
// written once the clip itself is.
type pictures struct {
	preview, compare string
	before, after    *image.NRGBA
}

// pictures checks that the stills can be written before any work.
func (o *removeOptions) pictures() (*pictures, error) {
	for _, path := range []string{o.preview, o.compare} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil && !o.force {
			return nil, &bgremove.Error{Kind: bgremove.Exists, Path: path, Reason: "the picture exists already", Hint: "--force overwrites it"}
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, &bgremove.Error{Kind: bgremove.Failed, Path: path, Reason: "the picture's folder does not exist", Err: err}
		}
	}
	return &pictures{preview: o.preview, compare: o.compare}, nil
}

// take is what receives the stills, or nil if none is wanted.
func (p *pictures) take() func(before, after *image.NRGBA) {
	if p.preview == "" && p.compare == "" {
		return nil
	}
	return func(before, after *image.NRGBA) { p.before, p.after = before, after }
}

// save writes the stills that were asked for.
func (p *pictures) save() error {
	if p.after == nil {
		return nil
	}
	if p.preview != "" {
		if err := savePNG(p.preview, p.after); err != nil {
			return err
		}
	}
	if p.compare != "" {
		return savePNG(p.compare, canvas.SideBySide(p.before, p.after))
	}
	return nil
}

// savePNG writes a picture that appears when it is complete.
func savePNG(path string, img image.Image) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".bgremove-*.part")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer os.Remove(f.Name())
	if err := errors.Join(png.Encode(f, img), f.Chmod(0o644), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
