package apng_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/apng"
)

var errDisk = errors.New("disk full")

// TestFailingDisk lets the writer fail at many bytes of the file.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	clip := chaos(4, 4, 9, rand.New(rand.NewPCG(3, 3)))
	whole, err := encode(frames(clip, 0), apng.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for k := 0; k < len(whole); k += 7 {
		m := &memory{limit: k, fail: errDisk}
		w, err := apng.NewWriter(m, 4, 4, apng.Options{Workers: 2})
		if err != nil {
			if !errors.Is(err, errDisk) {
				t.Fatalf("byte %d: NewWriter: %v", k, err)
			}
			continue
		}
		for _, f := range frames(clip, 0) {
			err = errors.Join(err, w.Write(context.Background(), f))
		}
		first, second := w.Close(), w.Close()
		w.Abort()
		if !errors.Is(first, errDisk) || !errors.Is(second, first) || err != nil && !errors.Is(err, errDisk) {
			t.Fatalf("byte %d: Write: %v, Close: %v, then %v", k, err, first, second)
		}
	}
}

// TestFailingDiskSurfacesInWrite lets only the header through. A long clip must
// not be computed to its end before the error appears.
func TestFailingDiskSurfacesInWrite(t *testing.T) {
	t.Parallel()
	w, err := apng.NewWriter(&memory{limit: 60, fail: errDisk}, 4, 4, apng.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, f := range frames(chaos(4, 4, 10, rand.New(rand.NewPCG(1, 1))), 0) {
		err = w.Write(context.Background(), f)
	}
	if !errors.Is(err, errDisk) {
		t.Errorf("tenth Write: %v, want %v", err, errDisk)
	}
}

func TestRectangles(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	noise := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for i := range noise.Pix {
		if noise.Pix[i] = 255; i%4 != 3 {
			noise.Pix[i] = uint8(rng.Uint32())
		}
	}
	empty := image.NewNRGBA(noise.Rect)
	set := func(img *image.NRGBA, c color.NRGBA, at ...image.Point) *image.NRGBA {
		img = clone(img)
		for _, p := range at {
			img.SetNRGBA(p.X, p.Y, c)
		}
		return img
	}
	red, half, faint := color.NRGBA{255, 0, 0, 255}, color.NRGBA{255, 0, 0, 128}, color.NRGBA{0, 9, 0, 20}
	full, holes := image.NewNRGBA(noise.Rect), image.NewNRGBA(noise.Rect)
	for y := range full.Rect.Max.Y {
		for x := range full.Rect.Max.X {
			full.SetNRGBA(x, y, red)
			if x%39+y%29 > 0 && rng.IntN(2) == 0 {
				holes.SetNRGBA(x, y, red)
			}
		}
	}
	a, b := image.Pt(5, 6), image.Pt(30, 20)
	box := image.Rect(5, 6, 31, 21)
	const source, over = 0, 1
	tests := map[string]struct {
		before, after *image.NRGBA
		at            image.Rectangle
		blend         byte
	}{
		"unchanged":            {noise, noise, image.Rect(0, 0, 1, 1), source},
		"still empty":          {empty, empty, image.Rect(0, 0, 1, 1), source},
		"everything":           {empty, noise, noise.Rect, source},
		"all vanishes":         {noise, empty, noise.Rect, source},
		"one pixel":            {noise, set(noise, red, a), image.Rect(5, 6, 6, 7), source},
		"over a still picture": {noise, set(noise, red, a, b), box, over},
		"half on nothing":      {set(noise, color.NRGBA{}, a, b), set(noise, half, a, b), box, over},
		"half on half":         {set(noise, half, a, b), set(noise, faint, a, b), box, source},
		"half on opaque":       {noise, set(noise, half, a, b), box, source},
		"opaque on half":       {set(noise, half, a, b), set(noise, red, a, b), box, over},
		"plain over holes":     {holes, full, noise.Rect, source},
		"pixels vanish":        {noise, set(noise, color.NRGBA{}, a, b), box, source},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := encode(frames([]*image.NRGBA{tt.before, tt.after}, 0), apng.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := decode(file)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, []*image.NRGBA{tt.before, tt.after})
			if got.At[1] != tt.at || got.Blends[1] != tt.blend {
				t.Errorf("second frame at %v with blend %d, want %v with %d", got.At[1], got.Blends[1], tt.at, tt.blend)
			}
		})
	}
}

// TestPool paints the next frame over every image that the writer gives back. A
// writer that still compares with that image would see no change. It also
// checks that the writer never holds more frames than it promises.
func TestPool(t *testing.T) {
	t.Parallel()
	const workers = 2
	clip := chaos(20, 20, 40, rand.New(rand.NewPCG(8, 8)))
	want := make([]*image.NRGBA, len(clip))
	pool, m := new(media.Pool), new(memory)
	w, err := apng.NewWriter(m, 20, 20, apng.Options{Pool: pool, Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for i, f := range frames(clip, 0) {
		want[i] = visible(clip[i])
		if err := w.Write(context.Background(), f); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			copy(pool.Get(20, 20).Pix, visible(clip[(i+1)%len(clip)]).Pix)
		}
		if written := bytes.Count(m.b, []byte("fcTL")); i+1-written > workers+2 {
			t.Errorf("%d frames taken, only %d written", i+1, written)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := decode(m.b)
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
}

// TestOffset writes after other content, as a container would.
func TestOffset(t *testing.T) {
	t.Parallel()
	const before = "something else"
	m := &memory{b: []byte(before), at: int64(len(before))}
	w, err := apng.NewWriter(m, 2, 2, apng.Options{Plays: 3})
	if err != nil {
		t.Fatal(err)
	}
	clip := chaos(2, 2, 3, rand.New(rand.NewPCG(2, 2)))
	for _, f := range frames(clip, 0) {
		err = errors.Join(err, w.Write(context.Background(), f))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(m, "tail"); err != nil {
		t.Fatal(err)
	}
	file, found := strings.CutPrefix(string(m.b), before)
	file, atEnd := strings.CutSuffix(file, "tail")
	if !found || !atEnd {
		t.Fatalf("what is around the file was overwritten, or the offset is not its end")
	}
	got, err := decode([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{3, 3}, []int{got.Frames, got.Plays}); diff != "" {
		t.Errorf("frames and plays (-want +got):\n%s", diff)
	}
}

func TestNewWriterRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		width, height int
		opts          apng.Options
	}{
		"no width":        {0, 1, apng.Options{}},
		"negative height": {1, -1, apng.Options{}},
		"too large":       {1 << 15, 1 << 15, apng.Options{}},
		"negative plays":  {1, 1, apng.Options{Plays: -1}},
		"too many plays":  {1, 1, apng.Options{Plays: 1 << 31}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := new(memory)
			if w, err := apng.NewWriter(m, tt.width, tt.height, tt.opts); err == nil {
				w.Abort()
				t.Error("no error")
			}
			if len(m.b) > 0 {
				t.Errorf("%d bytes written", len(m.b))
			}
		})
	}
}

// TestEnds ends a writer in all ways. The bubble fails the test if a goroutine
// is left behind.
func TestEnds(t *testing.T) {
	t.Parallel()
	errStop := errors.New("user pressed stop")
	stopped, stop := context.WithCancelCause(context.Background())
	stop(errStop)
	background := context.Background()
	write := func(ctx context.Context, w *apng.Writer, size, n int) (err error) {
		for _, f := range frames(chaos(size, size, n, rand.New(rand.NewPCG(4, 4))), 0) {
			err = w.Write(ctx, f)
		}
		return err
	}
	tests := map[string]struct {
		end  func(w *apng.Writer) error
		want error
	}{
		"close without frames": {func(w *apng.Writer) error { return w.Close() }, media.ErrNoFrames},
		"close twice": {func(w *apng.Writer) error {
			return errors.Join(write(background, w, 8, 9), w.Close(), w.Close())
		}, nil},
		"abort at once": {func(w *apng.Writer) error {
			w.Abort()
			w.Abort()
			return w.Close()
		}, media.ErrClosed},
		"abort in the middle": {func(w *apng.Writer) error {
			_ = write(background, w, 8, 9)
			w.Abort()
			return w.Close()
		}, media.ErrClosed},
		"abort after close": {func(w *apng.Writer) error {
			err := errors.Join(write(background, w, 8, 1), w.Close())
			w.Abort()
			return errors.Join(err, w.Close())
		}, nil},
		"write after close": {func(w *apng.Writer) error {
			err := errors.Join(write(background, w, 8, 1), w.Close())
			late := write(background, w, 8, 1)
			return errors.Join(err, late, w.Close())
		}, media.ErrClosed},
		"close after late write": {func(w *apng.Writer) error {
			err := errors.Join(write(background, w, 8, 1), w.Close())
			_ = write(background, w, 8, 1)
			return errors.Join(err, w.Close())
		}, nil},
		"write after abort": {func(w *apng.Writer) error {
			w.Abort()
			return write(background, w, 8, 1)
		}, media.ErrClosed},
		"context": {func(w *apng.Writer) error {
			defer w.Abort()
			return write(stopped, w, 8, 1)
		}, errStop},
		"close after context": {func(w *apng.Writer) error {
			_ = errors.Join(write(background, w, 8, 2), write(stopped, w, 8, 1))
			return w.Close()
		}, errStop},
		"close after wrong size": {func(w *apng.Writer) error {
			_ = errors.Join(write(background, w, 8, 2), write(background, w, 9, 1))
			return w.Close()
		}, cmpopts.AnyError},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, err := apng.NewWriter(new(memory), 8, 8, apng.Options{Workers: 3})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, tt.end(w), cmpopts.EquateErrors()); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
			})
		})
	}
}
