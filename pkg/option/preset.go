package option

import (
	"bytes"
	_ "embed" // the presets
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits are what a service takes. Zero fields are no limit.
type Limits struct {
	Name    Preset `json:"name"`
	Service string `json:"service"` // in words
	// Formats are those that it takes, the default first.
	Formats []Format `json:"formats"`
	Codec   string   `json:"codec"` // of a video, as ffmpeg spells it
	// Width and Height are the canvas where none is asked for.
	Width  int `json:"width"`
	Height int `json:"height"`
	// MinSide and MaxSide bound each side in pixels. LongSide is that of the longer
	// one. Square says that both are alike.
	MinSide  int  `json:"minSide"`
	MaxSide  int  `json:"maxSide"`
	LongSide int  `json:"longSide"`
	Square   bool `json:"square"`

	MaxBytes   int64   `json:"maxBytes"` // a kilobyte is taken for 1000 bytes
	MaxFrames  int     `json:"maxFrames"`
	MaxSeconds float64 `json:"maxSeconds"`
	MaxRate    float64 `json:"maxRate"` // frames a second
	// MinFrame is the least time that a frame is shown, in milliseconds.
	MinFrame int  `json:"minFrameMilliseconds"`
	Silent   bool `json:"silent"` // without sound

	// Source is the service's own page, or the nearest to it. SeenAt is the page
	// where the numbers were read, Checked the day; without one they are as known
	// before.
	Source  string `json:"source"`
	SeenAt  string `json:"seenAt"`
	Checked string `json:"checked"`
}

//go:embed presets.json
var presetFile []byte

var presets = readPresets()

func readPresets() (all []Limits) {
	d := json.NewDecoder(bytes.NewReader(presetFile))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		panic(fmt.Sprintf("option: presets.json: %v", err)) // it is part of the program
	}
	return all
}

// Presets are all presets, NoPreset first.
func Presets() []Preset {
	all := []Preset{NoPreset}
	for _, l := range presets {
		all = append(all, l.Name)
	}
	return all
}

// Limits are those of the preset; ok is false where there are none.
func (p Preset) Limits() (l Limits, ok bool) {
	i := slices.IndexFunc(presets, func(l Limits) bool { return l.Name == p })
	if i < 0 {
		return l, false
	}
	return presets[i], true
}

// Duration is the longest that a clip may be; 0 is no limit.
func (l Limits) Duration() time.Duration {
	return time.Duration(l.MaxSeconds * float64(time.Second))
}

// CheckSides explains why the service does not take pictures of a size; nil where it
// does.
func (l Limits) CheckSides(width, height int) error {
	switch {
	case l.Square && width != height:
		return errors.New("must be as wide as high")
	case l.LongSide > 0 && max(width, height) != l.LongSide:
		return fmt.Errorf("must have one side of %d pixels", l.LongSide)
	}
	for _, side := range []int{width, height} {
		if side >= l.MinSide && side <= l.MaxSide {
			continue
		}
		if l.MinSide == l.MaxSide {
			return fmt.Errorf("must be %d", l.MaxSide)
		}
		return fmt.Errorf("must be between %d and %d", l.MinSide, l.MaxSide)
	}
	return nil
}

// WithPreset is the options with all that the preset decides where they say nothing.
// They must be valid.
func (o Options) WithPreset() Options {
	l, ok := o.Preset.Limits()
	if !ok {
		return o
	}
	o.Format = o.EffectiveFormat()
	o.CanvasW, o.CanvasH = o.presetCanvas(l)
	if o.MaxSize == 0 {
		o.MaxSize = l.MaxBytes
	}
	o.NoAudio = o.NoAudio || l.Silent
	return o
}

// presetCanvas is the canvas, sides that are not given being the preset's.
func (o Options) presetCanvas(l Limits) (width, height int) {
	width, height = o.CanvasW, o.CanvasH
	switch {
	case width == 0 && height == 0:
		return l.Width, l.Height
	case width == 0 && l.Square:
		width = height
	case width == 0:
		width = l.Width
	case height == 0 && l.Square:
		height = width
	case height == 0:
		height = l.Height
	}
	return width, height
}

// beyondPreset is the options that the service of the preset does not take.
func (o Options) beyondPreset() (errs []error) {
	l, ok := o.Preset.Limits()
	if !ok {
		return nil
	}
	refuse := func(is bool, field, format string, args ...any) {
		if is {
			errs = append(errs, &Error{Field: field, Reason: fmt.Sprintf(format, args...) + " with preset " + string(l.Name)})
		}
	}
	refuse(o.Format != "" && !slices.Contains(l.Formats, o.Format), "outputFormat", "must be %s", l.formats())
	if err := l.CheckSides(o.presetCanvas(l)); err != nil {
		field := "canvasW"
		if o.CanvasW == 0 || o.CanvasH != 0 && o.CanvasW >= l.MinSide && o.CanvasW <= l.MaxSide {
			field = "canvasH"
		}
		refuse(true, field, "%v", err)
	}
	refuse(l.MaxRate > 0 && o.FPS > l.MaxRate, "fps", "must be at most %g", l.MaxRate)
	refuse(o.MaxSize > l.MaxBytes, "maxSize", "must be at most %d", l.MaxBytes)
	refuse(l.MaxSeconds > 0 && o.End-o.Start > l.Duration(), "end", "must be at most %g s after start", l.MaxSeconds)
	return errs
}

func (l Limits) formats() string {
	words := make([]string, len(l.Formats))
	for i, f := range l.Formats {
		words[i] = string(f)
	}
	return strings.Join(words, ", ")
}
