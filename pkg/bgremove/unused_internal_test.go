package bgremove

import (
	"testing"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/pkg/option"
)

func TestUnusedOptions(t *testing.T) {
	plays := 3
	video := setting{method: Rembg, format: WebM, input: media.MP4}
	flat := setting{method: Fast, format: GIF, input: media.GIF}
	screen := setting{method: Fast, screen: true, format: APNG, input: media.MOV}
	sheet := setting{method: Fast, format: PNG, sheet: true, input: media.GIF}
	for _, tc := range []struct {
		field      string
		options    Options
		used, idle setting
	}{
		{"model", Options{Model: "u2net"}, video, flat},
		{"subject", Options{Subject: Moving}, video, screen},
		{"tolerance", Options{Tolerance: 20}, flat, video},
		{"tolerance", Options{Tolerance: 20}, flat, screen},
		{"holes", Options{Holes: HolesKeep}, flat, screen},
		{"holes", Options{Holes: HolesRemove}, screen, video},
		{"key", Options{Key: "#123456"}, screen, video},
		{"keepShadow", Options{KeepShadow: true}, screen, flat},
		{"anchor", Options{Anchor: Bottom, CanvasW: 64}, sheet, flat},
		{"quality", Options{Quality: 50}, video, screen},
		{"loop", Options{Loop: &plays}, flat, video},
		{"loop", Options{Loop: &plays}, screen, setting{method: Fast, format: PNG}},
		{"loop", Options{Loop: &plays}, sheet, video},
		{"edgeColour", Options{EdgeColour: "#ffffff"}, flat, video},
		{"trim", Options{Trim: true}, flat, screen},
		{"quality", Options{Quality: 50}, setting{method: Fast, format: APNG, matte: WebM}, setting{method: Fast, format: APNG, matte: APNG}},
		{"loop", Options{Loop: &plays}, setting{method: Fast, format: WebM, matte: GIF}, setting{method: Fast, format: WebM, matte: WebM}},
		{"keepShadow", Options{KeepShadow: true}, screen, video},
	} {
		if got := tc.used.with(tc.options).unused(); len(got) != 0 {
			t.Errorf("%s of %+v: %v, but it has an effect", tc.field, tc.options, got)
		}
		if got := tc.idle.with(tc.options).unused(); len(got) != 1 || got[0].Field != tc.field || got[0].Code != Unused {
			t.Errorf("%s of %+v: %v, want one note about it", tc.field, tc.options, got)
		}
	}
}

// TestUnusedBeside has options that other options deprive of their effect.
func TestUnusedBeside(t *testing.T) {
	for _, tc := range []struct {
		field      string
		used, idle Options
	}{
		{"pad", Options{Pad: 4, Crop: true}, Options{Pad: 4}},
		{"anchor", Options{Anchor: Bottom, CanvasW: 64, CanvasH: 64}, Options{Anchor: Bottom, CanvasH: 64}},
		{"scale", Options{Scale: ScaleNearest, CanvasW: 64}, Options{Scale: ScaleNearest}},
		{"bgColor", Options{Background: "blur"}, Options{Background: "blur", MaskOnly: true}},
		{"bgFit", Options{Background: "b.png", BackgroundFit: Tile}, Options{Background: "blur", BackgroundFit: Tile}},
		{"outline", Options{Outline: "#ffffff,2"}, Options{Outline: "#ffffff,2", MaskOnly: true}},
		{"shadow", Options{Shadow: option.SoftShadow}, Options{Shadow: option.SoftShadow, MaskOnly: true}},
		{"edgeColour", Options{EdgeColour: "#ffffff"}, Options{EdgeColour: "#ffffff", Background: "#000000"}},
	} {
		run := setting{method: Fast, format: GIF, input: media.GIF}
		if got := run.with(tc.used).unused(); len(got) != 0 {
			t.Errorf("%+v: %v, want no note", tc.used, got)
		}
		if got := run.with(tc.idle).unused(); len(got) != 1 || got[0].Field != tc.field {
			t.Errorf("%+v: %v, want one note about %s", tc.idle, got, tc.field)
		}
	}
}

// TestDefaultsAreUsed has no notes about what nobody asked for.
func TestDefaultsAreUsed(t *testing.T) {
	for _, f := range option.Formats() {
		for _, m := range []Method{Fast, Rembg} {
			s := setting{Options: Defaults(), method: m, format: f}
			s.Crop = false
			if got := s.unused(); len(got) != 0 {
				t.Errorf("%s, %s: %v", m, f, got)
			}
		}
	}
}

func TestConditionsAreOfOptions(t *testing.T) {
	for _, c := range conditions {
		if _, ok := option.FieldOf(c.field); !ok {
			t.Errorf("%s is no option", c.field)
		}
	}
}

func (s setting) with(o Options) setting {
	s.Options = o
	return s
}
