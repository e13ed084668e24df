package webp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/media/webp"
)

// all reads a clip's frames.
func all(t *testing.T, c media.Clip, o media.ReadOptions) []*media.Frame {
	t.Helper()
	src, err := c.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var list []*media.Frame
	for {
		f, err := src.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
}

func probe(t testing.TB, path string) media.Clip {
	t.Helper()
	c, err := webp.Probe(path, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What we write without loss is read back as it was: pixels, times and loop.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, backdrop := range map[string]bool{"transparent": false, "opaque": true} {
		pictures, durations := scene(60, 40, 6, backdrop), []time.Duration{40 * ms, 33 * ms, 120 * ms}
		clip := probe(t, write(t, webp.Options{Plays: 3, Quality: 100, Opaque: backdrop}, pictures, durations))
		info := clip.Info()
		if info.Width != 60 || info.Height != 40 || info.Frames != 6 || info.Plays != 3 || info.HasAlpha == backdrop ||
			info.Duration != 386*ms || info.LastFrame != 120*ms || info.Truncated || info.Still {
			t.Errorf("%s: %+v", name, info)
		}
		pts := time.Duration(0)
		for i, f := range all(t, clip, media.ReadOptions{}) {
			want := bytes.Clone(pictures[i].Pix)
			media.ClearHidden(want)
			if f.PTS != pts || f.Duration != durations[i%3] || f.Delay != f.Duration || !bytes.Equal(f.Image.Pix, want) {
				t.Errorf("%s: frame %d at %v for %v is not as it was", name, i, f.PTS, f.Duration)
			}
			pts += f.Duration
		}
		if part := all(t, clip, media.ReadOptions{Every: 4}); len(part) != 2 || part[1].PTS != 40*ms+33*ms+120*ms+40*ms {
			t.Errorf("%s: every fourth frame: %d", name, len(part))
		}
	}
}

// Lossy pictures are near what they were, colour and alpha.
func TestLossyRoundTrip(t *testing.T) {
	t.Parallel()
	pictures := scene(60, 40, 3, false)
	clip := probe(t, write(t, webp.Options{Quality: 95}, pictures, []time.Duration{40 * ms}))
	if clip.Info().Luma == [3]float64{} {
		t.Error("the colour is not said to be subsampled")
	}
	for i, f := range all(t, clip, media.ReadOptions{}) {
		for at := 0; at < len(f.Image.Pix); at += 4 {
			got, want := f.Image.Pix[at:at+4], pictures[i].Pix[at:at+4]
			if got[3] != want[3] || want[3] == 255 && (near(got[0], want[0]) > 24 || near(got[1], want[1]) > 24) {
				t.Fatalf("frame %d, pixel %d: %v, want %v", i, at/4, got, want)
			}
		}
	}
}

func near(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

// Google's gif2webp makes files with blended frames and ones that are disposed of.
func TestOthersFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"animation", "dispose-keep", "dispose-restore-background", "dispose-restore-previous"} {
		source := "../../../testdata/pygif/" + name + ".gif"
		path := filepath.Join(t.TempDir(), "a.webp")
		if out, err := exec.CommandContext(t.Context(), "gif2webp", "-quiet", source, "-o", path).CombinedOutput(); err != nil {
			t.Fatalf("gif2webp: %v: %s", err, out)
		}
		original, err := gif.Probe(source, media.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := shownAt(all(t, original, media.ReadOptions{}))
		for at, pix := range shownAt(all(t, probe(t, path), media.ReadOptions{})) {
			if w, ok := want[at]; !ok || !bytes.Equal(pix, w) {
				t.Errorf("%s: the frame at %v is another (there is one: %v)", name, at, ok)
			}
		}
	}
}

// shownAt are the pictures by their times, without hidden colours.
func shownAt(frames []*media.Frame) map[time.Duration][]byte {
	m := map[time.Duration][]byte{}
	for _, f := range frames {
		media.ClearHidden(f.Image.Pix)
		m[f.PTS] = f.Image.Pix
	}
	return m
}

// damaged are files that are wrong in one thing.
func damaged(t *testing.T) map[string][]byte {
	file := contents(t, write(t, webp.Options{Quality: 100}, scene(60, 40, 3, true), []time.Duration{40 * ms}))
	change := func(at int, b ...byte) []byte {
		c := bytes.Clone(file)
		copy(c[at:], b)
		return c
	}
	frame := bytes.Index(file, []byte("ANMF"))
	second := frame + 8 + int(binary.LittleEndian.Uint32(file[frame+4:]))
	return map[string][]byte{
		"frame 1, at (20,0)-(80,40), is not within": change(frame+8, 10),
		"the WebP has no whole frame":               file[:frame+20],
		"picture side: 16777216":                    change(24, 0xFF, 0xFF, 0xFF),
		"the chunk VP8X":                            change(12, []byte("VP8X\x02\x00\x00\x00")...),
		"frame 1 cannot be read":                    change(frame+24, []byte("XXXX")...),
		"frame 1 cannot be read: webp":              change(frame+8+6, 9), // smaller than its picture
		"truncated":                                 file[:second+30],
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	for want, file := range damaged(t) {
		path := filepath.Join(t.TempDir(), "a.webp")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		clip, err := webp.Probe(path, media.Limits{MaxSide: 16384})
		if want == "truncated" {
			if err != nil || !clip.Info().Truncated || clip.Info().Frames != 1 {
				t.Errorf("truncated: %v", err)
			}
			continue
		}
		if err == nil {
			src, openErr := clip.Open(t.Context(), media.ReadOptions{})
			if openErr != nil {
				t.Fatal(openErr)
			}
			_, err = src.Next(t.Context())
			_ = src.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// What follows the end that a file states is no part of it, as in browsers. A file that
// does not state its size ends where it ends.
func TestBytesAfterTheEnd(t *testing.T) {
	t.Parallel()
	file := contents(t, write(t, webp.Options{Quality: 100}, scene(60, 40, 3, true), []time.Duration{40 * ms}))
	unsized := bytes.Clone(file)
	copy(unsized[4:], "\x00\x00\x00\x00")
	for name, c := range map[string]struct {
		file      []byte
		truncated bool
	}{
		"a line":              {append(bytes.Clone(file), '\n'), false},
		"text":                {append(bytes.Clone(file), "and some more text"...), false},
		"no size":             {unsized, false},
		"no size, and is cut": {unsized[:len(unsized)-4], true},
	} {
		path := filepath.Join(t.TempDir(), "a.webp")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		if info := probe(t, path).Info(); info.Truncated != c.truncated || !c.truncated && info.Frames != 3 {
			t.Errorf("%s: %d frames, truncated: %v", name, info.Frames, info.Truncated)
		}
	}
}

func FuzzProbe(f *testing.F) {
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x12\x00\x00\x00\x03\x00\x00\x03\x00\x00ANMF\x10\x00\x00\x00" + strings.Repeat("\x00", 16)))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x12\x00\x00\x00\x03\x00\x00\x03\x00\x00ANMF\x24\x00\x00\x00" + strings.Repeat("\x00", 16) +
		"VP8L\x0b\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\x00"))
	path := filepath.Join(f.TempDir(), "fuzz.webp")
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		clip, err := webp.Probe(path, media.Limits{MaxSide: 64, MaxFrames: 20})
		if err != nil {
			return
		}
		src, err := clip.Open(t.Context(), media.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		for n := 0; ; n++ {
			f, err := src.Next(t.Context())
			if err != nil {
				return
			}
			if f.Image.Rect != image.Rect(0, 0, clip.Info().Width, clip.Info().Height) || n >= clip.Info().Frames {
				t.Fatalf("frame %d is %v", n, f.Image.Rect)
			}
		}
	})
}
