package job

import (
	"cmp"
	"errors"
	"slices"

	"github.com/bgremove/bgremove/internal/service/price"
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
	// Those that came later are left out where they are not given, as they are in
	// earlier jobs. Background takes BgColor's place, see option.DrawnBackground.
	Background string        `json:"background,omitempty"`
	Outline    string        `json:"outline,omitempty"`
	Shadow     string        `json:"shadow,omitempty"`
	Harmonise  bool          `json:"harmonise,omitempty"`
	Hints      []option.Hint `json:"hints,omitempty"`
	Largest    bool          `json:"largest,omitempty"`
	FPS        float64       `json:"fps,omitempty"`
	Start      float64       `json:"start,omitempty"` // seconds
	End        float64       `json:"end,omitempty"`   // seconds
	Quality    int           `json:"quality,omitempty"`
	Loop       *int          `json:"loop,omitempty"`
	Model      string        `json:"model,omitempty"` // one that the service offers
}

// optionNames are those of Options in JSON, which are those of package option.
var optionNames = []string{"method", "tolerance", "crop", "pad", "canvasW", "canvasH", "anchor", "outputFormat", "bgColor", "trim",
	option.DrawnBackground, "outline", "shadow", "harmonise", "hints", "largest", "fps", "start", "end", "quality", "loop", "model"}

// OptionNames are the names that Set knows.
func OptionNames() []string { return slices.Clone(optionNames) }

// DefaultOptions are those of package option, with the format of clips.
func DefaultOptions() Options {
	o := offered(option.Defaults())
	o.OutputFormat = option.FormatFor(false)
	return o
}

// offered are the options that a submission may give of a removal's, all but
// Background.
func offered(o option.Options) Options {
	return Options{
		Method: o.Method, Tolerance: o.Tolerance, Crop: o.Crop, Pad: o.Pad, CanvasW: o.CanvasW, CanvasH: o.CanvasH,
		Anchor: o.Anchor, OutputFormat: o.Format, BgColor: o.Background, Trim: o.Trim,
		Outline: o.Outline, Shadow: o.Shadow, Harmonise: o.Harmonise,
		Hints: o.Hints, Largest: o.Largest,
		FPS: o.FPS, Start: o.Start.Seconds(), End: o.End.Seconds(), Quality: o.Quality, Loop: o.Loop, Model: o.Model,
	}
}

// Removal are the removal's options: these, and the defaults of all others.
func (o Options) Removal() option.Options {
	r := option.Defaults()
	r.Method, r.Tolerance, r.Crop, r.Pad, r.CanvasW, r.CanvasH = o.Method, o.Tolerance, o.Crop, o.Pad, o.CanvasW, o.CanvasH
	r.Anchor, r.Format, r.Background, r.Trim = o.Anchor, o.OutputFormat, cmp.Or(o.Background, o.BgColor), o.Trim
	r.Outline, r.Shadow, r.Harmonise = o.Outline, o.Shadow, o.Harmonise
	r.Hints, r.Largest = o.Hints, o.Largest
	r.FPS, r.Start, r.End, r.Quality, r.Loop = o.FPS, option.Seconds(o.Start), option.Seconds(o.End), o.Quality, o.Loop
	r.Model = o.Model
	return r
}

// Set gives an option the value of a form field. It reports whether there is
// an option of that name; the error is an *option.Error, and the option then
// stays as it was.
func (o *Options) Set(field, value string) (known bool, err error) {
	if !slices.Contains(optionNames, field) {
		return false, nil
	}
	drawn := o.Background
	colours := *o // without Background, which Set would not tell from BgColor
	colours.Background = ""
	r := colours.Removal()
	if err := r.Set(field, value); err != nil {
		return true, err
	}
	if field == option.DrawnBackground {
		o.Background = r.Background
		return true, nil
	}
	*o = offered(r)
	o.Background = drawn
	return true, nil
}

// Check refuses options that do not go together; the error is an *option.Error.
func (o Options) Check() error {
	if o.Background != "" && o.BgColor != option.Transparent {
		return &option.Error{Field: option.DrawnBackground, Reason: "does not go with bgColor"}
	}
	if o.Model != "" && o.Method == option.Fast {
		return &option.Error{Field: "model", Reason: "does not go with method fast, which uses none"}
	}
	wrong := (*option.Error)(nil)
	if errors.As(o.Removal().Validate(), &wrong) {
		return wrong
	}
	return nil
}

// CheckFor refuses a part and hints that do not fit a clip; the error is an
// *option.Error.
func (o Options) CheckFor(m Media) error {
	r := o.Removal()
	if err := r.CheckPart(m.Duration); err != nil {
		return err
	}
	return r.CheckHints(m.Width, m.Height, m.Duration)
}

// Price is that of the part of a clip that is kept.
func (o Options) Price(m Media) int64 { return price.Of(o.Removal().Kept(m.Duration)) }
