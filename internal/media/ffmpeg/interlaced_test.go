package ffmpeg_test

import (
	"image"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// Interlaced pictures hold two moments, in every second row each. They are read as pictures of
// one moment, at the same times.
func TestInterlaced(t *testing.T) {
	t.Parallel()
	moving := "color=gray:size=160x96:rate=50:duration=0.8[b];color=white:size=24x96:rate=50:duration=0.8[w];[b][w]overlay=x=n*3:y=0,format=yuv420p"
	encode := []string{"-c:v", "libx264", "-crf", "8"}
	plain := generate(t, "plain.mp4", append([]string{"-filter_complex", moving + ",fps=25"}, encode...)...)
	for name, args := range map[string][]string{
		"mp4": append([]string{"-filter_complex", moving + ",tinterlace=mode=interleave_top,setfield=tff", "-flags", "+ilme+ildct", "-x264opts", "tff=1"}, encode...),
		"mpg": {"-filter_complex", moving + ",tinterlace=mode=interleave_bottom,setfield=bff", "-flags", "+ilme+ildct", "-c:v", "mpeg2video", "-q:v", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := frames(t, probe(t, plain), media.ReadOptions{})
			clip := probe(t, generate(t, "clip."+map[string]string{"mp4": "mp4", "mpg": "mkv"}[name], args...))
			got := frames(t, clip, media.ReadOptions{})
			if len(got) != len(want) {
				t.Fatalf("%d frames, want %d", len(got), len(want))
			}
			for i, f := range got {
				if d := f.PTS - want[i].PTS; d < -time.Millisecond || d > time.Millisecond {
					t.Errorf("frame %d is at %v, want %v", i, f.PTS, want[i].PTS)
				}
				if c := combing(f.Image); c > 2 {
					t.Errorf("frame %d: rows differ by %.1f from those between", i, c)
				}
			}
		})
	}
}

// combing is how much rows of a picture differ, in the mean, from the mean of those beside them.
func combing(img *image.NRGBA) float64 {
	sum, n := 0, 0
	for y := 1; y < img.Rect.Dy()-1; y++ {
		for x := range img.Rect.Dx() {
			at := func(y int) int { return int(img.Pix[y*img.Stride+4*x]) }
			d := 2*at(y) - at(y-1) - at(y+1)
			sum += max(d, -d)
			n += 2
		}
	}
	return float64(sum) / float64(n)
}
