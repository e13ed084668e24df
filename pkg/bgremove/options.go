package bgremove

import (
	"errors"
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
)

// Method separates the subject from the background.
type Method string

// The methods. The empty Method is Auto.
const (
	Auto  Method = "auto"  // Fast on a flat, steady backdrop, else Rembg
	Fast  Method = "fast"  // flood-fill from the border
	Rembg Method = "rembg" // segmentation by a neural network
)

// Format is a format that is written. The empty Format is GIF.
type Format string

// The formats.
const (
	GIF  Format = "gif"
	APNG Format = "apng"
	WebM Format = "webm"
	MP4  Format = "mp4"
)

// Anchor is where the subject stands on a canvas. The empty Anchor is Center.
type Anchor string

// The anchors.
const (
	Center Anchor = "center"
	Bottom Anchor = "bottom"
)

// Scale is how pictures are scaled to a canvas. The empty Scale is ScaleAuto.
type Scale string

// The ways to scale.
const (
	ScaleAuto    Scale = "auto"    // ScaleNearest where pixel art is enlarged, else ScaleSmooth
	ScaleSmooth  Scale = "smooth"  // by a spline
	ScaleNearest Scale = "nearest" // repeats or leaves out pixels
)

// Holes says what happens to areas of the backdrop's colour that the subject
// encloses, with Fast. The empty Holes is HolesAuto.
type Holes string

// The policies for holes.
const (
	HolesAuto   Holes = "auto"   // stay unless larger than 5 % of the picture
	HolesKeep   Holes = "keep"   // stay
	HolesRemove Holes = "remove" // go
)

// Subject is which of the things that the network finds is wanted. The empty Subject is
// SubjectAuto.
type Subject string

// The subjects.
const (
	SubjectAuto Subject = "auto"    // in shots with a clearly moving subject, not what never moves
	Moving      Subject = "moving"  // only what moves
	Salient     Subject = "salient" // all that the network finds
)

// The keys that are no #rrggbb.
const (
	KeyAuto  = "auto"
	KeyGreen = "green"
	KeyBlue  = "blue"
)

// keyColour is the colour that Key says or has the hue of, or nil.
func (o Options) keyColour() *color.NRGBA {
	switch o.Key {
	case KeyGreen:
		return &color.NRGBA{G: 255, A: 255}
	case KeyBlue:
		return &color.NRGBA{B: 255, A: 255}
	}
	return colour(o.Key)
}

// Transparent is the background that is none.
const Transparent = "transparent"

// Bounds of the options.
const (
	MinTolerance     = 8
	MaxTolerance     = 32
	DefaultTolerance = 16
	MaxPad           = 50
	DefaultPad       = 12
	MinCanvas        = 16
	MaxCanvas        = canvas.MaxSide
)

// Options configure the work on a clip. The zero value uses Auto, does not
// crop, and writes a transparent GIF. Defaults also crops, with padding, as the
// command line and the HTTP API do.
type Options struct {
	Method Method `json:"method,omitempty"`
	// Model names the network of Rembg; empty is the default one.
	Model string `json:"model,omitempty"`
	// Tolerance is the largest difference of a channel from the backdrop's
	// colour with Fast, 8 to 32; 0 means 16.
	Tolerance int `json:"tolerance,omitempty"`
	// Key is the backdrop's colour: #rrggbb, KeyGreen or KeyBlue for a lit screen of
	// that hue, or KeyAuto (also when empty), which measures it.
	Key   string `json:"key,omitempty"`
	Holes Holes  `json:"holes,omitempty"`
	// KeepShadow keeps the shadows on a green or blue screen.
	KeepShadow bool `json:"keepShadow,omitempty"`

	Subject Subject `json:"subject,omitempty"`
	// NoReuse runs the network on repeated frames, too. NoMotion does not tell the
	// subject by its motion over the clip. NoColours leaves the
	// network's uncertain pixels undecided. NoPlate does not use the backdrop
	// that other frames show behind the subject. NoSteady leaves flicker in.
	// NoRefine enlarges small mattes without following the picture's edges.
	// NoDecontaminate leaves the old backdrop's colour in edges. All but the
	// last apply to Rembg only.
	NoReuse         bool `json:"noReuse,omitempty"`
	NoMotion        bool `json:"noMotion,omitempty"`
	NoColours       bool `json:"noColours,omitempty"`
	NoPlate         bool `json:"noPlate,omitempty"`
	NoSteady        bool `json:"noSteady,omitempty"`
	NoRefine        bool `json:"noRefine,omitempty"`
	NoDecontaminate bool `json:"noDecontaminate,omitempty"`

	// Crop cuts to one box around the subject in all frames, Pad pixels (0 to
	// 50) wider on each side.
	Crop bool `json:"crop"`
	Pad  int  `json:"pad"`
	// CanvasW and CanvasH scale the subject to fit a canvas, in pixels, 16 to
	// 4096; a side of 0 follows the other, both 0 scale nothing.
	CanvasW int    `json:"canvasW,omitempty"`
	CanvasH int    `json:"canvasH,omitempty"`
	Anchor  Anchor `json:"anchor,omitempty"`
	Scale   Scale  `json:"scale,omitempty"`
	// Background is Transparent (also when empty) or #rrggbb.
	Background string `json:"bgColor,omitempty"`
	// Trim drops the frames without visible change at both ends of a GIF but
	// one each; ignored for other inputs.
	Trim bool `json:"trim,omitempty"`
	// MaskOnly writes the matte, white on black, instead of the cut-out.
	MaskOnly bool `json:"maskOnly,omitempty"`

	// Strict makes a result that is warned of an error, and writes nothing.
	Strict bool `json:"strict,omitempty"`

	// Start and End choose the frames to keep by their time; End 0 is the end
	// of the clip.
	Start time.Duration `json:"start,omitempty"`
	End   time.Duration `json:"end,omitempty"`
	// FPS drops frames so that at most that many a second are left; 0 keeps
	// all.
	FPS float64 `json:"fps,omitempty"`

	// Format is the output's. MP4 has no transparency: with a transparent
	// Background GIF is written instead, see EffectiveFormat.
	Format Format `json:"outputFormat,omitempty"`
	// Quality trades fidelity for size, 1 to 100; 0 means the format's default:
	// 90 for GIF, 80 for WebM and MP4. APNG is lossless.
	Quality int `json:"quality,omitempty"`
	// Loop is how often a GIF or APNG plays, 0 for ever; nil as the input,
	// and for ever if that is a video.
	Loop *int `json:"loop,omitempty"`
	// EdgeColour, #rrggbb, is what partly transparent pixels are blended on
	// before GIF makes them opaque or transparent; empty blends on nothing.
	EdgeColour string `json:"edgeColour,omitempty"`
	// NoAudio drops the sound, which WebM and MP4 keep otherwise.
	NoAudio bool `json:"noAudio,omitempty"`
}

// Defaults are the options of the command line and the HTTP API.
func Defaults() Options {
	return Options{Method: Auto, Tolerance: DefaultTolerance, Crop: true, Pad: DefaultPad,
		Anchor: Center, Background: Transparent, Format: GIF, Holes: HolesAuto}
}

// EffectiveFormat is the format really written: MP4 falls back to GIF when
// nothing solid is behind the subject.
func (o Options) EffectiveFormat() Format {
	switch {
	case o.Format == "", o.Format == MP4 && o.transparent():
		return GIF
	}
	return o.Format
}

func (o Options) transparent() bool {
	return !o.MaskOnly && (o.Background == "" || o.Background == Transparent)
}

// Validate checks every option and joins all problems. Each is an *Error of
// kind Invalid that names its field.
func (o Options) Validate() error {
	var errs []error
	check := func(ok bool, field, format string, args ...any) {
		if !ok {
			errs = append(errs, &Error{Kind: Invalid, Field: field, Reason: fmt.Sprintf(format, args...)})
		}
	}
	within := func(field string, v, low, high int) {
		check(v >= low && v <= high, field, "must be between %d and %d", low, high)
	}
	oneOf := func(field, v string, allowed ...string) {
		check(v == "" || slices.Contains(allowed, v), field, "must be one of %s", strings.Join(allowed, ", "))
	}
	colour := func(field, v string) {
		_, ok := parseColour(v)
		check(v == "" || ok, field, "must be #rrggbb")
	}
	oneOf("method", string(o.Method), string(Auto), string(Fast), string(Rembg))
	oneOf("holes", string(o.Holes), string(HolesAuto), string(HolesKeep), string(HolesRemove))
	oneOf("anchor", string(o.Anchor), string(Center), string(Bottom))
	oneOf("subject", string(o.Subject), string(SubjectAuto), string(Moving), string(Salient))
	oneOf("scale", string(o.Scale), string(ScaleAuto), string(ScaleSmooth), string(ScaleNearest))
	oneOf("outputFormat", string(o.Format), string(GIF), string(APNG), string(WebM), string(MP4))
	if o.Tolerance != 0 {
		within("tolerance", o.Tolerance, MinTolerance, MaxTolerance)
	}
	within("pad", o.Pad, 0, MaxPad)
	if o.CanvasW != 0 {
		within("canvasW", o.CanvasW, MinCanvas, MaxCanvas)
	}
	if o.CanvasH != 0 {
		within("canvasH", o.CanvasH, MinCanvas, MaxCanvas)
	}
	if o.Background != Transparent {
		_, ok := parseColour(o.Background)
		check(o.Background == "" || ok, "bgColor", "must be transparent or #rrggbb")
	}
	check(o.Key == "" || o.Key == KeyAuto || o.keyColour() != nil, "key", "must be auto, green, blue or #rrggbb")
	colour("edgeColour", o.EdgeColour)
	check(o.Start >= 0, "start", "must not be negative")
	check(o.End >= 0, "end", "must not be negative")
	check(o.End == 0 || o.End > o.Start, "end", "must come after start")
	check(o.FPS == 0 || o.FPS >= 0.01 && o.FPS <= 1000, "fps", "must be between 0.01 and 1000")
	if o.Quality != 0 {
		within("quality", o.Quality, 1, 100)
	}
	if o.Loop != nil {
		within("loop", *o.Loop, 0, 65535)
	}
	return errors.Join(errs...)
}

// parseColour reads #rrggbb, in either case.
func parseColour(s string) (color.NRGBA, bool) {
	if len(s) != 7 || s[0] != '#' {
		return color.NRGBA{}, false
	}
	v, err := strconv.ParseUint(s[1:], 16, 24)
	if err != nil {
		return color.NRGBA{}, false
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}, true
}

// colour is the valid colour of an option, or nil where it is none.
func colour(s string) *color.NRGBA {
	c, ok := parseColour(s)
	if !ok {
		return nil
	}
	return &c
}
