package bgremove_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/sheet/sheettest"
	"github.com/bgremove/bgremove/pkg/bgremove"
)

// pixels are the frames of a clip, whole, as ffmpeg reads them.
func pixels(t testing.TB, path string, width, height int) []*image.NRGBA {
	t.Helper()
	raw, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-nostdin", "-i", path,
		"-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgba", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []*image.NRGBA
	for size := 4 * width * height; len(raw) >= size; raw = raw[size:] {
		all = append(all, &image.NRGBA{Pix: raw[:size], Stride: 4 * width, Rect: image.Rect(0, 0, width, height)})
	}
	return all
}

// ends are when the frames of a clip end, as ffprobe reads them.
func ends(t *testing.T, path string) []time.Duration {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=duration_time", "-of", "json", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Packets []struct {
			Duration json.Number `json:"duration_time"`
		} `json:"packets"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	var all []time.Duration
	at := 0.0
	for _, p := range read.Packets {
		seconds, _ := p.Duration.Float64()
		at += seconds
		all = append(all, time.Duration(at*float64(time.Second)))
	}
	return all
}

// writeSheet writes a sheet of a clip, with fast.
func writeSheet(t testing.TB, in, output, path string, o bgremove.Options) *bgremove.Result {
	t.Helper()
	o.Method = bgremove.Fast
	r := bgremove.New(bgremove.Config{})
	defer r.Close()
	result, err := r.Remove(t.Context(), in, output, o, bgremove.Extras{Sheet: path})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// A sheet, alone or beside a clip, has the frames of an APNG and their times.
func TestSheet(t *testing.T) {
	t.Parallel()
	const demo = "../../testdata/demo/hop.mp4"
	o := bgremove.Defaults()
	o.Format = bgremove.APNG
	beside, clip := filepath.Join(t.TempDir(), "hop.png"), filepath.Join(t.TempDir(), "hop.apng")
	result := writeSheet(t, demo, clip, beside, o)
	if result.Output != clip || result.OutputFormat != bgremove.APNG || result.Sheet == nil || result.Sheet.Pages[0].Image != beside {
		t.Errorf("the result is %+v", result)
	}
	want, times := pixels(t, clip, result.Width, result.Height), ends(t, clip)
	check := func(t *testing.T, path string) {
		t.Helper()
		frames := sheettest.Read(t, path)
		if len(frames) != 72 || len(want) != 72 || len(times) != 72 {
			t.Fatalf("%d frames, and the clip has %d at %d times", len(frames), len(want), len(times))
		}
		at := time.Duration(0)
		for i, f := range frames {
			if !bytes.Equal(f.Image.Pix, want[i].Pix) {
				t.Errorf("frame %d differs", i)
			}
			at += time.Duration(f.Milliseconds) * time.Millisecond
			if off := at - times[i]; off.Abs() > 600*time.Microsecond {
				t.Errorf("frame %d ends %v off", i, off)
			}
		}
	}
	check(t, filepath.Join(filepath.Dir(beside), "hop.json"))
	padding := 0
	for name, change := range map[string]func(*bgremove.Options){
		"pages":    func(o *bgremove.Options) { o.SheetMax = 1000 },
		"aseprite": func(o *bgremove.Options) { o.SheetData, o.SheetPowerOfTwo = bgremove.Aseprite, true },
		"rows":     func(o *bgremove.Options) { o.SheetPack, o.SheetPadding, o.SheetExtrude = bgremove.Rows, &padding, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, o := t.TempDir(), bgremove.Defaults()
			change(&o)
			path := filepath.Join(dir, "hop.png")
			result := writeSheet(t, demo, "", path, o)
			if result.Output != path || result.OutputFormat != bgremove.SheetFormat || result.Frames != 72 || (len(result.Sheet.Pages) > 1) != (name == "pages") {
				t.Errorf("the result is %+v of %+v", result, result.Sheet)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != 2*len(result.Sheet.Pages) {
				t.Errorf("%d files, %v", len(files), err)
			}
			check(t, filepath.Join(dir, "hop.json"))
		})
	}
}

// The times of a GIF are those of its frames, to the centisecond.
func TestSheetOfGIF(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.gif", movingSquare("-t", "0.5", "-r", "10")...)
	path := filepath.Join(t.TempDir(), "in.png")
	result := writeSheet(t, in, "", path, bgremove.Defaults())
	for i, f := range sheettest.Read(t, filepath.Join(filepath.Dir(path), "in.json")) {
		if f.Milliseconds != 100 {
			t.Errorf("frame %d of %d is shown for %d ms", i, result.Frames, f.Milliseconds)
		}
	}
}

// All files appear, or none does; nothing is replaced unless asked to.
func TestSheetAllOrNothing(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.gif", movingSquare("-t", "0.4")...)
	for _, c := range []struct {
		name        string
		there       string // before
		sheet, clip string
		o           bgremove.Options
		cause       bgremove.Cause
	}{
		{"data", "walk.json", "walk.png", "walk.gif", bgremove.Options{}, bgremove.OutputExists},
		{"picture", "walk.png", "walk.png", "", bgremove.Options{}, bgremove.OutputExists},
		{"clip", "walk.gif", "walk.png", "walk.gif", bgremove.Options{}, bgremove.OutputExists},
		{"a later page", "walk-1.json", "walk.png", "", bgremove.Options{SheetMax: 100, SheetPack: bgremove.Rows}, bgremove.OutputExists},
		{"folder", "walk.json/", "walk.png", "", bgremove.Options{}, bgremove.OutputIsFolder},
		{"same name", "", "walk.png", "walk.png", bgremove.Options{}, ""},
		{"not a png", "", "walk.gif", "", bgremove.Options{}, ""},
		{"no page is large enough", "", "walk.png", "", bgremove.Options{SheetMax: 64, SheetExtrude: 16, SheetPack: bgremove.Rows}, bgremove.SheetFrameTooLarge},
		{"one page is too few", "", "walk.png", "walk.webp", bgremove.Options{SheetMax: 100, SheetPack: bgremove.Rows, SheetData: bgremove.Aseprite, Format: bgremove.WebP}, bgremove.SheetPages},
		{"strict", "", "walk.png", "walk.gif", bgremove.Options{Key: "#123456", Strict: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, o := t.TempDir(), c.o
			o.Method = bgremove.Fast
			there := filepath.Join(dir, c.there)
			count := 0
			switch {
			case c.there == "":
			case c.there[len(c.there)-1] == '/':
				count = 1
				if err := os.Mkdir(there, 0o777); err != nil {
					t.Fatal(err)
				}
			default:
				count = 1
				if err := os.WriteFile(there, []byte("kept"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			clip := ""
			if c.clip != "" {
				clip = filepath.Join(dir, c.clip)
			}
			r := bgremove.New(bgremove.Config{})
			defer r.Close()
			_, err := r.Remove(t.Context(), in, clip, o, bgremove.Extras{Sheet: filepath.Join(dir, c.sheet)})
			if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Cause != c.cause {
				t.Errorf("%v", err)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) != count {
				t.Errorf("it left %v, %v", files, err)
			}
			if _, err := r.Remove(t.Context(), in, clip, o, bgremove.Extras{Sheet: filepath.Join(dir, c.sheet), Overwrite: true}); (err == nil) != (c.cause == bgremove.OutputExists) {
				t.Errorf("when told to overwrite: %v", err)
			}
		})
	}
}
