package job

import (
	"slices"

	"github.com/bgremove/bgremove/pkg/option"
)

// Options are the options of a removal that a submission may give. Their JSON is
// stored and identifies a submission, so it stays as it is. The zero value is not
// ready to use: start from DefaultOptions.
type Options struct {
	Method       option.Method `json:"method"`
	Tolerance    int           `json:"tolerance"`
	Crop         bool          `json:"crop"`
	Pad          int           `json:"pad"`
	CanvasW      int           `json:"canvasW,omitempty"`
	CanvasH      int           `json:"canvasH,omitempty"`
	Anchor       option.Anchor `json:"anchor"`
	OutputFormat option.Format `json:"outputFormat"` // as asked for
	BgColor      string        `json:"bgColor"`
	Trim         bool          `json:"trim"`
}

// optionNames are those of Options in JSON, which are those of package option.
var optionNames = []string{"method", "tolerance", "crop", "pad", "canvasW", "canvasH", "anchor", "outputFormat", "bgColor", "trim"}

// OptionNames are the names that Set knows.
func OptionNames() []string { return slices.Clone(optionNames) }

// DefaultOptions are those of package option.
func DefaultOptions() Options { return offered(option.Defaults()) }

// offered are the options that a submission may give of a removal's.
func offered(o option.Options) Options {
	return Options{
		Method: o.Method, Tolerance: o.Tolerance, Crop: o.Crop, Pad: o.Pad, CanvasW: o.CanvasW, CanvasH: o.CanvasH,
		Anchor: o.Anchor, OutputFormat: o.Format, BgColor: o.Background, Trim: o.Trim,
	}
}

// Removal are the removal's options: these, and the defaults of all others.
func (o Options) Removal() option.Options {
	r := option.Defaults()
	r.Method, r.Tolerance, r.Crop, r.Pad, r.CanvasW, r.CanvasH = o.Method, o.Tolerance, o.Crop, o.Pad, o.CanvasW, o.CanvasH
	r.Anchor, r.Format, r.Background, r.Trim = o.Anchor, o.OutputFormat, o.BgColor, o.Trim
	return r
}

// Set gives an option the value of a form field. It reports whether there is
// an option of that name; the error is an *option.Error, and the option then
// stays as it was.
func (o *Options) Set(field, value string) (known bool, err error) {
	if !slices.Contains(optionNames, field) {
		return false, nil
	}
	r := o.Removal()
	if err := r.Set(field, value); err != nil {
		return true, err
	}
	*o = offered(r)
	return true, nil
}
