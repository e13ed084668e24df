package apng_test

import (
	"fmt"
	"image"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media/apng"
)

// clipVariable names a video for BenchmarkAgainstFFmpeg. Its first 100 frames
// are scaled to 480×270 and cut out by a soft moving ellipse.
const clipVariable = "BGREMOVE_BENCH_CLIPS"

const benchWidth, benchHeight = 480, 270

// cutout reads the clip named by clipVariable.
func cutout(b *testing.B, name string) []*image.NRGBA {
	b.Helper()
	raw, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-i", name, "-frames:v", "100", "-vf",
		fmt.Sprintf("scale=%d:%d", benchWidth, benchHeight), "-f", "rawvideo", "-pix_fmt", "rgba", "-").Output()
	if err != nil {
		b.Fatal(err)
	}
	const size = 4 * benchWidth * benchHeight
	var clip []*image.NRGBA
	for n := 0; (n+1)*size <= len(raw); n++ {
		img := &image.NRGBA{Pix: raw[n*size : (n+1)*size], Stride: 4 * benchWidth, Rect: image.Rect(0, 0, benchWidth, benchHeight)}
		cx := benchWidth * (0.5 + 0.15*math.Sin(float64(n)/20))
		for y := range benchHeight {
			for x := range benchWidth {
				d := math.Hypot((float64(x)-cx)/120, (float64(y)-benchHeight/2)/110)
				img.Pix[img.PixOffset(x, y)+3] = uint8(255 * min(max((1-d)*20+0.5, 0), 1))
			}
		}
		clip = append(clip, visible(img))
	}
	return clip
}

// BenchmarkAgainstFFmpeg writes the same frames with this package and with
// ffmpeg's encoder in turn. It reports sizes in KiB, times, and both ratios
// (ours to ffmpeg's).
func BenchmarkAgainstFFmpeg(b *testing.B) {
	clips := map[string]func(b *testing.B) []*image.NRGBA{
		"drawn": func(*testing.B) []*image.NRGBA { return scene(benchWidth, benchHeight, 150) },
	}
	for _, name := range filepath.SplitList(os.Getenv(clipVariable)) {
		clips[filepath.Base(name)] = func(b *testing.B) []*image.NRGBA { return cutout(b, name) }
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		b.Skip("no ffmpeg")
	}
	for name, load := range clips {
		b.Run(name, func(b *testing.B) { against(b, load(b)) })
	}
}

func against(b *testing.B, clip []*image.NRGBA) {
	dir := b.TempDir()
	raw, theirs := filepath.Join(dir, "raw"), filepath.Join(dir, "theirs.png")
	f, err := os.Create(raw)
	if err != nil {
		b.Fatal(err)
	}
	for _, img := range clip {
		if _, err := f.Write(img.Pix); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	var ours []byte
	var us, them time.Duration
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		list := frames(clip, 40*time.Millisecond)
		start := time.Now()
		out, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgba",
			"-s", fmt.Sprintf("%dx%d", benchWidth, benchHeight), "-r", "25", "-i", raw,
			"-c:v", "apng", "-pred", "mixed", "-f", "apng", theirs).CombinedOutput()
		if err != nil {
			b.Fatalf("ffmpeg: %v: %s", err, out)
		}
		them += time.Since(start)
		b.StartTimer()
		start = time.Now()
		if ours, err = encode(list, apng.Options{}); err != nil {
			b.Fatal(err)
		}
		us += time.Since(start)
	}
	info, err := os.Stat(theirs)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(clip)*b.N)/us.Seconds(), "frames/s")
	b.ReportMetric(float64(len(ours))/1024, "KiB")
	b.ReportMetric(float64(info.Size())/1024, "ffmpeg-KiB")
	b.ReportMetric(float64(len(ours))/float64(info.Size()), "size-ratio")
	b.ReportMetric(us.Seconds()/them.Seconds(), "time-ratio")
}
