package avif_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/avif"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
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
func write(t *testing.T, o avif.Options, pictures []*image.NRGBA, durations []time.Duration) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.avif")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size := pictures[0].Rect
	sink, err := avif.NewSink(t.Context(), tools(t), f, size.Dx(), size.Dy(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Abort()
	pts := time.Duration(0)
	for i, p := range pictures {
		d := durations[i%len(durations)]
		copied := &image.NRGBA{Pix: bytes.Clone(p.Pix), Stride: p.Stride, Rect: p.Rect}
		if err := sink.Write(t.Context(), &media.Frame{Image: copied, PTS: pts, Duration: d}); err != nil {
			t.Fatal(err)
		}
		pts += d
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// scene is a clip of a soft disc that moves over nothing.
func scene(w, h, frames int) []*image.NRGBA {
	all := make([]*image.NRGBA, frames)
	for i := range all {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				dx, dy := x-w/4-3*i, y-h/2
				cover := (float64(h)/3-math.Hypot(float64(dx), float64(dy)))/4 + 0.5
				img.SetNRGBA(x, y, color.NRGBA{R: 200, G: uint8(60 + x/2), B: uint8(40 + y/2), A: uint8(255 * max(0, min(1, cover)))})
			}
		}
		all[i] = img
	}
	return all
}

var infoFrame = regexp.MustCompile(`\[duration [0-9.]+ \((\d+) timescales\)\] \[(\d+x\d+)\]`)

// info is what libavif says of a file: its lines, and each frame's ticks and size.
func info(t *testing.T, path string) (lines string, ticks []int, size string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "avifdec", "--info", path).CombinedOutput()
	if err != nil {
		t.Fatalf("avifdec: %v: %s", err, out)
	}
	for _, m := range infoFrame.FindAllSubmatch(out, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		ticks, size = append(ticks, n), string(m[2])
	}
	return string(out), ticks, size
}

// libavif reads files of all sizes, with and without alpha, with each frame's time.
func TestSequences(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		w, h      int
		o         avif.Options
		durations []time.Duration
		want      []int // ticks
	}{
		"each its own":  {96, 60, avif.Options{Timescale: 1000}, []time.Duration{10 * ms, 1234 * ms, 33 * ms, 70 * ms}, []int{10, 1234, 33, 70}},
		"of a third":    {97, 61, avif.Options{}, []time.Duration{time.Second / 30}, []int{3000, 3000, 3000, 3000}},
		"rounded":       {96, 60, avif.Options{Timescale: 1000}, []time.Duration{time.Second / 30}, []int{33, 34, 33, 33}},
		"opaque":        {64, 64, avif.Options{Opaque: true, Timescale: 1000}, []time.Duration{40 * ms}, []int{40, 40, 40, 40}},
		"small":         {3, 5, avif.Options{Timescale: 1000}, []time.Duration{40 * ms}, []int{40, 40, 40, 40}},
		"none":          {20, 20, avif.Options{Timescale: 1000}, []time.Duration{0}, []int{1, 1, 1, 1}},
		"one core":      {20, 20, avif.Options{Timescale: 1000, Workers: 1}, []time.Duration{time.Hour}, []int{3600000, 3600000, 3600000, 3600000}},
		"least quality": {20, 20, avif.Options{Timescale: 1000, Quality: 1}, []time.Duration{ms}, []int{1, 1, 1, 1}},
		"best quality":  {20, 20, avif.Options{Timescale: 1000, Quality: 100}, []time.Duration{ms}, []int{1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, tt.o, scene(tt.w, tt.h, 4), tt.durations)
			lines, ticks, size := info(t, path)
			if diff := cmp.Diff(tt.want, ticks); diff != "" || size != fmt.Sprintf("%dx%d", tt.w, tt.h) {
				t.Errorf("%s, durations (-want +got):\n%s", size, diff)
			}
			alpha := "Not premultiplied"
			if tt.o.Opaque {
				alpha = "Absent"
			}
			for _, want := range []string{"Alpha          : " + alpha, "Range          : Limited", "Color Primaries: 1", "Transfer Char. : 13", "Matrix Coeffs. : 1"} {
				if !strings.Contains(lines, want) {
					t.Errorf("it does not say %q: %s", want, lines)
				}
			}
		})
	}
}

// ffprobe sees both streams with the frames' times, and ffmpeg's decoder near colours
// and alpha.
func TestPixels(t *testing.T) {
	t.Parallel()
	const w, h, frames = 96, 60, 6
	pictures := scene(w, h, frames)
	path := write(t, avif.Options{Timescale: 1000}, pictures, []time.Duration{40 * ms, 70 * ms})
	for stream, format := range []string{"rgb24", "gray"} {
		out, err := exec.CommandContext(t.Context(), tools(t).FFprobe, "-v", "error", "-select_streams", strconv.Itoa(stream),
			"-show_entries", "packet=pts,duration", "-of", "csv=p=0", path).Output()
		if want := "0,40 40,70 110,40 150,70 220,40 260,70"; err != nil || strings.Join(strings.Fields(string(out)), " ") != want {
			t.Errorf("stream %d has %s, want %s: %v", stream, out, want, err)
		}
		got, err := exec.CommandContext(t.Context(), tools(t).FFmpeg, "-v", "error", "-i", path, "-map", "0:"+strconv.Itoa(stream),
			"-fps_mode", "passthrough", "-sws_flags", "accurate_rnd+full_chroma_int", "-f", "rawvideo", "-pix_fmt", format, "-").Output()
		channels := map[string]int{"rgb24": 3, "gray": 1}[format]
		if err != nil || len(got) != w*h*frames*channels {
			t.Fatalf("%d bytes: %v", len(got), err)
		}
		sum, n := 0, 0
		for i := range len(got) / channels {
			p := pictures[i/(w*h)].Pix[4*(i%(w*h)):][:4]
			want := p[3:]
			if stream == 0 {
				want = p[:3]
			}
			if stream == 0 && p[3] < 255 {
				continue // nobody sees all of it
			}
			for c := range channels {
				d := int(got[i*channels+c]) - int(want[c])
				sum, n = sum+max(d, -d), n+1
			}
		}
		if mean := float64(sum) / float64(n); mean > 2.5 {
			t.Errorf("stream %d differs by %.2f on the mean", stream, mean)
		}
	}
}

// A file says how often it plays: by how much longer a track is than its edit.
func TestPlays(t *testing.T) {
	t.Parallel()
	pictures := scene(20, 20, 2)
	for plays, want := range map[int]struct{ whole, edit uint64 }{
		0: {math.MaxUint64, 100}, 1: {100, 100}, 3: {300, 100},
	} {
		file, err := os.ReadFile(write(t, avif.Options{Plays: plays, Timescale: 1000}, pictures, []time.Duration{50 * ms}))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // tracks
			head, edit := bytes.Index(file, []byte("tkhd")), bytes.Index(file, []byte("elst"))
			repeats := file[edit+7]
			if a, b := binary.BigEndian.Uint64(file[head+32:]), binary.BigEndian.Uint64(file[edit+12:]); a != want.whole || b != want.edit || (repeats == 1) != (plays != 1) {
				t.Errorf("plays %d: %d ticks of %d, repeats %d", plays, a, b, repeats)
			}
			file = file[edit+8:]
		}
	}
}

// The first frame is a picture by itself, for programs that show no sequences.
func TestStill(t *testing.T) {
	t.Parallel()
	path := write(t, avif.Options{}, scene(64, 48, 3), []time.Duration{40 * ms})
	png := filepath.Join(t.TempDir(), "first.png")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(file[8:], "avif") // libavif prefers the sequence otherwise
	if err := os.WriteFile(path, bytes.Replace(file, []byte("avisavifmsf1"), []byte("avifavifmif1"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "avifdec", path, png).CombinedOutput(); err != nil {
		t.Fatalf("avifdec: %v: %s", err, out)
	}
	lines, ticks, _ := info(t, path)
	if len(ticks) > 1 || !strings.Contains(lines, "Not premultiplied") {
		t.Errorf("it is %s", lines)
	}
}

// What cannot be written is an error, and so is an end without a frame.
// A sequence that is read again has its times and its alpha.
func TestRead(t *testing.T) {
	t.Parallel()
	pictures := scene(96, 64, 5)
	path := write(t, avif.Options{Quality: 90}, pictures, []time.Duration{40 * ms, 120 * ms})
	clip, err := tools(t).Probe(t.Context(), path, media.AVIF, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if i := clip.Info(); !i.HasAlpha || i.Frames != len(pictures) {
		t.Errorf("alpha %t, %d frames", i.HasAlpha, i.Frames)
	}
	for _, every := range []int{1, 2} {
		checkAlpha(t, clip, every, pictures)
	}
}

// checkAlpha reads one frame of every so many, and compares with the pictures written.
func checkAlpha(t *testing.T, clip media.Clip, every int, pictures []*image.NRGBA) {
	t.Helper()
	src, err := clip.Open(t.Context(), media.ReadOptions{Every: every, Pool: new(media.Pool)})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	pts := time.Duration(0)
	for i := 0; i < len(pictures); i += every {
		f, err := src.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.PTS != pts {
			t.Errorf("frame %d at %v, want %v", i, f.PTS, pts)
		}
		pts += f.Duration
		off := 0.0
		for k := 3; k < len(f.Image.Pix); k += 4 {
			off += math.Abs(float64(f.Image.Pix[k]) - float64(pictures[i].Pix[k]))
		}
		if mean := off * 4 / float64(len(f.Image.Pix)); mean > 2 {
			t.Errorf("frame %d: alpha is off by %.1f on the mean", i, mean)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "out.avif"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, tt := range map[string]struct {
		side  int
		plays int
	}{"too wide": {1 << 16, 0}, "empty": {0, 0}, "negative": {8, -1}} {
		if _, err := avif.NewSink(t.Context(), tools(t), f, tt.side, 8, avif.Options{Plays: tt.plays}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	sink, err := avif.NewSink(t.Context(), tools(t), f, 16, 16, avif.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err == nil {
		t.Error("a file without frames")
	}
}
