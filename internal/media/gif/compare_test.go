package gif_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/synth"
)

// BenchmarkAgainstTools writes clips with this package and with ffmpeg's
// palette filters. It reports time, size and PSNR of each, as decoded by ffmpeg
// over grey, on the clip's opaque pixels. BGREMOVE_BENCH_CLIPS may name further
// videos, separated as in PATH, which are measured unchanged and cut out.
// tools/bench compares with gifski.
func BenchmarkAgainstTools(b *testing.B) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		b.Skip("needs ffmpeg")
	}
	clips := []clip{syntheticClip(480, 270, 150)}
	for _, path := range filepath.SplitList(os.Getenv("BGREMOVE_BENCH_CLIPS")) {
		c := loadClip(b, path, 480, 270, 100)
		clips = append(clips, c.cutOut(), c)
	}
	for _, c := range clips {
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) { compareTools(b, c) })
	}
}

func compareTools(b *testing.B, c clip) {
	dir := b.TempDir()
	size := fmt.Sprintf("%dx%d", c.frames[0].Rect.Dx(), c.frames[0].Rect.Dy())
	raw := filepath.Join(dir, "in.rgba")
	writeRaw(b, raw, c)
	input := []string{"-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", size, "-r", "25", "-i", raw}
	out := func(name string) string { return filepath.Join(dir, name+".gif") }
	rows := []benchRow{{name: "ffmpeg", run: func() {
		run(b, "ffmpeg", append(input, "-filter_complex", "split[a][b];[a]palettegen[p];[b][p]paletteuse", out("ffmpeg"))...)
	}}}
	for _, q := range []int{100, 90, 80, 60} {
		name := fmt.Sprint("q", q)
		rows = append(rows, benchRow{name: name, run: func() {
			if err := os.WriteFile(out(name), encodeClip(b, c, gif.WriterOptions{Quality: q}), 0o600); err != nil {
				b.Fatal(err)
			}
		}})
	}
	for b.Loop() {
		for i := range rows {
			start := time.Now()
			rows[i].run()
			rows[i].spent = append(rows[i].spent, time.Since(start))
		}
	}
	for _, r := range rows {
		info, err := os.Stat(out(r.name))
		if err != nil {
			b.Fatal(err)
		}
		fmt.Printf("%-32s %-7s %7.3f s %6.2fx %7d KiB %6.2f dB\n", c.name, r.name, r.median().Seconds(),
			rows[0].median().Seconds()/r.median().Seconds(), info.Size()>>10, psnr(b, c, out(r.name)))
	}
	b.ReportMetric(float64(len(c.frames))/rows[len(rows)-3].median().Seconds(), "frames/s")
}

type benchRow struct {
	name  string
	run   func()
	spent []time.Duration
}

func (r benchRow) median() time.Duration {
	s := append([]time.Duration(nil), r.spent...)
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
	return s[len(s)/2]
}

// encodeClip takes a survey and writes the clip, 4 cs a frame.
func encodeClip(tb testing.TB, c clip, o gif.WriterOptions) []byte {
	tb.Helper()
	o.Survey = new(gif.Survey)
	for _, img := range c.frames {
		o.Survey.Add(img)
	}
	var buf bytes.Buffer
	w, err := gif.NewWriter(&buf, c.frames[0].Rect.Dx(), c.frames[0].Rect.Dy(), o)
	if err != nil {
		tb.Fatal(err)
	}
	for _, img := range c.frames {
		if err := w.Write(context.Background(), &media.Frame{Image: img, Delay: 40 * time.Millisecond}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

func writeRaw(tb testing.TB, path string, c clip) {
	tb.Helper()
	var raw []byte
	for _, img := range c.frames {
		raw = append(raw, img.Pix...)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// psnr compares the file, as decoded by ffmpeg, with the clip over grey on the
// clip's opaque pixels.
func psnr(tb testing.TB, c clip, path string) float64 {
	tb.Helper()
	got := decodeFFmpeg(tb, path, c.frames[0].Rect.Size())
	if len(got) != len(c.frames) {
		return math.NaN() // some tools drop frames that repeat the previous one
	}
	return synth.PSNR(got, c.frames)
}

func decodeFFmpeg(tb testing.TB, path string, size image.Point) []*image.NRGBA {
	tb.Helper()
	raw := run(tb, "ffmpeg", "-v", "error", "-nostdin", "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "rgba", "-f", "rawvideo", "-")
	return split(raw, size.X, size.Y)
}
