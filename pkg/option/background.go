package option

import (
	"image/color"
	"strconv"
	"strings"
)

// BlurRadius bounds the radius of a blurred background, in pixels of the upright
// input. Without a radius it follows the picture's size.
var BlurRadius = Range{Min: 1, Max: 200}

// Backing is a Background, read. At most one of its fields is set; none is
// transparent.
type Backing struct {
	Colour *color.NRGBA
	Blur   *Blur
}

// Blur is the input's own picture, blurred.
type Blur struct{ Radius int } // 0 follows the picture's size

// blurWord begins a blurred background.
const blurWord = "blur"

// ParseBackground reads a Background; ok is false where it is none.
func ParseBackground(text string) (b Backing, ok bool) {
	if text == "" || text == Transparent {
		return b, true
	}
	if c, ok := ParseColour(text); ok {
		return Backing{Colour: &c}, true
	}
	kind, rest, more := strings.Cut(text, ":")
	if kind == blurWord {
		return parseBlur(rest, more)
	}
	return b, false
}

func parseBlur(radius string, given bool) (Backing, bool) {
	if !given {
		return Backing{Blur: &Blur{}}, true
	}
	n, err := strconv.Atoi(radius)
	return Backing{Blur: &Blur{Radius: n}}, err == nil && BlurRadius.has(n)
}

// background is the field of Background. Set takes a colour only: forms of
// strangers never name more.
func background() field {
	f := colour("bgColor", []string{Transparent}, func(o *Options) *string { return &o.Background })
	f.setMust = f.rules[0].reason
	f.rules = []rule{{backgroundMust(), func(o Options) bool { _, ok := ParseBackground(o.Background); return ok }}}
	return f
}

func backgroundMust() string { return "must be transparent, #rrggbb, or " + Scenes() }

// Scenes are the backgrounds that are no colour, in words.
func Scenes() string {
	return "blur[:radius] with a radius of " + BlurRadius.text()
}
