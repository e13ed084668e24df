package sequence_test

import (
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/sequence"
)

// folder makes pictures of one pixel, each of another grey.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, name := range names {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		img := image.NewGray(image.Rect(0, 0, 1, 1))
		img.SetGray(0, 0, color.Gray{Y: uint8(i)})
		if err := errors.Join(png.Encode(f, img), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files, pattern, want, wrong string
	}{
		"pattern":             {"f1.png f2.png f10.png f3.png f4.png f5.png f6.png f7.png f8.png f9.png g1.png", "f%d.png", "f1.png f2.png f3.png f4.png f5.png f6.png f7.png f8.png f9.png f10.png", ""},
		"pattern with digits": {"f0099.png f0100.png f1.png", "f%04d.png", "f0099.png f0100.png", ""},
		"zeros before":        {"f08.png f09.png f10.png f+11.png", "f%d.png", "f08.png f09.png f10.png", ""},
		"zeros and none":      {"f01.png f1.png", "f%d.png", "", "same number"},
		"folder":              {"walk9.png walks10.png", "", "", "different names"},
		"folder in order":     {"w10.png w9.png w8.png .w7.png notes.txt", "", "w8.png w9.png w10.png", ""},
		"numbers alone":       {"0.png 1.png", "%d.png", "0.png 1.png", ""},
		"only numbers":        {"8.png 9.png 10.png 11.png", "", "8.png 9.png 10.png 11.png", ""},
		"only digits":         {"098.png 099.png 100.png 101.png", "", "098.png 099.png 100.png 101.png", ""},
		"digits before":       {"1a9.png 1a10.png", "", "1a9.png 1a10.png", ""},
		"gap":                 {"f1.png f3.png", "f%d.png", "", "a picture is missing: f1.png is followed by f3.png"},
		"one number twice":    {"f1.png f01.png", "", "", "same number"},
		"nothing":             {"f1.png", "g%d.png", "", "no picture"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, strings.Fields(tt.files)...)
			found, err := sequence.Find(filepath.Join(dir, tt.pattern))
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("%v, want %q", err, tt.wrong)
				}
				if tt.wrong == "no picture" != errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%v: nothing is there: %v", err, errors.Is(err, fs.ErrNotExist))
				}
				return
			}
			var got []string
			for _, p := range found {
				got = append(got, filepath.Base(p))
			}
			if diff := cmp.Diff(strings.Fields(tt.want), got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	dir := folder(t, "f1.png", "100%d.png")
	for input, want := range map[string]string{
		"walk/f_%04d.png": "walk/f", "walk/%d.png": "walk", dir: dir, dir + "/": dir, filepath.Join(dir, "100%d.png"): "", "f1.png": "", "a%%d.png": "", "a%x.png": "",
	} {
		got, ok := sequence.Stem(input)
		if filepath.ToSlash(got) != filepath.ToSlash(want) || ok != (want != "") {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	dir := folder(t, "f0.png", "f1.png", "f2.png", "f3.png", "f4.png", "f5.png", "f6.png")
	paths, err := sequence.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	clip, err := sequence.Probe(paths, 7, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if i := clip.Info(); i.Duration != time.Second || i.Frames != 7 || i.Still {
		t.Errorf("%+v", i)
	}
	src, err := clip.Open(t.Context(), media.ReadOptions{From: 200 * time.Millisecond, Every: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for _, i := range []int{2, 4, 6} {
		f, err := src.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if at := time.Duration(i) * time.Second / 7; (f.PTS-at).Abs() > 1 || f.Image.Pix[0] != uint8(i) {
			t.Errorf("picture %d at %v", f.Image.Pix[0], f.PTS)
		}
	}
	if _, err := src.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the last: %v", err)
	}
	if _, err := sequence.Probe(paths, 0, media.Limits{MaxFrames: 3}); !errors.As(err, new(*media.LimitError)) {
		t.Errorf("too many: %v", err)
	}
}
