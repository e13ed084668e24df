package webp_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/media/webp"
)

func tools(t testing.TB) *ffmpeg.Tools {
	t.Helper()
	found, err := ffmpeg.Find(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

const ms = time.Millisecond

// write makes a file of pictures, each shown for its duration.
func write(t *testing.T, o webp.Options, pictures []*image.NRGBA, durations []time.Duration) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.webp")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := pictures[0].Rect
	w, err := webp.NewWriter(t.Context(), tools(t), f, size.Dx(), size.Dy(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	pts := time.Duration(0)
	for i, p := range pictures {
		d := durations[i%len(durations)]
		copied := &image.NRGBA{Pix: bytes.Clone(p.Pix), Stride: p.Stride, Rect: p.Rect}
		if err := w.Write(t.Context(), &media.Frame{Image: copied, PTS: pts, Duration: d, Delay: d}); err != nil {
			t.Fatal(err)
		}
		pts += d
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// scene is a clip of a size. A soft disc moves over it; if it has a backdrop, that
// is opaque.
func scene(w, h, frames int, backdrop bool) []*image.NRGBA {
	all := make([]*image.NRGBA, frames)
	for i := range all {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				c := color.NRGBA{R: uint8(3 * x), G: uint8(5 * y), B: 60, A: 255}
				dx, dy := x-8-3*i, y-10
				if d := dx*dx + dy*dy; d < 60 || !backdrop {
					c = color.NRGBA{R: 200, G: uint8(40 + 2*i), B: 30, A: uint8(max(0, min(255, 8*(60-d))))}
					if backdrop {
						c.A = 255
					}
				}
				img.SetNRGBA(x, y, c)
			}
		}
		all[i] = img
	}
	return all
}

// Lossless pixels come back as they went in, over all sizes of rectangles and both
// blends, and pixels without alpha are black.
func TestLossless(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pictures []*image.NRGBA
		smaller  bool // rectangles than the canvas are used
		over     bool
	}{
		"cut out":     {scene(96, 60, 12, false), true, true},
		"opaque":      {scene(97, 61, 12, true), false, true},
		"small":       {scene(3, 3, 3, true), false, false},
		"one":         {scene(20, 20, 1, false), false, true},
		"odd and low": {scene(151, 13, 5, true), false, true},
		"large":       {scene(641, 361, 8, true), true, true}, // a smaller lane pays
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, webp.Options{Quality: 100, Plays: 3, Workers: 3}, tt.pictures, []time.Duration{40 * ms})
			a := read(t, contents(t, path))
			if a.width != tt.pictures[0].Rect.Dx() || a.height != tt.pictures[0].Rect.Dy() || a.plays != 3 || !a.alpha {
				t.Errorf("it is %d×%d, plays %d times, alpha %t", a.width, a.height, a.plays, a.alpha)
			}
			var smaller, over bool
			at := 0
			for _, f := range a.frames {
				smaller, over = smaller || f.rect != f.canvas.Rect, over || f.over
				for end := at + f.milliseconds/40; at < end; at++ {
					if !same(f.canvas, tt.pictures[at]) {
						t.Errorf("frame %d differs", at)
					}
				}
			}
			if at != len(tt.pictures) || smaller != tt.smaller || over != tt.over {
				t.Errorf("%d of %d frames, smaller %t, over %t", at, len(tt.pictures), smaller, over)
			}
			delays(t, path)
		})
	}
}

// same reports whether two pictures look the same.
func same(a, b *image.NRGBA) bool {
	for i := 0; i < len(a.Pix); i += 4 {
		p, q := a.Pix[i:i+4], b.Pix[i:i+4]
		if p[3] != q[3] || q[3] != 0 && !bytes.Equal(p, q) || q[3] == 0 && !bytes.Equal(p, []byte{0, 0, 0, 0}) {
			return false
		}
	}
	return true
}

// Lossy pictures have exact alpha and near colours.
func TestLossy(t *testing.T) {
	t.Parallel()
	pictures := scene(96, 60, 6, false)
	for _, f := range read(t, contents(t, write(t, webp.Options{}, pictures, []time.Duration{40 * ms}))).frames[5:] {
		var sum, n float64
		for i := 0; i < len(f.canvas.Pix); i += 4 {
			p, q := f.canvas.Pix[i:i+4], pictures[5].Pix[i:i+4]
			if p[3] != q[3] {
				t.Fatalf("alpha %d became %d", q[3], p[3])
			}
			if q[3] == 255 {
				sum += max(float64(p[0])-float64(q[0]), float64(q[0])-float64(p[0]))
				n++
			}
		}
		if sum/n > 8 {
			t.Errorf("red differs by %.1f on the mean", sum/n)
		}
	}
}

// Durations are exact, frames without change join the one before, and rounding
// does not add up.
func TestDurations(t *testing.T) {
	t.Parallel()
	s := scene(96, 60, 4, false)
	third := time.Second / 30
	for name, tt := range map[string]struct {
		pictures  []*image.NRGBA
		durations []time.Duration
		want      []int
	}{
		"each its own":        {s, []time.Duration{10 * ms, 1234 * ms, 33 * ms, 70 * ms}, []int{10, 1234, 33, 70}},
		"rounded":             {s, []time.Duration{third}, []int{33, 34, 33, 33}},
		"repeated":            {[]*image.NRGBA{s[0], s[0], s[1], s[1], s[1], s[0]}, []time.Duration{40 * ms}, []int{80, 120, 40}},
		"all the same":        {[]*image.NRGBA{s[0], s[0], s[0]}, []time.Duration{third}, []int{100}},
		"longer than a field": {[]*image.NRGBA{s[0], s[0], s[1]}, []time.Duration{16_000_000 * ms}, []int{16_000_000, 16_000_000, 16_000_000}},
		"none":                {s[:2], []time.Duration{0}, []int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, delays(t, write(t, webp.Options{}, tt.pictures, tt.durations))); diff != "" {
				t.Errorf("durations (-want +got):\n%s", diff)
			}
		})
	}
}

// An opaque file says so, and plays once.
func TestOpaque(t *testing.T) {
	t.Parallel()
	a := read(t, contents(t, write(t, webp.Options{Opaque: true, Plays: 1}, scene(96, 60, 3, false), []time.Duration{40 * ms})))
	if a.alpha || a.plays != 1 || a.frames[2].canvas.NRGBAAt(0, 59).A != 255 {
		t.Errorf("alpha %t, plays %d times", a.alpha, a.plays)
	}
}

// Many frames pass through few buffers.
func TestManyFrames(t *testing.T) {
	t.Parallel()
	pictures := scene(32, 16, 300, false)
	for i, p := range pictures {
		p.SetNRGBA(i%32, i/32, color.NRGBA{255, 255, 255, 255})
	}
	if got := len(delays(t, write(t, webp.Options{Workers: 2}, pictures, []time.Duration{20 * ms}))); got != 300 {
		t.Errorf("%d frames", got)
	}
}

// Errors come from what has gone wrong, and end the writer.
// The pool gets every picture back, and none twice: it would lend it to two at once. The
// place for files fails at some time after a frame was taken.
func TestPicturesComeBackOnce(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	for name, open := range map[string]func(o webp.Options) (*webp.Writer, error){
		"animation": func(o webp.Options) (*webp.Writer, error) {
			return webp.NewWriter(t.Context(), tools(t), &smallFile{left: 100, err: full}, 60, 40, o)
		},
		"pictures": func(o webp.Options) (*webp.Writer, error) {
			return webp.NewPictures(t.Context(), tools(t), 60, 40, o, func([]byte) error { return full })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := new(media.Pool)
			w, err := open(webp.Options{Pool: pool})
			if err != nil {
				t.Fatal(err)
			}
			given := map[*image.NRGBA]bool{}
			for i := 0; err == nil; i++ {
				img := pool.Get(60, 40)
				given[img] = true
				copy(img.Pix, scene(60, 40, 2, true)[i%2].Pix)
				err = w.Write(t.Context(), &media.Frame{Image: img, PTS: time.Duration(i) * 40 * ms, Duration: 40 * ms})
			}
			if !errors.Is(err, full) {
				t.Fatal(err)
			}
			w.Abort()
			lent := map[*image.NRGBA]bool{}
			for range len(given) + 2 { // the writer's own first one is there, too, and one is new
				img := pool.Get(60, 40)
				if lent[img] {
					t.Error("a picture has come back twice")
				}
				lent[img] = true
			}
			for img := range given {
				if !lent[img] {
					t.Error("a picture has not come back")
				}
			}
		})
	}
}

// smallFile has no room for more than some bytes.
type smallFile struct {
	left int
	err  error
}

func (f *smallFile) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, f.err
	}
	return len(p), nil
}

func (f *smallFile) Seek(int64, int) (int64, error) { return 0, nil }

func TestErrors(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "out.webp"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := webp.NewWriter(t.Context(), tools(t), f, webp.MaxSide+1, 1, webp.Options{}); err == nil {
		t.Error("a picture is too wide")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	w, err := webp.NewWriter(ctx, tools(t), f, 96, 60, webp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("interrupted")
	for i, p := range scene(96, 60, 200, false) {
		if err = w.Write(t.Context(), &media.Frame{Image: p, PTS: time.Duration(i) * 40 * ms, Duration: 40 * ms}); err != nil {
			break
		}
		if i == 3 {
			cancel(why)
		}
	}
	if !errors.Is(err, why) || !errors.Is(w.Close(), why) {
		t.Errorf("error = %v", err)
	}
	w.Abort()
	if w, err = webp.NewWriter(t.Context(), tools(t), f, 96, 60, webp.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, media.ErrNoFrames) {
		t.Errorf("no frames: %v", err)
	}
	if err := w.Write(t.Context(), &media.Frame{Image: image.NewNRGBA(image.Rect(0, 0, 96, 60))}); !errors.Is(err, media.ErrNoFrames) {
		t.Errorf("after Close: %v", err)
	}
}
