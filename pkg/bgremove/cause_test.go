package bgremove_test

import (
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// A Go program learns what is wrong, and the facts, without reading messages.
func TestCauses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	clip, err := os.ReadFile("../../testdata/pygif/animation.gif")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"clip.gif": clip, "taken.gif": clip, "empty.gif": nil, "text.gif": []byte("text"),
		"apple.heic": []byte("\x00\x00\x00\x18ftyphevc\x00\x00\x00\x00mif1heic")} {
		if err := os.WriteFile(in(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	still, err := os.Create(in("still.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(still, image.NewGray(image.Rect(0, 0, 2, 2))), still.Close(), os.Mkdir(in("folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	small := bgremove.Limits{MaxSide: 1}
	rembg, unknown, fallback := bgremove.Options{Method: bgremove.Rembg}, bgremove.Options{Method: bgremove.Rembg, Model: "nope"}, bgremove.Options{Format: bgremove.MP4}
	for _, tt := range []struct {
		input, output string
		options       bgremove.Options
		config        bgremove.Config
		want          bgremove.Error // its kind, cause and facts
	}{
		{input: "absent.gif", want: bgremove.Error{Kind: bgremove.NotFound, Path: in("absent.gif")}},
		{input: "empty.gif", want: bgremove.Error{Kind: bgremove.Unreadable, Cause: bgremove.InputDamaged, Path: in("empty.gif")}},
		{input: "text.gif", want: bgremove.Error{Kind: bgremove.Unreadable, Cause: bgremove.NotClip, Path: in("text.gif")}},
		{input: "apple.heic", want: bgremove.Error{Kind: bgremove.Unreadable, Cause: bgremove.HEIFPicture, Path: in("apple.heic")}},
		{input: "still.png", config: bgremove.Config{Inputs: option.ServiceInputs()}, want: bgremove.Error{Kind: bgremove.Unreadable, Cause: bgremove.NotClip, Path: in("still.png")}},
		{input: "folder", want: bgremove.Error{Kind: bgremove.Unreadable, Cause: bgremove.InputNotFile, Path: in("folder")}},
		{input: "clip.gif", config: bgremove.Config{Limits: small},
			want: bgremove.Error{Kind: bgremove.TooLarge, Cause: bgremove.OverLimits, Path: in("clip.gif"), Name: "picture side", Limit: "1"}},
		{input: "clip.gif", config: bgremove.Config{ChildLimits: bgremove.ChildLimits{FileSize: 9}},
			want: bgremove.Error{Kind: bgremove.TooLarge, Cause: bgremove.OutputTooLarge, Name: "file size", Limit: "9"}},
		{input: "clip.gif", output: "taken.gif", want: bgremove.Error{Kind: bgremove.Exists, Cause: bgremove.OutputExists, Path: in("taken.gif")}},
		{input: "clip.gif", output: "folder", want: bgremove.Error{Kind: bgremove.Failed, Cause: bgremove.OutputIsFolder, Path: in("folder")}},
		{input: "clip.gif", output: "none/out.gif", want: bgremove.Error{Kind: bgremove.Failed, Cause: bgremove.OutputFolderMissing, Path: in("none/out.gif")}},
		{input: "clip.gif", output: "clip.gif",
			want: bgremove.Error{Kind: bgremove.Invalid, Cause: bgremove.OutputIsInput, Field: "output", Path: in("clip.gif")}},
		{input: "clip.gif", output: "clip.mp4", options: fallback,
			want: bgremove.Error{Kind: bgremove.Invalid, Cause: bgremove.FallbackIsInput, Field: "output", Path: in("clip.gif")}},
		{input: "clip.gif", options: rembg, config: bgremove.Config{Library: in("none")},
			want: bgremove.Error{Kind: bgremove.Missing, Cause: bgremove.NotRuntime, Name: in("none"), Without: bgremove.Fast}},
		{input: "clip.gif", options: unknown, want: bgremove.Error{Kind: bgremove.Invalid, Cause: bgremove.ModelUnknown, Name: "nope"}},
	} {
		if tt.want.Cause == bgremove.NotRuntime || tt.want.Cause == bgremove.ModelUnknown {
			if errors.Is(bgremove.New(bgremove.Config{}).CanSegment(t.Context(), "nope"), bgremove.NoNetworks) {
				continue // without cgo that is said first
			}
		}
		output := tt.output
		if output == "" {
			output = "out.gif"
		}
		r := bgremove.New(tt.config)
		_, err := r.Remove(t.Context(), in(tt.input), in(output), tt.options, bgremove.Extras{})
		var e *bgremove.Error
		if !errors.As(err, &e) {
			t.Errorf("%s to %s: %v", tt.input, tt.output, err)
			continue
		}
		got := *e
		got.Reason, got.Err = "", nil
		if got != tt.want || tt.want.Cause != "" && !errors.Is(err, tt.want.Cause) || errors.Is(err, bgremove.NoSpace) {
			t.Errorf("%s to %s: %+v, want %+v", tt.input, tt.output, got, tt.want)
		}
	}
}
