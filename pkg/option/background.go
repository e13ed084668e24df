package option

import (
	"image/color"
	"strconv"
	"strings"
)

// BlurRadius bounds the radius of a blurred background, in pixels of the upright
// input. Without a radius it follows the picture's size.
var BlurRadius = Range{Min: 1, Max: 200}

// GradientAngle bounds the angle of a gradient in degrees, as in CSS: 0 is upwards,
// 90 to the right, and the default downwards.
var GradientAngle = Range{Min: 0, Max: 360, Default: 180}

// Backing is a Background, read. At most one of its fields is set; none is
// transparent.
type Backing struct {
	Colour   *color.NRGBA
	Blur     *Blur
	Gradient *Gradient
	File     string // its path
}

// Blur is the input's own picture, blurred.
type Blur struct{ Radius int } // 0 follows the picture's size

// Gradient goes from one colour to another.
type Gradient struct {
	From, To color.NRGBA
	Angle    int
}

// The words that begin backgrounds.
const (
	blurWord     = "blur"
	gradientWord = "gradient"

	blurForm     = blurWord + "[:radius]"
	gradientForm = gradientWord + ":#rrggbb,#rrggbb[,angle]"
)

// ParseBackground reads a Background; ok is false where it is none.
func ParseBackground(text string) (b Backing, ok bool) {
	if text == "" || text == Transparent {
		return b, true
	}
	if c, ok := ParseColour(text); ok {
		return Backing{Colour: &c}, true
	}
	kind, rest, more := strings.Cut(text, ":")
	switch kind {
	case blurWord:
		return parseBlur(rest, more)
	case gradientWord:
		return parseGradient(strings.Split(rest, ","))
	}
	return Backing{File: text}, isPath(text)
}

// isPath tells paths from misspelt words: a path has a dot or a separator.
func isPath(text string) bool { return strings.ContainsAny(text, "./\\") }

func parseBlur(radius string, given bool) (Backing, bool) {
	if !given {
		return Backing{Blur: &Blur{}}, true
	}
	n, err := strconv.Atoi(radius)
	return Backing{Blur: &Blur{Radius: n}}, err == nil && BlurRadius.has(n)
}

func parseGradient(parts []string) (b Backing, ok bool) {
	if len(parts) < 2 || len(parts) > 3 {
		return b, false
	}
	g := Gradient{Angle: GradientAngle.Default}
	var from, to bool
	g.From, from = ParseColour(parts[0])
	g.To, to = ParseColour(parts[1])
	if len(parts) == 3 {
		n, err := strconv.Atoi(parts[2])
		if err != nil || !GradientAngle.has(n) {
			return b, false
		}
		g.Angle = n
	}
	return Backing{Gradient: &g}, from && to
}

// background is the field of Background. Set takes a colour only: the API's field of
// that name has been so from the beginning.
func background() field {
	f := colour("bgColor", []string{Transparent}, func(o *Options) *string { return &o.Background })
	f.setMust = f.rules[0].reason
	f.rules = []rule{{backgroundMust(), func(o Options) bool { _, ok := ParseBackground(o.Background); return ok }}}
	return f
}

// DrawnBackground is the name under which forms set a Background that needs no second
// file. Forms of strangers never name a file.
const DrawnBackground = "background"

// drawn is its field. It is no option of its own: it sets Background.
var drawn = field{
	Field: Field{Name: DrawnBackground, Colour: true, Forms: []string{blurForm, gradientForm},
		Pattern: "^(" + colourPattern + "|" + blurWord + "(:[0-9]{1,3})?|" + gradientWord + ":" + colourPattern + "," + colourPattern + "(,[0-9]{1,3})?)$"},
	setMust: "must be #rrggbb, " + DrawnScenes(),
	set: func(o *Options, text string) bool {
		text = strings.ToLower(text)
		b, ok := ParseBackground(text)
		return put(&o.Background, text, ok && b != Backing{} && b.File == "")
	},
}

// harmonise is the field of Harmonise.
func harmonise() field {
	f := truth("harmonise", func(o *Options) *bool { return &o.Harmonise })
	f.rules = append(f.rules, rule{"needs a background", func(o Options) bool {
		return !o.Harmonise || o.Background != "" && o.Background != Transparent
	}})
	return f
}

func backgroundMust() string { return "must be transparent, #rrggbb, or " + Scenes() }

// DrawnScenes are the backgrounds that are no colour and no file, in words.
func DrawnScenes() string {
	return blurForm + " with a radius of " + BlurRadius.text() + ", or " + gradientForm + " with an angle of " + GradientAngle.text()
}

// Scenes are the backgrounds that are no colour, in words.
func Scenes() string { return DrawnScenes() + ", or a file such as ./beach.png" }
