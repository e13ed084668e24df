package job

import "errors"

// Options are the ten that a submission may give. The zero value is not ready
// to use: start from DefaultOptions.
type Options struct {
	Method       string `json:"method"`            // auto, fast or rembg
	Tolerance    int    `json:"tolerance"`         // 8 to 32
	Crop         bool   `json:"crop"`              //
	Pad          int    `json:"pad"`               // 0 to 50 pixels
	CanvasW      int    `json:"canvasW,omitempty"` // 16 to 4096 pixels; 0: not given
	CanvasH      int    `json:"canvasH,omitempty"`
	Anchor       string `json:"anchor"`       // center or bottom
	OutputFormat string `json:"outputFormat"` // gif, apng, webm or mp4
	BgColor      string `json:"bgColor"`      // transparent or #rrggbb
	Trim         bool   `json:"trim"`
}

// OptionError is a value that an option cannot have; its message is for users.
type OptionError struct{ Field, Reason string }

func (e *OptionError) Error() string { return e.Field + " " + e.Reason }

// DefaultOptions are the specification's.
func DefaultOptions() Options {
	return Options{Method: "auto", Tolerance: 16, Crop: true, Pad: 12, Anchor: "center", OutputFormat: "gif", BgColor: "transparent"}
}

// Set gives an option the value of a form field. It reports whether there is
// an option of that name; the error is an *OptionError.
func (o *Options) Set(field, value string) (known bool, err error) {
	return false, errors.ErrUnsupported
}

// EffectiveFormat is the format that is written: mp4 has no transparency, so
// with a transparent background it falls back to gif.
func (o Options) EffectiveFormat() string {
	if o.OutputFormat == "mp4" && o.BgColor == "transparent" {
		return "gif"
	}
	return o.OutputFormat
}
