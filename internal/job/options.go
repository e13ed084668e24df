package job

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Options are the ten that a submission may give. The zero value is not ready
// to use: start from DefaultOptions.
type Options struct {
	Method       string `json:"method"`            // auto, fast or rembg
	Tolerance    int    `json:"tolerance"`         // 8 to 32
	Crop         bool   `json:"crop"`              // to the subject
	Pad          int    `json:"pad"`               // around the crop, 0 to 50 pixels
	CanvasW      int    `json:"canvasW,omitempty"` // 16 to 4096 pixels; 0: not given
	CanvasH      int    `json:"canvasH,omitempty"`
	Anchor       string `json:"anchor"`       // center or bottom
	OutputFormat string `json:"outputFormat"` // as asked for: gif, apng, webm or mp4
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

// fields set an option from the text of a form, or return its rule if they
// cannot.
var fields = map[string]func(o *Options, value string) (must string){
	"method":       func(o *Options, v string) string { return word(&o.Method, v, "auto", "fast", "rembg") },
	"tolerance":    func(o *Options, v string) string { return number(&o.Tolerance, v, 8, 32) },
	"crop":         func(o *Options, v string) string { return truth(&o.Crop, v) },
	"pad":          func(o *Options, v string) string { return number(&o.Pad, v, 0, 50) },
	"canvasW":      func(o *Options, v string) string { return number(&o.CanvasW, v, 16, 4096) },
	"canvasH":      func(o *Options, v string) string { return number(&o.CanvasH, v, 16, 4096) },
	"anchor":       func(o *Options, v string) string { return word(&o.Anchor, v, "center", "bottom") },
	"outputFormat": func(o *Options, v string) string { return word(&o.OutputFormat, v, "gif", "apng", "webm", "mp4") },
	"bgColor":      func(o *Options, v string) string { return colour(&o.BgColor, v) },
	"trim":         func(o *Options, v string) string { return truth(&o.Trim, v) },
}

// Set gives an option the value of a form field. It reports whether there is
// an option of that name; the error is an *OptionError, and the option then
// stays as it was.
func (o *Options) Set(field, value string) (known bool, err error) {
	set, known := fields[field]
	if !known {
		return false, nil
	}
	if must := set(o, value); must != "" {
		return true, &OptionError{Field: field, Reason: "must be " + must}
	}
	return true, nil
}

// OptionNames are the names that Set knows, sorted.
func OptionNames() []string { return slices.Sorted(maps.Keys(fields)) }

// EffectiveFormat is the format that is written: mp4 has no transparency, so
// with a transparent background it falls back to gif.
func (o Options) EffectiveFormat() string {
	if o.OutputFormat == "mp4" && o.BgColor == "transparent" {
		return "gif"
	}
	return o.OutputFormat
}

func word(to *string, value string, allowed ...string) (must string) {
	if !slices.Contains(allowed, value) {
		return "one of " + strings.Join(allowed, ", ")
	}
	*to = value
	return ""
}

func number(to *int, value string, low, high int) (must string) {
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high {
		return fmt.Sprintf("between %d and %d", low, high)
	}
	*to = n
	return ""
}

func truth(to *bool, value string) (must string) {
	if value != "true" && value != "false" {
		return "true or false"
	}
	*to = value == "true"
	return ""
}

// colour takes #rrggbb in either case and keeps it in lower case.
func colour(to *string, value string) (must string) {
	if value != "transparent" {
		if _, err := strconv.ParseUint(strings.TrimPrefix(value, "#"), 16, 24); err != nil || len(value) != 7 || value[0] != '#' {
			return "transparent or #rrggbb"
		}
	}
	*to = strings.ToLower(value)
	return ""
}
