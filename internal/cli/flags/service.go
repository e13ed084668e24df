package flags

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// AddServiceOptions adds the flags for the Options that the service has too. It takes
// some of the formats only.
func AddServiceOptions(f *pflag.FlagSet, o *bgremove.Options, formats []bgremove.Format) {
	f.Var(Word(&o.Method), "method", Choices("method", map[string]string{"fast": "flood-fill", "rembg": "AI"}))
	f.IntVar(&o.Tolerance, "tolerance", o.Tolerance, "fast: how far from the backdrop's colour still is backdrop, "+Bounds("tolerance"))
	f.BoolVar(&o.Crop, "crop", o.Crop, "crop to the subject, one box for the whole clip; --no-crop keeps the whole picture")
	f.IntVar(&o.Pad, "pad", o.Pad, "`pixels` around the crop, "+Bounds("pad"))
	f.IntVar(&o.CanvasW, "canvas-w", 0, "scale to a canvas of this width, "+Bounds("canvas-w")+" `pixels`")
	f.IntVar(&o.CanvasH, "canvas-h", 0, "scale to a canvas of this height, "+Bounds("canvas-h")+" `pixels`")
	f.Var(Word(&o.Anchor), "anchor", "where the subject stands on the canvas: "+Choices("anchor", nil))
	f.Var(&formatWord{word[bgremove.Format]{&o.Format}, formats}, "format", option.List(words(formats), "or"))
	f.BoolVar(&o.Trim, "trim", false, "drop idle frames at both ends (GIF inputs)")
}

// formatWord is a flag for a format, which offers some of them.
type formatWord struct {
	word[bgremove.Format]
	formats []bgremove.Format
}

// Words are the formats that the flag offers.
func (w *formatWord) Words() []string { return words(w.formats) }

// check refuses a format that others offer.
func (w *formatWord) check() error {
	if *w.p == "" || slices.Contains(w.formats, *w.p) || !slices.Contains(option.Formats(), *w.p) {
		return nil
	}
	return &bgremove.Error{Kind: bgremove.Invalid, Field: "outputFormat", Reason: "must be one of " + strings.Join(w.Words(), ", ")}
}

// CheckOptions refuses values out of range. It also refuses an explicit 0 that
// is out of range, because 0 in Options means unset. A matte is not cropped
// unless the user asks for it, so that it fits its original.
func CheckOptions(cmd *cobra.Command, o *bgremove.Options) error {
	if o.MaskOnly && !cmd.Flags().Changed("crop") {
		o.Crop = false
	}
	var wrong []error
	for _, field := range option.Fields() {
		f := cmd.Flags().Lookup(Name(field.Name))
		positive := field.Range.Min > 0 || field.Span.Min > 0 || field.Name == "maxSize" || field.Name == "end"
		if positive && f != nil && f.Changed && (f.Value.String() == "0" || f.Value.String() == "" && f.Value.Type() == "time") {
			wrong = append(wrong, &bgremove.Error{Kind: bgremove.Invalid, Field: f.Name, Reason: "must not be 0: leave it out"})
		}
	}
	if f := cmd.Flags().Lookup("format"); f != nil {
		if w, ok := f.Value.(*formatWord); ok {
			wrong = append(wrong, withValues(cmd, w.check()))
		}
	}
	return errors.Join(append(wrong, withValues(cmd, bgremove.Validate(*o)))...)
}

// withValues adds the given values to errors about options. bgremove.Validate
// has other callers and does not repeat values.
func withValues(cmd *cobra.Command, err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, withValues(cmd, e))
		}
		return errors.Join(all...)
	}
	var e *bgremove.Error
	if !errors.As(err, &e) || e.Field == "" {
		return err
	}
	named := *e
	named.Field = Name(e.Field)
	if f := cmd.Flags().Lookup(named.Field); f != nil && f.Value.Type() != "bool" && strings.HasPrefix(named.Reason, "must ") {
		named.Reason += ", not " + refusedValue(f.Value)
	}
	return &named
}

// refusedValue is a value in a message; a word gets quotes.
func refusedValue(v pflag.Value) string {
	if _, err := strconv.ParseFloat(v.String(), 64); err == nil {
		return v.String()
	}
	return strconv.Quote(v.String())
}
