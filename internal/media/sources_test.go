package media_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/apng"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/media/sequence"
)

// clipSize is the size of the clips, and clipFrames their number of frames.
var clipSize, clipFrames = image.Pt(16, 8), 5

// picture is an opaque grey picture.
func picture(i int) *image.NRGBA {
	img := image.NewNRGBA(image.Rectangle{Max: clipSize})
	for at := range img.Pix {
		img.Pix[at] = uint8(40*i) | 255*uint8(at%4/3)
	}
	return img
}

// written is the file of a clip that a sink has written.
func written(t *testing.T, name string, open func(f *os.File) (media.Sink, error)) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	w, err := open(f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range clipFrames {
		const shown = 40 * time.Millisecond
		if err := w.Write(t.Context(), &media.Frame{Image: picture(i), PTS: time.Duration(i) * shown, Duration: shown, Delay: shown}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// Every source of several frames takes them from its pool, which gets them back: a clip
// needs no more pictures than are out at once. Each can be closed twice.
func TestSources(t *testing.T) {
	t.Parallel()
	tools, err := ffmpeg.Find(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(t *testing.T) (media.Clip, error){
		"gif": func(t *testing.T) (media.Clip, error) {
			return gif.Probe(written(t, "a.gif", func(f *os.File) (media.Sink, error) {
				return gif.NewWriter(f, clipSize.X, clipSize.Y, gif.WriterOptions{})
			}), media.Limits{})
		},
		"painted": func(t *testing.T) (media.Clip, error) {
			return apng.Probe(written(t, "a.png", func(f *os.File) (media.Sink, error) {
				return apng.NewWriter(f, clipSize.X, clipSize.Y, apng.Options{})
			}), media.Limits{})
		},
		"video": func(t *testing.T) (media.Clip, error) {
			path := written(t, "a.webm", func(f *os.File) (media.Sink, error) {
				return tools.NewSink(t.Context(), f.Name(), ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: clipSize.X, Height: clipSize.Y, Opaque: true})
			})
			return tools.Probe(t.Context(), path, media.WebM, media.Limits{})
		},
		"pictures": func(t *testing.T) (media.Clip, error) {
			var paths []string
			for i := range clipFrames {
				path := filepath.Join(t.TempDir(), fmt.Sprint(i, ".png"))
				var file bytes.Buffer
				if err := errors.Join(png.Encode(&file, picture(i)), os.WriteFile(path, file.Bytes(), 0o600)); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
			}
			return sequence.Probe(paths, 0, media.Limits{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clip, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			pool := new(media.Pool)
			only := pool.Get(clipSize.X, clipSize.Y)
			src, err := clip.Open(t.Context(), media.ReadOptions{Pool: pool})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			for i := range clipFrames {
				pool.Put(only)
				f, err := src.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if f.Image != only {
					t.Errorf("frame %d is a new picture", i)
				}
			}
			if _, err := src.Next(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("after the last: %v", err)
			}
			if err := errors.Join(src.Close(), src.Close()); err != nil {
				t.Errorf("closed twice: %v", err)
			}
		})
	}
}
