package bgremove

import (
	"errors"
	"fmt"
	"image/color"
	"path/filepath"
	"strings"

	"github.com/bgremove/bgremove/pkg/option"
)

// The options of a removal and the types of their words are those of package
// option, which also has their bounds and the facts of formats.
type (
	// Options configure the work on a clip.
	Options = option.Options
	// Method separates the subject from the background.
	Method = option.Method
	// Format is a format that is written.
	Format = option.Format
	// Anchor is where the subject stands on a canvas.
	Anchor = option.Anchor
	// Scale is how pictures are scaled to a canvas.
	Scale = option.Scale
	// Fit is how a file behind the subject is fitted to the output.
	Fit = option.Fit
	// Holes says what happens to areas of the backdrop's colour that the subject
	// encloses.
	Holes = option.Holes
	// Preset is the limits of a service that takes clips.
	Preset = option.Preset
	// Subject is which of the things that the network finds is wanted.
	Subject = option.Subject
	// SheetData is the schema in which a sprite sheet is described.
	SheetData = option.SheetData
	// SheetPack is how frames are placed on a sprite sheet.
	SheetPack = option.SheetPack
)

// The words that programs use most; package option has them all.
const (
	Auto  = option.Auto
	Fast  = option.Fast
	Rembg = option.Rembg

	GIF  = option.GIF
	APNG = option.APNG
	WebP = option.WebP
	AVIF = option.AVIF
	WebM = option.WebM
	MP4  = option.MP4
	MOV  = option.MOV
	PNG  = option.PNG

	Stacked = option.Stacked
	HEVC    = option.HEVC

	Center = option.Center
	Bottom = option.Bottom

	ScaleAuto    = option.ScaleAuto
	ScaleSmooth  = option.ScaleSmooth
	ScaleNearest = option.ScaleNearest

	Cover   = option.Cover
	Contain = option.Contain
	Tile    = option.Tile

	TexturePacker = option.TexturePacker
	Aseprite      = option.Aseprite

	Tight = option.Tight
	Rows  = option.Rows

	HolesAuto   = option.HolesAuto
	HolesKeep   = option.HolesKeep
	HolesRemove = option.HolesRemove

	SubjectAuto = option.SubjectAuto
	Moving      = option.Moving
	Salient     = option.Salient

	KeyAuto  = option.KeyAuto
	KeyGreen = option.KeyGreen
	KeyBlue  = option.KeyBlue

	Transparent = option.Transparent
)

// Defaults are the options of the command line and the HTTP API.
func Defaults() Options { return option.Defaults() }

// FormatOf returns the format of a file name's extension.
func FormatOf(path string) (Format, bool) { return option.FormatOf(path) }

// Validate checks every option and joins all problems. Each is an *Error of
// kind Invalid that names its field.
func Validate(o Options) error {
	joined, ok := o.Validate().(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var errs []error
	for _, err := range joined.Unwrap() {
		errs = append(errs, invalid(err))
	}
	return errors.Join(errs...)
}

// invalid is the error of package option as an *Error.
func invalid(err error) error {
	e := &Error{Kind: Invalid, Reason: err.Error(), Err: err}
	if wrong := (*option.Error)(nil); errors.As(err, &wrong) {
		e.Field, e.Reason = wrong.Field, wrong.Reason
	}
	return e
}

// FallBack says why the format that is asked for is not written; ok is false where
// it is written.
func FallBack(o Options) (note Note, ok bool) {
	if o.Format == "" || o.Format == o.EffectiveFormat() {
		return Note{}, false
	}
	return Note{Code: GIFInstead, Message: fmt.Sprintf("%s has no transparency, so a %s is written", o.Format, o.EffectiveFormat())}, true
}

// EffectivePath is an output's path with the extension of the format that is
// written, in the place of that of the format that is asked for.
func EffectivePath(output string, o Options) string {
	asked, written := o.Format.Extension(), o.EffectiveFormat().Extension()
	if f, ok := FormatOf(output); ok && f.Extension() == asked && asked != written {
		return strings.TrimSuffix(output, filepath.Ext(output)) + "." + written
	}
	return output
}

// colour is the valid colour of an option, or nil where it is none.
func colour(s string) *color.NRGBA {
	c, ok := option.ParseColour(s)
	if !ok {
		return nil
	}
	return &c
}

// keyColour is the colour that a valid Key says or has the hue of, or nil where it
// is to be measured.
func keyColour(key string) *color.NRGBA {
	switch key {
	case KeyGreen:
		return &color.NRGBA{G: 255, A: 255}
	case KeyBlue:
		return &color.NRGBA{B: 255, A: 255}
	}
	return colour(key)
}
