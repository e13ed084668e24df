package option

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"
)

// The bounds of outlines and shadows. Lengths are pixels of the output, the opacity
// is percent.
var (
	OutlineWidth  = Range{Min: 1, Max: 64}
	ShadowOffset  = Range{Min: -100, Max: 100}
	ShadowBlur    = Range{Min: 0, Max: 64, Default: 8}
	ShadowOpacity = Range{Min: 1, Max: 100, Default: 50}
)

// SoftShadow is the Shadow that is just below the subject.
const SoftShadow = "soft"

// softOffset is how far down SoftShadow lies.
const softOffset = 6

// The texts of outlines and shadows.
var (
	outlineForms = []string{"#rrggbb,width"}
	shadowForms  = []string{SoftShadow, "x,y[,blur[,opacity]]"}
)

const (
	outlinePattern = "^" + colourPattern + ",[0-9]{1,2}$"
	shadowPattern  = "^(" + SoftShadow + "|-?[0-9]{1,3},-?[0-9]{1,3}(,[0-9]{1,2}(,[0-9]{1,3})?)?)$"
)

// Line is an outline: a line around the subject.
type Line struct {
	Colour color.NRGBA
	Width  int
}

// Cast is a shadow: its offset, the standard deviation of its blur and its opacity.
type Cast struct{ X, Y, Blur, Opacity int }

// ParseOutline reads an Outline, "#rrggbb,WIDTH".
func ParseOutline(text string) (Line, bool) {
	colour, width, _ := strings.Cut(text, ",")
	c, ok := ParseColour(colour)
	n, err := strconv.Atoi(width)
	return Line{c, n}, ok && err == nil && OutlineWidth.has(n)
}

// ParseShadow reads a Shadow, SoftShadow or "X,Y[,BLUR[,OPACITY]]".
func ParseShadow(text string) (c Cast, ok bool) {
	c = Cast{Y: softOffset, Blur: ShadowBlur.Default, Opacity: ShadowOpacity.Default}
	if text == SoftShadow {
		return c, true
	}
	parts := strings.Split(text, ",")
	if len(parts) < 2 || len(parts) > 4 {
		return c, false
	}
	bounds := []Range{ShadowOffset, ShadowOffset, ShadowBlur, ShadowOpacity}
	to := []*int{&c.X, &c.Y, &c.Blur, &c.Opacity}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || !bounds[i].has(n) {
			return c, false
		}
		*to[i] = n
	}
	return c, true
}

func outlineMust() string {
	return "must be " + List(outlineForms, "or") + " with a width of " + OutlineWidth.text()
}

func shadowMust() string {
	return fmt.Sprintf("must be %s with offsets of %s, a blur of %s and an opacity of %s",
		List(shadowForms, "or"), ShadowOffset.text(), ShadowBlur.text(), ShadowOpacity.text())
}
