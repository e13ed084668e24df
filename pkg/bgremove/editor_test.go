package bgremove_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/option"
)

// twoSquares is a clip of 240 × 160 pixels and 1.2 s with a red and a blue square that move.
func twoSquares(t *testing.T) string {
	t.Helper()
	return generate(t, "two.mp4", "-f", "lavfi", "-i", "color=white:size=240x160:rate=10:duration=1.2,format=yuv420p",
		"-f", "lavfi", "-i", "color=red:size=48x48:rate=10:duration=1.2", "-f", "lavfi", "-i", "color=blue:size=48x48:rate=10:duration=1.2",
		"-filter_complex", "[0][1]overlay=x=16+16*t:y=20[a];[a][2]overlay=x=160-16*t:y=88", "-t", "1.2")
}

// edit opens a clip for previews. Its network's files lie in a folder of the test.
func edit(t *testing.T, path string, o bgremove.Options) (e *bgremove.Editor, temp string, err error) {
	t.Helper()
	library := os.Getenv("BGREMOVE_ONNXRUNTIME")
	if library == "" {
		t.Skip("BGREMOVE_ONNXRUNTIME does not name ONNX Runtime's shared library")
	}
	temp = t.TempDir()
	r := bgremove.New(bgremove.Config{Library: library, TempDir: temp})
	frames := 0
	e, err = r.Edit(t.Context(), path, o, func(p bgremove.Progress) { frames = p.Frame })
	if err == nil && frames != 12 {
		t.Errorf("progress was told of %d frames", frames)
	}
	t.Cleanup(func() {
		if e != nil {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, temp, err
}

// A preview shows what clicks keep and drop, in their frame and in others, whatever the
// method of the options.
func TestEdit(t *testing.T) {
	t.Parallel()
	o := bgremove.Defaults()
	o.Method = bgremove.Fast
	e, _, err := edit(t, twoSquares(t), o)
	if err != nil {
		t.Fatal(err)
	}
	kept := func(at time.Duration, h ...option.Hint) (red, blue bool) {
		m, err := e.Preview(t.Context(), at, h)
		if err != nil {
			t.Fatal(err)
		}
		share := func(x, y float64) bool {
			return m.AlphaAt(int(x*float64(m.Rect.Dx())/240), int(y*float64(m.Rect.Dy())/160)).A > 127
		}
		s := at.Seconds()
		return share(40+16*s, 44), share(184-16*s, 112)
	}
	given, up := context.WithCancelCause(t.Context())
	up(os.ErrDeadlineExceeded)
	at := 500 * time.Millisecond
	onRed, onBlue := option.Hint{Keep: true, At: at, Click: &[2]float64{48, 44}}, option.Hint{At: at, Click: &[2]float64{176, 112}}
	if _, err := e.Preview(given, at+400*time.Millisecond, []option.Hint{onRed}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("given up: %v", err)
	}
	if red, blue := kept(at); !red || !blue {
		t.Errorf("without hints: red %v, blue %v", red, blue)
	}
	for _, at := range []time.Duration{at, at + 400*time.Millisecond} {
		if red, blue := kept(at, onRed, onBlue); !red || blue {
			t.Errorf("at %v: red %v, blue %v", at, red, blue)
		}
	}
	if red, blue := kept(at, onBlue); !red || blue {
		t.Errorf("a drop alone: red %v, blue %v", red, blue)
	}
}

// What does not fit is refused, and names what: the clip, a hint, or the options.
func TestEditRefuses(t *testing.T) {
	t.Parallel()
	path := twoSquares(t)
	e, _, err := edit(t, path, bgremove.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]option.Hint{
		"outside": {Keep: true, Click: &[2]float64{240, 10}},
		"late":    {Keep: true, At: 2 * time.Second, Click: &[2]float64{10, 10}},
		"nothing": {Keep: true},
		"mask":    {Keep: true, Mask: filepath.Join(t.TempDir(), "none.png")},
	} {
		_, err := e.Preview(t.Context(), 0, []option.Hint{h})
		if wrong := (*bgremove.Error)(nil); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := filepath.Join(t.TempDir(), "clip.mp4")
	if err := os.WriteFile(text, []byte("no clip"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := (*bgremove.Error)(nil)
	if _, temp, err := edit(t, text, bgremove.Defaults()); !errors.As(err, &wrong) || wrong.Kind != bgremove.Unreadable || wrong.Path != text {
		t.Errorf("a text: %v", err)
	} else if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	o := bgremove.Defaults()
	o.Pad = -1
	if _, _, err := edit(t, path, o); !errors.As(err, &wrong) || wrong.Field != "pad" {
		t.Errorf("a bad option: %v", err)
	}
}

// A study ends when its context does, by its cause.
func TestEditStops(t *testing.T) {
	t.Parallel()
	path := twoSquares(t)
	r := bgremove.New(bgremove.Config{TempDir: t.TempDir()})
	gone := errors.New("nobody waits")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	_, err := r.Edit(ctx, path, bgremove.Defaults(), nil)
	if diff := cmp.Diff(gone.Error(), err.Error()); diff != "" {
		t.Error(diff)
	}
}
