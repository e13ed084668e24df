package gif_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
)

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	for _, size := range []image.Point{{0, 1}, {1, 0}, {65536, 1}, {1, 65536}} {
		if _, err := gif.NewWriter(&bytes.Buffer{}, size.X, size.Y, gif.WriterOptions{}); err == nil {
			t.Errorf("size %v is accepted", size)
		}
	}
	for _, o := range []gif.WriterOptions{{Quality: -1}, {Quality: 101}, {Plays: -1}} {
		if _, err := gif.NewWriter(&bytes.Buffer{}, 1, 1, o); err == nil {
			t.Errorf("options %+v are accepted", o)
		}
	}
}

// brokenWriter fails after a number of bytes.
type brokenWriter struct{ left int }

var errBroken = errors.New("broken")

func (b *brokenWriter) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

// The bubbles of synctest panic if a goroutine of the writer is left behind.
func TestWriterEnds(t *testing.T) {
	t.Parallel()
	c := syntheticClip(64, 64, 20)
	tests := map[string]func(t *testing.T, ctx context.Context, cancel func()){
		"close twice": func(t *testing.T, ctx context.Context, _ func()) {
			w := open(t, &bytes.Buffer{})
			_ = feed(ctx, w, c)
			if err := errors.Join(w.Close(), w.Close()); err != nil {
				t.Error(err)
			}
			if err := w.Write(ctx, &media.Frame{Image: c.frames[0]}); !errors.Is(err, media.ErrClosed) {
				t.Errorf("write after close: %v", err)
			}
			w.Abort()
		},
		"abort": func(t *testing.T, ctx context.Context, _ func()) {
			w := open(t, &bytes.Buffer{})
			_ = feed(ctx, w, c)
			w.Abort()
			w.Abort()
			if err := w.Close(); !errors.Is(err, media.ErrClosed) {
				t.Errorf("close after abort: %v", err)
			}
		},
		"no frames": func(t *testing.T, _ context.Context, _ func()) {
			w := open(t, &bytes.Buffer{})
			if err := w.Close(); !errors.Is(err, media.ErrNoFrames) {
				t.Errorf("close: %v", err)
			}
		},
		"broken output": func(t *testing.T, ctx context.Context, _ func()) {
			w := open(t, &brokenWriter{left: 2000})
			err := feed(ctx, w, c)
			if err == nil {
				t.Error("no frame reports the broken output")
			}
			if err := w.Close(); !errors.Is(err, errBroken) {
				t.Errorf("close: %v", err)
			}
		},
		"broken at the end": func(t *testing.T, ctx context.Context, _ func()) {
			w := open(t, &brokenWriter{left: 2000})
			_ = feed(ctx, w, clip{frames: c.frames[:1]})
			if err := w.Close(); !errors.Is(err, errBroken) {
				t.Errorf("close: %v", err)
			}
		},
		"cancelled": func(t *testing.T, ctx context.Context, cancel func()) {
			r, end := newBlockedWriter()
			w := open(t, r)
			time.AfterFunc(time.Second, cancel)
			if err := feed(ctx, w, c); !errors.Is(err, context.Canceled) {
				t.Errorf("write: %v", err)
			}
			end()
			if err := w.Close(); !errors.Is(err, context.Canceled) {
				t.Errorf("close: %v", err)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				test(t, ctx, cancel)
			})
		})
	}
}

// The pool gets every picture back: of a frame that is written, and of one that is refused.
func TestWriterGivesPicturesBack(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*gif.Writer){
		"written": func(*gif.Writer) {}, "closed": func(w *gif.Writer) { _ = w.Close() }, "aborted": func(w *gif.Writer) { w.Abort() },
	} {
		for _, size := range []image.Point{{64, 64}, {32, 64}} {
			pool := new(media.Pool)
			w, err := gif.NewWriter(io.Discard, 64, 64, gif.WriterOptions{Pool: pool})
			if err != nil {
				t.Fatal(err)
			}
			end(w)
			img := pool.Get(size.X, size.Y)
			err = w.Write(t.Context(), &media.Frame{Image: img})
			if fine := name == "written" && size.X == 64; (err == nil) != fine {
				t.Errorf("%s, %v: %v", name, size, err)
			}
			if pool.Get(size.X, size.Y) != img {
				t.Errorf("%s, %v: the pool lacks the picture", name, size)
			}
			w.Abort()
		}
	}
}

// blockedWriter blocks until it is ended.
type blockedWriter chan struct{}

func newBlockedWriter() (blockedWriter, func()) {
	b := make(blockedWriter)
	return b, func() { close(b) }
}

func (b blockedWriter) Write(p []byte) (int, error) {
	<-b
	return len(p), nil
}

func open(t *testing.T, out io.Writer) *gif.Writer {
	t.Helper()
	w, err := gif.NewWriter(out, 64, 64, gif.WriterOptions{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func feed(ctx context.Context, w *gif.Writer, c clip) error {
	for _, img := range c.frames {
		if err := w.Write(ctx, &media.Frame{Image: img, Delay: 40 * time.Millisecond}); err != nil {
			return err
		}
	}
	return nil
}
