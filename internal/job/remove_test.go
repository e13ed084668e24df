package job_test

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

	"github.com/bgremove/bgremove/internal/job"
	"github.com/bgremove/bgremove/internal/store/storetest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// clip is a GIF of four seconds: a red square that moves before white.
func clip(t testing.TB) []byte {
	t.Helper()
	g := &gif.GIF{}
	for i := range 8 {
		p := image.NewPaletted(image.Rect(0, 0, 64, 48), color.Palette{color.White, color.NRGBA{R: 200, A: 255}})
		for y := 10; y < 30; y++ {
			for x := 10 + 2*i; x < 30+2*i; x++ {
				p.SetColorIndex(x, y, 1)
			}
		}
		g.Image, g.Delay = append(g.Image, p), append(g.Delay, 50)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func remover(t testing.TB) *job.Remover {
	r := bgremove.New(bgremove.Config{})
	t.Cleanup(func() { _ = r.Close() })
	return job.NewRemover(r)
}

func TestProbe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "clip")
	if err := os.WriteFile(path, clip(t), 0o600); err != nil {
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
	for name, content := range map[string]string{"empty": "", "text": "#EXTM3U\n/etc/passwd", "cut": "GIF89a"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Probe(t.Context(), path, job.Limits{}); !errors.Is(err, job.ErrUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFrameRate wants clips of just the frames a second that are allowed to pass,
// whatever their length: durations are rounded to milliseconds.
func TestFrameRate(t *testing.T) {
	t.Parallel()
	for frames := int64(2); frames < 3000; frames++ {
		m := job.Media{FrameCount: int(frames), Width: 1, Height: 1, Duration: time.Duration(frames * 1000 / 240 * int64(time.Millisecond))}
		if err := job.CheckLimits(job.Limits{MaxFPS: 240}, m); err != nil {
			t.Fatalf("%d frames in %v: %v", frames, m.Duration, err)
		}
		if m.FrameCount += 2 + m.FrameCount/100; m.Duration >= time.Second && job.CheckLimits(job.Limits{MaxFPS: 240}, m) == nil {
			t.Fatalf("%d frames in %v pass", m.FrameCount, m.Duration)
		}
	}
}

// The real thing: a clip goes through the queue and comes out cut.
func TestRemover(t *testing.T) {
	t.Parallel()
	x := newFixture(t, storetest.Open(t, storetest.SQLite(t)), job.Config{})
	in := x.input("walk.gif", 4)
	in.Media.Width, in.Media.Height = 64, 48
	if err := x.blobs.Delete(t.Context(), in.Key); err != nil {
		t.Fatal(err)
	}
	u, err := x.blobs.Receive(t.Context(), in.Key, bytes.NewReader(clip(t)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	u.Release()
	sub := x.submission(x.owner, in)
	sub.Options.OutputFormat, sub.Options.Pad = "apng", 2
	r, err := x.Submit(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	x.work(&job.Worker{Processor: remover(t)})
	x.ended()
	j := x.get(r.Jobs[0].ID)
	if j.State != job.Done {
		t.Fatalf("%+v", j)
	}
	out, err := png.Decode(bytes.NewReader([]byte(x.read(j.Output)))) // its first frame
	if err != nil || out.Bounds() != image.Rect(0, 0, 20+14+4, 24) {
		t.Fatalf("%v, %v", out.Bounds(), err)
	}
	at := job.Placement{
		Width: 38, Height: 24, Source: job.Size{Width: 64, Height: 48},
		Window: job.Box{X: 8, Y: 8, Size: job.Size{Width: 38, Height: 24}}, Target: job.Box{Size: job.Size{Width: 38, Height: 24}},
	}
	if diff := cmp.Diff(&at, j.Placement); diff != "" {
		t.Errorf("the placement is wrong (-want +got):\n%s", diff)
	}
	if q := j.Quality; q == nil || q.Kept < 0.05 || q.Kept > 0.5 || len(q.Warnings) > 0 {
		t.Errorf("the quality is %+v", q)
	}
	preview, err := png.Decode(bytes.NewReader([]byte(x.read(j.Preview))))
	if err != nil || preview.Bounds() != image.Rect(0, 0, 64, 48) {
		t.Fatalf("%v, %v", preview.Bounds(), err)
	}
	if _, _, _, a := preview.At(15, 15).RGBA(); a != 0xffff {
		t.Errorf("the subject's alpha is %d", a)
	}
	if _, _, _, a := preview.At(40, 40).RGBA(); a != 0 {
		t.Errorf("the backdrop's alpha is %d", a)
	}
}

func TestRemoverStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "clip")
	if err := os.WriteFile(path, clip(t), 0o600); err != nil {
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
