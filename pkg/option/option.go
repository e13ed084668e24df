// Package option is the vocabulary of a removal: its options with their names,
// words, bounds and defaults, and the formats that are written. It says what may
// be asked for; other packages do it. The library, the command line, the API and
// the pages take all of these from here. It imports the standard library only.
package option

import (
	"errors"
	"time"
)

// Options configure the work on a clip. The zero value uses Auto, does not
// crop, and writes a transparent GIF, or PNG of one picture. Defaults also crops, with padding, as the
// command line and the HTTP API do.
type Options struct {
	Method Method `json:"method,omitempty"`
	// Model names the network of Rembg; empty is the default one.
	Model string `json:"model,omitempty"`
	// Tolerance is the largest difference of a channel from the backdrop's
	// colour with Fast, within Tolerance; 0 means its default.
	Tolerance int `json:"tolerance,omitempty"`
	// Key is the backdrop's colour: #rrggbb, KeyGreen or KeyBlue for a lit screen of
	// that hue, or KeyAuto (also when empty), which measures it.
	Key   string `json:"key,omitempty"`
	Holes Holes  `json:"holes,omitempty"`
	// KeepShadow keeps the shadows on a green or blue screen.
	KeepShadow bool `json:"keepShadow,omitempty"`

	Subject Subject `json:"subject,omitempty"`
	// Hints say what is wanted and what is not, at most MaxHints. What they keep is the
	// subject, with nothing else; where they only drop something, the rest stays. They
	// need Rembg, which Auto then chooses, with motion.
	Hints []Hint `json:"hints,omitempty"`
	// Largest keeps only the largest of the things that do not touch, in each shot.
	Largest bool `json:"largest,omitempty"`
	// NoReuse runs the network on each frame, also where others tell enough. NoMotion does not tell
	// the subject by its motion over the clip. NoCloser lets the network look at
	// each frame once, and not again at the part around what it found. NoColours
	// leaves the network's uncertain pixels undecided. NoPlate does not use the backdrop that other
	// frames show behind the subject. NoSteady leaves flicker in. NoRefine
	// enlarges small mattes without following the picture's edges.
	// NoDecontaminate leaves the old backdrop's colour in edges. All but the
	// last apply to Rembg only.
	NoReuse         bool `json:"noReuse,omitempty"`
	NoMotion        bool `json:"noMotion,omitempty"`
	NoCloser        bool `json:"noCloser,omitempty"`
	NoColours       bool `json:"noColours,omitempty"`
	NoPlate         bool `json:"noPlate,omitempty"`
	NoSteady        bool `json:"noSteady,omitempty"`
	NoRefine        bool `json:"noRefine,omitempty"`
	NoDecontaminate bool `json:"noDecontaminate,omitempty"`

	// Crop cuts to one box around the subject in all frames, Pad pixels wider on
	// each side.
	Crop bool `json:"crop"`
	Pad  int  `json:"pad"`
	// CanvasW and CanvasH scale the subject to fit a canvas, in pixels, within
	// Canvas; a side of 0 follows the other, both 0 scale nothing.
	CanvasW int    `json:"canvasW,omitempty"`
	CanvasH int    `json:"canvasH,omitempty"`
	Anchor  Anchor `json:"anchor,omitempty"`
	Scale   Scale  `json:"scale,omitempty"`
	// Background is what is behind the subject; see ParseBackground:
	//   - Transparent, also when empty;
	//   - #rrggbb;
	//   - "blur" or "blur:RADIUS": the input's own picture, blurred by a radius
	//     within BlurRadius, in pixels of the upright input;
	//   - "gradient:#rrggbb,#rrggbb" or "gradient:#rrggbb,#rrggbb,ANGLE", with an
	//     angle within GradientAngle;
	//   - the path of a picture or a clip, which has a dot or a separator in it.
	Background string `json:"bgColor,omitempty"`
	// BackgroundFit is how a file is fitted to the output.
	BackgroundFit Fit `json:"bgFit,omitempty"`
	// Harmonise makes the subject's light and colour a little more like the
	// Background, which must not be Transparent.
	Harmonise bool `json:"harmonise,omitempty"`
	// Outline is "#rrggbb,WIDTH": a line around the subject, for stickers, within
	// OutlineWidth pixels of the output; empty is none.
	Outline string `json:"outline,omitempty"`
	// Shadow is the subject's: SoftShadow, or "X,Y[,BLUR[,OPACITY]]" within
	// ShadowOffset, ShadowBlur and ShadowOpacity; empty is none.
	Shadow string `json:"shadow,omitempty"`
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
	// Frame chooses the one picture that is shown at a time, counted from the clip's
	// first frame; nil is the whole clip. Nothing else of the clip is looked at.
	Frame *time.Duration `json:"frame,omitempty"`
	// FPS drops frames so that at most that many a second are left; 0 keeps
	// all. Of numbered pictures it is the rate at which they are shown; 0 is 25.
	FPS float64 `json:"fps,omitempty"`

	// Format is the output's; empty is GIF, and PNG of one picture. An opaque one is not written with a transparent Background, see EffectiveFormat.
	Format Format `json:"outputFormat,omitempty"`
	// Preset keeps within the limits of a service, see Limits; NoPreset, also when
	// empty, is none.
	Preset Preset `json:"preset,omitempty"`
	// MaxSize bounds the output's size in bytes: quality, colours, frame rate, size
	// and length are given up as needed, in that order. 0 is no bound. Format.Bounded tells
	// which formats take one.
	MaxSize int64 `json:"maxSize,omitempty"`
	// Quality trades fidelity for size, within Quality; 0 means that of Format.Quality.
	Quality int `json:"quality,omitempty"`
	// Loop is how often a GIF, APNG, WebP or AVIF plays, 0 for ever; nil as the input,
	// and for ever if that is a video.
	Loop *int `json:"loop,omitempty"`
	// EdgeColour, #rrggbb, is what partly transparent pixels are blended on
	// before GIF makes them opaque or transparent; empty blends on nothing.
	EdgeColour string `json:"edgeColour,omitempty"`
	// NoAudio drops the sound, which formats with sound keep otherwise.
	NoAudio bool `json:"noAudio,omitempty"`

	// SheetData is how a sprite sheet is described, if one is written, and SheetPack
	// how it is packed.
	SheetData SheetData `json:"sheetData,omitempty"`
	SheetPack SheetPack `json:"sheetPack,omitempty"`
	// SheetMax is the longest side of a page in pixels, within SheetMax; 0 means
	// SheetSide. SheetPowerOfTwo makes both sides powers of two.
	SheetMax        int  `json:"sheetMax,omitempty"`
	SheetPowerOfTwo bool `json:"sheetPowerOfTwo,omitempty"`
	// SheetPadding is the pixels between frames; nil means TightPadding, and none in
	// Rows. SheetExtrude is the pixels around each frame in which its edge is repeated.
	SheetPadding *int `json:"sheetPadding,omitempty"`
	SheetExtrude int  `json:"sheetExtrude,omitempty"`
}

// Defaults are the options of the command line and the HTTP API.
func Defaults() Options {
	return Options{Method: Auto, Tolerance: Tolerance.Default, Crop: true, Pad: Pad.Default,
		Anchor: Center, Background: Transparent, Holes: HolesAuto}
}

// Transparent reports whether nothing is behind the subject.
func (o Options) Transparent() bool {
	return !o.MaskOnly && (o.Background == "" || o.Background == Transparent)
}

// FormatFor is the format really written of one picture, or of a clip, of which Frame
// makes one picture.
func (o Options) FormatFor(still bool) Format {
	if _, preset := o.Preset.Limits(); o.Format == "" && !preset {
		return FormatFor(still || o.Frame != nil)
	}
	return o.EffectiveFormat()
}

// EffectiveFormat is the format really written of a clip: an opaque one falls back to
// GIF when nothing is behind the subject.
func (o Options) EffectiveFormat() Format {
	if l, ok := o.Preset.Limits(); ok && o.Format == "" {
		return l.Formats[0]
	}
	if o.Format == "" || o.Format.Opaque() && o.Transparent() {
		return GIF
	}
	return o.Format
}

// Error is a value that an option cannot have. Its message is for users.
type Error struct {
	Field  string // the option's name in JSON
	Reason string // its rule: "must be between 0 and 50"
}

func (e *Error) Error() string { return e.Field + " " + e.Reason }

// Validate checks every option and joins all problems. Each is an *Error.
func (o Options) Validate() error {
	var errs []error
	for _, f := range fields {
		for _, r := range f.rules {
			if !r.holds(o) {
				errs = append(errs, &Error{Field: f.Name, Reason: r.reason})
			}
		}
	}
	return errors.Join(append(errs, o.beyondPreset()...)...)
}

// Set gives an option the value of a text, as forms have it. The error is an
// *Error, and the option then stays as it was. Some options have no text.
func (o *Options) Set(name, text string) error {
	f, ok := find(name)
	if f.read != nil {
		if err := f.read(o, text); err != nil {
			return &Error{Field: name, Reason: err.Error()}
		}
		return nil
	}
	switch {
	case !ok || f.set == nil:
		return &Error{Field: name, Reason: "is no option that a text sets"}
	case !f.set(o, text):
		return &Error{Field: name, Reason: f.refusal()}
	}
	return nil
}
