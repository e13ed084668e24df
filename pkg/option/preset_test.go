package option_test

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/option"
)

// Every preset is complete: what it takes can be written, its own canvas is within its
// limits, and it says where they are stated.
func TestPresets(t *testing.T) {
	t.Parallel()
	if all := option.Presets(); all[0] != option.NoPreset || len(all) != 11 {
		t.Errorf("%v", all)
	}
	if _, ok := option.NoPreset.Limits(); ok {
		t.Error("none has limits")
	}
	for _, name := range option.Presets()[1:] {
		l, ok := name.Limits()
		if !ok || l.Name != name || l.Service == "" || l.MaxBytes < 1000 || len(l.Formats) == 0 {
			t.Errorf("%s is %+v", name, l)
			continue
		}
		for _, f := range l.Formats {
			if !slices.Contains(option.Formats(), f) || !f.Bounded() {
				t.Errorf("%s takes %s, which is not written to a size", name, f)
			}
		}
		if err := l.CheckSides(l.Width, l.Height); err != nil {
			t.Errorf("%s: %d×%d %v", name, l.Width, l.Height, err)
		}
		for _, page := range []string{l.Source, l.SeenAt} {
			if u, err := url.Parse(page); err != nil || page != "" && u.Scheme != "https" || l.Source == "" {
				t.Errorf("%s: %q is no page", name, page)
			}
		}
		if _, err := time.Parse(time.DateOnly, l.Checked); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A preset decides what the options leave open, and only that.
func TestWithPreset(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ o, want option.Options }{
		"all": {option.Options{Preset: "telegram-sticker"},
			option.Options{Preset: "telegram-sticker", Format: "webm", CanvasW: 512, CanvasH: 512, MaxSize: 256_000, NoAudio: true}},
		"within": {option.Options{Preset: "telegram-sticker", CanvasH: 300, MaxSize: 9000, FPS: 12, Pad: 3},
			option.Options{Preset: "telegram-sticker", Format: "webm", CanvasW: 512, CanvasH: 300, MaxSize: 9000, FPS: 12, Pad: 3, NoAudio: true}},
		"square": {option.Options{Preset: "twitch-emote", CanvasW: 200},
			option.Options{Preset: "twitch-emote", Format: "gif", CanvasW: 200, CanvasH: 200, MaxSize: 1_000_000}},
		"second format": {option.Options{Preset: "discord-emoji", Format: "webp"},
			option.Options{Preset: "discord-emoji", Format: "webp", CanvasW: 128, CanvasH: 128, MaxSize: 256_000}},
		"none": {option.Options{Preset: "none", CanvasW: 100}, option.Options{Preset: "none", CanvasW: 100}},
	} {
		if err := test.o.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := test.o.WithPreset()
		if diff := cmp.Diff(test.want, got); diff != "" || got.Validate() != nil {
			t.Errorf("%s: %v\n%s", name, got.Validate(), diff)
		}
	}
}

// What goes beyond a preset is refused by both names.
func TestBeyondPreset(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]option.Options{
		"outputFormat must be webm with preset telegram-sticker":                {Preset: "telegram-sticker", Format: "gif"},
		"canvasH must have one side of 512 pixels with preset telegram-sticker": {Preset: "telegram-sticker", CanvasW: 500, CanvasH: 100},
		"canvasW must be 128 with preset discord-emoji":                         {Preset: "discord-emoji", CanvasW: 64},
		"canvasH must be 128 with preset discord-emoji":                         {Preset: "discord-emoji", CanvasH: 64},
		"canvasH must be between 1 and 128 with preset slack-emoji":             {Preset: "slack-emoji", CanvasW: 100, CanvasH: 200},
		"canvasH must be as wide as high with preset twitch-emote":              {Preset: "twitch-emote", CanvasW: 300, CanvasH: 200},
		"fps must be at most 30 with preset telegram-emoji":                     {Preset: "telegram-emoji", FPS: 31},
		"maxSize must be at most 128000 with preset slack-emoji":                {Preset: "slack-emoji", MaxSize: 128_001},
		"end must be at most 3 s after start with preset signal-sticker":        {Preset: "signal-sticker", Start: time.Second, End: 5 * time.Second},
		"preset must be one of none, discord-emoji":                             {Preset: "x"},
		"maxSize must not be negative":                                          {MaxSize: -1},
		"maxSize is for gif, apng, webp, avif, webm, mp4, png only":             {MaxSize: 1, Format: "mov"},
	} {
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// row is a preset's row in docs/presets.md.
func row(l option.Limits) string {
	var formats []string
	for _, f := range l.Formats {
		formats = append(formats, string(f))
	}
	sides := fmt.Sprintf("%d to %d", l.MinSide, l.MaxSide)
	switch {
	case l.MinSide == l.MaxSide:
		sides = strconv.Itoa(l.MaxSide)
	case l.LongSide > 0:
		sides = fmt.Sprintf("longer side %d", l.LongSide)
	case l.Square:
		sides += ", square"
	}
	var more []string
	add := func(is bool, format string, value any) {
		if is {
			more = append(more, fmt.Sprintf(format, value))
		}
	}
	add(l.MaxSeconds > 0, "%v s", l.MaxSeconds)
	add(l.MaxFrames > 0, "%v frames", l.MaxFrames)
	add(l.MaxRate > 0, "%v frames a second", l.MaxRate)
	add(l.MinFrame > 0, "a frame %v ms or more", l.MinFrame)
	add(l.Codec != "", "%v", l.Codec)
	add(l.Silent, "no sound%v", "")
	seen := "not found"
	if l.SeenAt != "" {
		seen = "[page](" + l.SeenAt + ")"
	}
	return fmt.Sprintf("| %#q | %s | %d×%d | %s | %d | %s | [page](%s) | %s, %s |", l.Name, strings.Join(formats, ", "), l.Width, l.Height, sides,
		l.MaxBytes, strings.Join(more, ", "), l.Source, seen, l.Checked)
}

// The document has a row for each preset, with its limits, and no other.
func TestPresetsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/presets.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, name := range option.Presets()[1:] {
		l, _ := name.Limits()
		want = append(want, row(l))
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| `") {
			got = append(got, strings.TrimSuffix(line, "\n"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
