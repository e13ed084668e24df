package option

import (
	"image/color"
	"strconv"
)

// colourPattern is a regular expression for what ParseColour reads.
const colourPattern = "#[0-9A-Fa-f]{6}"

// ParseColour reads #rrggbb, in either case.
func ParseColour(s string) (color.NRGBA, bool) {
	if len(s) != 7 || s[0] != '#' {
		return color.NRGBA{}, false
	}
	v, err := strconv.ParseUint(s[1:], 16, 24)
	if err != nil {
		return color.NRGBA{}, false
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}, true
}
