package removal_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/removal"
	"github.com/bgremove/bgremove/internal/service/removal/removaltest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

func remover(t testing.TB) *removal.Remover {
	r := bgremove.New(bgremove.Config{})
	t.Cleanup(func() { _ = r.Close() })
	return removal.New(r)
}

func TestProbe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clip")
	if err := os.WriteFile(path, removaltest.Clip(t), 0o600); err != nil {
		t.Fatal(err)
	}
	r := remover(t)
	want := job.Media{Type: "image/gif", FrameCount: 8, Width: 64, Height: 48, Duration: 4 * time.Second}
	got, err := r.Probe(t.Context(), path, job.Limits{MaxDuration: 4 * time.Second, MaxDimension: 64, MaxPixels: 8 * 64 * 48, MaxFPS: 2, PixelRate: 300, TimeLimit: 2 * time.Second})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, l := range []job.Limits{{MaxDuration: 3999 * time.Millisecond}, {MaxDimension: 63}, {MaxPixels: 8*64*48 - 1}, {MaxFPS: 1},
		{PixelRate: 298, TimeLimit: 2 * time.Second}} {
		var limit *job.LimitError
		if _, err := r.Probe(t.Context(), path, l); !errors.As(err, &limit) {
			t.Errorf("%+v: %v", l, err)
		}
	}
	whole := string(removaltest.Clip(t))
	for name, content := range map[string]string{"empty": "", "text": "#EXTM3U\n/etc/passwd", "cut": "GIF89a", "truncated": whole[:len(whole)*6/10]} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Probe(t.Context(), path, job.Limits{}); !errors.Is(err, job.ErrUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRemoverStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "clip")
	if err := os.WriteFile(path, removaltest.Clip(t), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := remover(t).Process(ctx, job.Task{
		Job: job.Job{Options: job.DefaultOptions(), OutputFormat: "gif"}, Input: path, Dir: dir, Preview: func(string) { cancel() },
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// Large pictures make small previews.
func TestPreviewSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wide := image.NewPaletted(image.Rect(0, 0, 3000, 30), color.Palette{color.White, color.Black})
	for x := 1000; x < 2000; x++ {
		wide.SetColorIndex(x, 15, 1)
	}
	var b bytes.Buffer
	if err := gif.Encode(&b, wide, nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "clip")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var shown string
	_, err := remover(t).Process(t.Context(), job.Task{
		Job: job.Job{Options: job.DefaultOptions(), OutputFormat: "gif"}, Input: path, Dir: dir, Preview: func(path string) { shown = path },
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(shown)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c, err := png.DecodeConfig(f); err != nil || c.Width != 1024 || c.Height != 10 {
		t.Errorf("%d×%d, %v", c.Width, c.Height, err)
	}
}

// A part of a clip is processed, and its place in time is told. A part in which no frame
// begins is an error.
func TestPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "clip")
	if err := os.WriteFile(path, removaltest.Clip(t), 0o600); err != nil {
		t.Fatal(err)
	}
	process := func(start, end float64) (job.Product, error) {
		o := job.DefaultOptions()
		o.Start, o.End, o.Loop = start, end, new(2)
		return remover(t).Process(t.Context(), job.Task{Job: job.Job{Options: o, OutputFormat: "gif"}, Input: path, Dir: dir, Preview: func(string) {}})
	}
	got, err := process(0.9, 2.2) // the frames of 1, 1.5 and 2 s
	if err != nil {
		t.Fatal(err)
	}
	if got.Placement.Start != 1 {
		t.Errorf("the output begins at %v s", got.Placement.Start)
	}
	f, err := os.Open(got.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	made, err := gif.DecodeAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{50, 50, 20}, made.Delay); diff != "" || made.LoopCount != 1 {
		t.Errorf("it plays %d times more, with delays (-want +got):\n%s", made.LoopCount, diff)
	}
	if _, err := process(3.8, 0); err == nil || errors.Is(err, job.ErrUnreadable) {
		t.Errorf("a part without a frame: %v", err)
	}
}
