package sheet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/sheet"
	"github.com/bgremove/bgremove/internal/sheet/sheettest"
	"github.com/bgremove/bgremove/pkg/option"
)

const width, height = 90, 150 // more than two strips high

// clip is frames with a patch of noise each, some of them equal, and one empty.
func clip(colours int) []*media.Frame {
	r := rand.New(rand.NewPCG(1, 1))
	var list []*media.Frame
	for i := range 12 {
		img := image.NewNRGBA(image.Rect(0, 0, width, height))
		at := image.Rect(r.IntN(40), r.IntN(60), 50+r.IntN(40), 70+r.IntN(80))
		for y := at.Min.Y; i != 5 && y < at.Max.Y; y++ {
			for x := at.Min.X; x < at.Max.X; x++ {
				copy(img.Pix[img.PixOffset(x, y):], []byte{byte(r.IntN(colours)), byte(r.IntN(colours)), 7, byte(min(255, 1+40*r.IntN(8)))})
			}
		}
		if i == 7 || i == 11 {
			copy(img.Pix, list[3].Image.Pix)
		}
		pts := time.Duration(i) * time.Second / 24
		list = append(list, &media.Frame{Image: img, PTS: pts, Duration: time.Duration(i+1)*time.Second/24 - pts})
	}
	return list
}

// files writes the files of pages into a folder.
func files(t *testing.T, dir string) sheet.Files {
	return func(page int) (picture, data io.Writer, err error) {
		path := filepath.Join(dir, sheet.PageName("walk.png", page))
		a, err := os.Create(path)
		if err != nil {
			return nil, nil, err
		}
		b, err := os.Create(sheet.DataName(path))
		t.Cleanup(func() { _, _ = a.Close(), b.Close() })
		return a, b, err
	}
}

func write(w media.Sink, frames []*media.Frame) error {
	for _, f := range frames {
		copied := *f
		copied.Image = image.NewNRGBA(f.Image.Rect)
		copy(copied.Image.Pix, f.Image.Pix)
		if err := w.Write(context.Background(), &copied); err != nil {
			return err
		}
	}
	return w.Close()
}

// All frames come back from the pages by the data alone, however they are packed.
func TestWriter(t *testing.T) {
	t.Parallel()
	for _, colours := range []int{2, 256} {
		frames := clip(colours)
		for name, c := range map[string]struct {
			o       sheet.Options
			pages   int
			sprites int
		}{
			"tight":        {sheet.Options{Limits: sheet.Limits{Max: 1000, Padding: 1}}, 1, 10},
			"many pages":   {sheet.Options{Limits: sheet.Limits{Max: 300, Padding: 2, Extrude: 3}}, 0, 10},
			"power of two": {sheet.Options{Limits: sheet.Limits{Max: 1023, PowerOfTwo: true}}, 0, 10},
			"rows":         {sheet.Options{Pack: option.Rows, Limits: sheet.Limits{Max: 1000}}, 1, 10},
			"rows, pages":  {sheet.Options{Pack: option.Rows, Limits: sheet.Limits{Max: 310, Extrude: 1}}, 2, 10},
			"aseprite":     {sheet.Options{Data: option.Aseprite, Plays: 3, Limits: sheet.Limits{Max: 1000}}, 1, 10},
		} {
			t.Run(fmt.Sprintf("%s, %d colours", name, colours), func(t *testing.T) {
				t.Parallel()
				dir, temp := t.TempDir(), t.TempDir()
				o := c.o
				o.Image, o.TempDir = "walk.png", temp
				w, err := sheet.NewWriter(t.Context(), width, height, files(t, dir), o)
				if err != nil {
					t.Fatal(err)
				}
				if err := write(w, frames); err != nil {
					t.Fatal(err)
				}
				if len(w.Pages()) != c.pages && c.pages > 0 || w.Sprites() != c.sprites {
					t.Errorf("%d pages and %d sprites", len(w.Pages()), w.Sprites())
				}
				checkFrames(t, filepath.Join(dir, "walk.json"), frames)
				if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v %v", left, err)
				}
			})
		}
	}
}

// checkFrames compares the pixels and the times of frames, to the nearest millisecond.
func checkFrames(t *testing.T, path string, want []*media.Frame) {
	t.Helper()
	got := sheettest.Read(t, path)
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	at := 0
	for i, f := range got {
		if !bytes.Equal(f.Image.Pix, want[i].Image.Pix) {
			t.Errorf("frame %d differs", i)
		}
		at += f.Milliseconds
		if end := (want[i].PTS + want[i].Duration).Round(time.Millisecond); time.Duration(at)*time.Millisecond != end {
			t.Errorf("frame %d ends at %d ms, want %v", i, at, end)
		}
	}
}

// The schemas have what their readers look for beside the frames.
func TestData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, o := range map[string]sheet.Options{
		"packer":   {Limits: sheet.Limits{Max: 1000}, Pivot: sheet.Point{X: 0.5, Y: 1}},
		"pages":    {Limits: sheet.Limits{Max: 200}},
		"aseprite": {Limits: sheet.Limits{Max: 1000}, Data: option.Aseprite, Pivot: sheet.Point{X: 0.5, Y: 1}, Plays: 2},
	} {
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o777); err != nil {
			t.Fatal(err)
		}
		o.Image = "walk.png"
		w, err := sheet.NewWriter(t.Context(), width, height, files(t, at), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(w, clip(256)); err != nil {
			t.Fatal(err)
		}
	}
	packer := sheettest.Parse(t, filepath.Join(dir, "packer", "walk.json"))
	if names := packer.Animations["walk"]; len(names) != 12 || names[11] != "walk-0011" || packer.Meta.Related != nil {
		t.Errorf("animations %v, related %v", packer.Animations, packer.Meta.Related)
	}
	if !bytes.Contains(packer.Frames, []byte(`"anchor": {`)) || !bytes.Contains(packer.Frames, []byte(`"pivot": {`)) {
		t.Error("it has no pivots")
	}
	second := sheettest.Parse(t, filepath.Join(dir, "pages", "walk-1.json"))
	if diff := cmp.Diff("walk.json", second.Meta.Related[0]); diff != "" || second.Meta.Image != "walk-1.png" || second.Animations != nil {
		t.Errorf("%s: %+v", diff, second.Meta)
	}
	aseprite := sheettest.Parse(t, filepath.Join(dir, "aseprite", "walk.json"))
	if tag := aseprite.Meta.FrameTags[0]; tag.Name != "walk" || tag.To != 11 || tag.Repeat != "2" {
		t.Errorf("%+v", tag)
	}
}

// The edge of a sprite is repeated around it, and equal frames have one place.
func TestExtrude(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := sheet.NewWriter(t.Context(), width, height, files(t, dir), sheet.Options{Image: "walk.png", Limits: sheet.Limits{Max: 1000, Extrude: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(w, clip(256)); err != nil {
		t.Fatal(err)
	}
	frames, page := sheettest.Read(t, filepath.Join(dir, "walk.json")), sheettest.Picture(t, filepath.Join(dir, "walk.png"))
	if frames[3].At != frames[7].At || frames[3].At != frames[11].At {
		t.Errorf("equal frames are at %v, %v and %v", frames[3].At, frames[7].At, frames[11].At)
	}
	for i, f := range frames {
		around := f.At.Inset(-2)
		for y := around.Min.Y; y < around.Max.Y; y++ {
			for x := around.Min.X; x < around.Max.X; x++ {
				edge := page.NRGBAAt(min(max(x, f.At.Min.X), f.At.Max.X-1), min(max(y, f.At.Min.Y), f.At.Max.Y-1))
				if got := page.NRGBAAt(x, y); got != edge {
					t.Fatalf("frame %d: %d,%d is %v beside %v", i, x, y, got, edge)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	open := func(ctx context.Context, o sheet.Options) *sheet.Writer {
		o.Image = "walk.png"
		w, err := sheet.NewWriter(ctx, width, height, files(t, t.TempDir()), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Abort)
		return w
	}
	if err := open(t.Context(), sheet.Options{}).Close(); !errors.Is(err, media.ErrNoFrames) {
		t.Errorf("no frames: %v", err)
	}
	if err := write(open(t.Context(), sheet.Options{Limits: sheet.Limits{Max: 149}, Pack: option.Rows}), clip(2)); !errors.As(err, new(*sheet.SizeError)) {
		t.Errorf("a large frame: %v", err)
	}
	if err := write(open(t.Context(), sheet.Options{Limits: sheet.Limits{Max: 200}, Data: option.Aseprite}), clip(2)); !errors.As(err, new(*sheet.PagesError)) {
		t.Errorf("many pages: %v", err)
	}
	w := open(t.Context(), sheet.Options{})
	w.Abort()
	if err := write(w, clip(2)); !errors.Is(err, media.ErrClosed) {
		t.Errorf("after Abort: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if err := write(open(ctx, sheet.Options{Limits: sheet.Limits{Max: 1000}}), clip(2)); !errors.Is(err, stopped) {
		t.Errorf("stopped: %v", err)
	}
}
