//go:build unix

package webp_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/media/webp"
	"github.com/bgremove/bgremove/internal/synth"
)

const benchWidth, benchHeight, benchDelay = 480, 270, 40

// drawn is cut-out shaded discs.
func drawn() (clip []*image.NRGBA) {
	c := synth.Clip{Width: benchWidth, Height: benchHeight, Frames: 100, Backdrop: color.NRGBA{A: 255}, Subject: synth.Discs}
	for i := range c.Frames {
		p := c.Frame(i)
		for k, a := range p.Alpha.Pix {
			p.Foreground.Pix[4*k+3] = a
		}
		media.ClearHidden(p.Foreground.Pix)
		clip = append(clip, p.Foreground)
	}
	return clip
}

// filmed is frames of a video, cut out by a soft ellipse that moves, or whole.
func filmed(b *testing.B, path string, cut bool) (clip []*image.NRGBA) {
	b.Helper()
	raw := command(b, "ffmpeg", "-v", "error", "-nostdin", "-i", path, "-frames:v", "100", "-vf",
		fmt.Sprintf("scale=%d:%d", benchWidth, benchHeight), "-f", "rawvideo", "-pix_fmt", "rgba", "-")
	const size = 4 * benchWidth * benchHeight
	for n := 0; (n+1)*size <= len(raw); n++ {
		img := &image.NRGBA{Pix: raw[n*size : (n+1)*size], Stride: 4 * benchWidth, Rect: image.Rect(0, 0, benchWidth, benchHeight)}
		cx := benchWidth * (0.5 + 0.15*math.Sin(float64(n)/20))
		for i := range benchWidth * benchHeight {
			x, y := i%benchWidth, i/benchWidth
			if d := math.Hypot((float64(x)-cx)/120, (float64(y)-benchHeight/2)/110); cut {
				img.Pix[4*i+3] = uint8(255 * min(max((1-d)*20+0.5, 0), 1))
			}
		}
		media.ClearHidden(img.Pix)
		clip = append(clip, img)
	}
	return clip
}

func command(b *testing.B, name string, args ...string) []byte {
	b.Helper()
	var said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v: %s", name, err, said.Bytes())
	}
	return out
}

// encoder writes the clip with a quality. Quality 0 is lossless.
type encoder struct {
	name string
	run  func(b *testing.B, quality int, out string)
}

// point is a file: its size, its PSNR, and the processor time that it took.
type point struct {
	quality, bytes int
	psnr           float64
	spent          time.Duration
}

// BenchmarkAgainstTools writes clips with this package, with ffmpeg's libwebp_anim and
// with Google's img2webp in turns, by quality. It prints sizes, PSNR (synth.PSNR) and
// processor time with that of children, and how large ours is at their PSNR, between two
// points of our curve. Google's gif2webp gets a GIF, and ours the same frames.
// BGREMOVE_BENCH_CLIPS names further videos.
func BenchmarkAgainstTools(b *testing.B) {
	for _, name := range []string{"ffmpeg", "img2webp", "gif2webp"} {
		if _, err := exec.LookPath(name); err != nil {
			b.Skip("needs " + name)
		}
	}
	b.Run("drawn", func(b *testing.B) { against(b, "drawn", drawn(), others) })
	b.Run("gif", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "drawn.gif")
		against(b, "drawn, a GIF", asGIF(b, path, drawn()), func(*testing.B, string, []*image.NRGBA) []encoder { return []encoder{gif2webp(path)} })
	})
	for _, path := range filepath.SplitList(os.Getenv("BGREMOVE_BENCH_CLIPS")) {
		name := filepath.Base(path)
		b.Run(name+"/cut_out", func(b *testing.B) { against(b, name+" cut out", filmed(b, path, true), others) })
		b.Run(name+"/whole", func(b *testing.B) { against(b, name+" whole", filmed(b, path, false), others) })
	}
}

func against(b *testing.B, name string, clip []*image.NRGBA, others func(b *testing.B, dir string, clip []*image.NRGBA) []encoder) {
	dir := b.TempDir()
	encoders := append([]encoder{{"ours", func(b *testing.B, q int, out string) { writeClip(b, cmp.Or(q, 100), out, clip) }}}, others(b, dir, clip)...)
	curves := make([][]point, len(encoders))
	for b.Loop() {
		for i, e := range encoders {
			curves[i] = nil
			for _, q := range []int{0, 90, 80, 60} {
				out := filepath.Join(dir, "out.webp")
				began := processorTime()
				e.run(b, q, out)
				p := point{quality: q, spent: processorTime() - began}
				info, err := os.Stat(out)
				if err != nil {
					b.Fatal(err)
				}
				p.bytes, p.psnr = int(info.Size()), min(synth.PSNR(shownFrames(b, probe(b, out), len(clip)), clip), 99)
				curves[i] = append(curves[i], p)
			}
		}
	}
	for i, e := range encoders {
		for k, p := range curves[i] {
			ours := curves[0][k]
			fmt.Printf("%-22s %-13s q%-3d %6d KiB %6.2f dB %6.2f s  ours: %.3f of the size at this PSNR, %.2f of the time\n", name, e.name, p.quality,
				p.bytes>>10, p.psnr, p.spent.Seconds(), sizeAt(curves[0], p.psnr)/float64(p.bytes), ours.spent.Seconds()/p.spent.Seconds())
		}
	}
}

// sizeAt is the size at a PSNR between two points of a curve, or beyond its ends.
func sizeAt(curve []point, psnr float64) float64 {
	curve = slices.SortedFunc(slices.Values(curve), func(a, b point) int { return cmp.Compare(a.psnr, b.psnr) })
	i := 0
	for i < len(curve)-2 && curve[i+1].psnr < psnr {
		i++
	}
	p, q := curve[i], curve[i+1]
	if psnr == q.psnr {
		return float64(q.bytes)
	}
	share := (psnr - p.psnr) / (q.psnr - p.psnr)
	return math.Exp(math.Log(float64(p.bytes))*(1-share) + math.Log(float64(q.bytes))*share)
}

// processorTime is what this process and its ended children have used.
func processorTime() time.Duration {
	var sum int64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		_ = syscall.Getrusage(who, &u) // has no way to fail
		sum += u.Utime.Nano() + u.Stime.Nano()
	}
	return time.Duration(sum)
}

// others are the encoders of pictures beside ours.
func others(b *testing.B, dir string, clip []*image.NRGBA) []encoder {
	raw, pictures := filepath.Join(dir, "raw"), writePictures(b, dir, clip)
	var all []byte
	for _, img := range clip {
		all = append(all, img.Pix...)
	}
	if err := os.WriteFile(raw, all, 0o600); err != nil {
		b.Fatal(err)
	}
	return []encoder{
		{"libwebp_anim", func(b *testing.B, q int, out string) {
			quality := []string{"-quality", strconv.Itoa(q)}
			if q == 0 {
				quality = []string{"-lossless", "1"}
			}
			args := []string{"-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", fmt.Sprintf("%dx%d", benchWidth, benchHeight),
				"-r", strconv.Itoa(1000 / benchDelay), "-i", raw, "-pix_fmt", "bgra", "-c:v", "libwebp_anim"}
			command(b, "ffmpeg", append(append(args, quality...), out)...)
		}},
		{"img2webp", func(b *testing.B, q int, out string) {
			args := []string{"-d", strconv.Itoa(benchDelay), "-lossless"}
			if q > 0 {
				args = []string{"-d", strconv.Itoa(benchDelay), "-lossy", "-q", strconv.Itoa(q)}
			}
			command(b, "img2webp", append(append(args, pictures...), "-o", out)...)
		}},
	}
}

func gif2webp(path string) encoder {
	return encoder{"gif2webp", func(b *testing.B, q int, out string) {
		var args []string
		if q > 0 {
			args = []string{"-lossy", "-q", strconv.Itoa(q)}
		}
		command(b, "gif2webp", append(args, path, "-o", out)...)
	}}
}

// asGIF writes a clip as a GIF and returns its frames as they are read.
func asGIF(b *testing.B, path string, clip []*image.NRGBA) []*image.NRGBA {
	var file bytes.Buffer
	var survey gif.Survey
	for _, img := range clip {
		survey.Add(img)
	}
	w, err := gif.NewWriter(&file, benchWidth, benchHeight, gif.WriterOptions{Survey: &survey})
	if err != nil {
		b.Fatal(err)
	}
	for _, img := range clip {
		if err := w.Write(b.Context(), &media.Frame{Image: img, Delay: benchDelay * time.Millisecond}); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), os.WriteFile(path, file.Bytes(), 0o600)); err != nil {
		b.Fatal(err)
	}
	read, err := gif.Probe(path, media.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	return shownFrames(b, read, len(clip))
}

func writePictures(b *testing.B, dir string, clip []*image.NRGBA) (paths []string) {
	for i, img := range clip {
		var file bytes.Buffer
		if err := png.Encode(&file, img); err != nil {
			b.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprintf("%03d.png", i))
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			b.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func writeClip(b *testing.B, quality int, out string, clip []*image.NRGBA) {
	f, err := os.Create(out)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w, err := webp.NewWriter(b.Context(), tools(b), f, benchWidth, benchHeight, webp.Options{Quality: quality})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Abort()
	for i, img := range clip {
		const d = benchDelay * time.Millisecond
		if err := w.Write(b.Context(), &media.Frame{Image: img, PTS: time.Duration(i) * d, Duration: d}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

// shownFrames are the pictures that are shown at the times of n frames: encoders join
// frames that are alike.
func shownFrames(b *testing.B, clip media.Clip, n int) (shown []*image.NRGBA) {
	source, err := clip.Open(b.Context(), media.ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer source.Close()
	for {
		f, err := source.Next(b.Context())
		if errors.Is(err, io.EOF) {
			return shown
		}
		if err != nil {
			b.Fatal(err)
		}
		end := (f.PTS + f.Duration) / (benchDelay * time.Millisecond)
		for len(shown) < min(int(end), n) {
			shown = append(shown, f.Image)
		}
	}
}
