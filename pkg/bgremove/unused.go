package bgremove

import (
	"cmp"
	"fmt"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/pkg/option"
)

// setting is what decides which options have an effect, once all is settled.
type setting struct {
	Options
	method Method // Fast or Rembg
	screen bool   // the backdrop is a lit screen
	format Format // of the output, or of a sprite sheet alone
	matte  Format // of the matte beside it; empty without one
	sheet  bool   // a sprite sheet is written
	input  media.Container
}

// condition is an option and when it has no effect.
type condition struct {
	field string
	given func(s setting) bool
	// idle tells why the option has no effect; it is empty where it has one.
	idle func(s setting) string
}

// conditions are those of the options that only some runs use. An option that asks for
// less, such as NoPlate, needs none: without its stage, what it asks is so.
var conditions = []condition{
	{"model", func(s setting) bool { return s.Model != "" }, networkOnly},
	{"subject", func(s setting) bool { return s.Subject != "" && s.Subject != SubjectAuto }, networkOnly},
	{"tolerance", func(s setting) bool { return s.Tolerance != 0 && s.Tolerance != option.Tolerance.Default }, floodOnly},
	{"holes", func(s setting) bool { return s.Holes != "" && s.Holes != HolesAuto }, holesIdle},
	{"key", func(s setting) bool { return s.Key != "" && s.Key != KeyAuto }, colourOnly},
	{"keepShadow", func(s setting) bool { return s.KeepShadow }, func(s setting) string {
		return cmp.Or(colourOnly(s), when(!s.screen, "there is no green or blue screen"))
	}},
	{"pad", func(s setting) bool { return s.Pad != 0 && s.Pad != option.Pad.Default }, func(s setting) string {
		return when(!s.Crop, "nothing is cropped")
	}},
	{"anchor", func(s setting) bool { return s.Anchor != "" && s.Anchor != Center }, func(s setting) string {
		return when((s.CanvasW == 0 || s.CanvasH == 0) && !s.sheet, "there is no canvas with both sides")
	}},
	{"scale", func(s setting) bool { return s.Scale != "" && s.Scale != ScaleAuto }, func(s setting) string {
		return when(s.CanvasW == 0 && s.CanvasH == 0 && s.MaxSize == 0, "nothing is scaled")
	}},
	{"bgColor", func(s setting) bool { return s.Background != "" && s.Background != Transparent }, cutOutOnly},
	{"bgFit", func(s setting) bool { return s.BackgroundFit != "" && s.BackgroundFit != Cover }, func(s setting) string {
		b, _ := option.ParseBackground(s.Background)
		return when(b.File == "", "no picture or clip is behind the subject")
	}},
	{"outline", func(s setting) bool { return s.Outline != "" }, cutOutOnly},
	{"shadow", func(s setting) bool { return s.Shadow != "" }, cutOutOnly},
	{"trim", func(s setting) bool { return s.Trim }, func(s setting) string {
		return when(s.input != media.GIF, "idle frames are dropped from GIF inputs only")
	}},
	{"quality", func(s setting) bool { return s.Quality != 0 }, func(s setting) string {
		return s.unlessWritten(func(f Format) bool { return f.Quality() > 0 }, "%s has only one quality")
	}},
	{"loop", func(s setting) bool { return s.Loop != nil }, func(s setting) string {
		if s.sheet {
			return ""
		}
		return s.unlessWritten(func(f Format) bool { return !f.Video() && !f.Still() }, "%s does not say how often it plays")
	}},
	{"edgeColour", func(s setting) bool { return s.EdgeColour != "" }, func(s setting) string {
		if s.format == GIF {
			return when(!s.Transparent(), "nothing is transparent")
		}
		return fmt.Sprintf("%s is not a gif", s.format)
	}},
}

// when is a text where something is so.
func when(so bool, text string) string {
	if !so {
		return ""
	}
	return text
}

func networkOnly(s setting) string { return when(s.method == Fast, "method fast runs no network") }

func colourOnly(s setting) string {
	return when(s.method == Rembg, "method rembg does not go by the backdrop's colour")
}

func floodOnly(s setting) string {
	return cmp.Or(when(s.screen, "a screen's colour is measured"), colourOnly(s))
}

// holesIdle is why Holes has no effect. Where all holes are to go, they go from a screen.
func holesIdle(s setting) string {
	return cmp.Or(when(s.screen && s.Holes == HolesKeep, "what shows the screen goes"), colourOnly(s))
}

func cutOutOnly(s setting) string { return when(s.MaskOnly, "only the matte is written") }

// unlessWritten is a text about the output's format, unless a format that is written uses the option.
func (s setting) unlessWritten(uses func(Format) bool, text string) string {
	return when(!uses(s.format) && (s.matte == "" || !uses(s.matte)), fmt.Sprintf(text, s.format))
}

// unused are notes about the options that have no effect.
func (s setting) unused() (notes []Note) {
	for _, c := range conditions {
		if !c.given(s) {
			continue
		}
		if why := c.idle(s); why != "" {
			notes = append(notes, Note{Code: Unused, Field: c.field, Message: "has no effect: " + why})
		}
	}
	return notes
}

// setting is that of a run with a method.
func (j *removal) setting(in *input, c *choice, output string) setting {
	s := setting{
		Options: j.options, method: c.method, screen: c.screen, format: j.format(), matte: j.matte,
		sheet: j.extras.Sheet != "", input: in.clip.Info().Container,
	}
	if output == "" {
		s.format = PNG // of the sheet's pages
	}
	return s
}
