package spell_test

import (
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/spell"
)

func TestMeant(t *testing.T) {
	t.Parallel()
	known := []string{"method", "crop", "pad", "canvasW", "canvasH", "outputFormat", "bgColor", "trim"}
	for typed, want := range map[string]string{
		"outputformat": "outputFormat", "output_format": "outputFormat", "OUTPUT-FORMAT": "outputFormat", "ouputFormat": "outputFormat",
		"bgColour": "bgColor", "bg_color": "bgColor", "canvas_h": "canvasH", "canvasw": "canvasW", "Pad": "pad", "padd": "pad",
		"corp": "crop", "metod": "method", "mehtdo": "method", "-trim": "trim",
		"pad": "", "crop": "", "csrf": "", "tag": "", "id": "", "data": "", "poster": "", "format": "", "": "", "x": "",
		strings.Repeat("x", 100_000): "",
	} {
		if got := spell.Meant(typed, known); got != want {
			t.Errorf("%.20q means %q, want %q", typed, got, want)
		}
	}
}
