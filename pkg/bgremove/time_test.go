package bgremove_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// Video keeps each PTS within a millisecond, at a variable rate too.
func TestVideoKeepsTimes(t *testing.T) {
	t.Parallel()
	constant := generate(t, "constant.mp4", movingSquare()...)
	variable := generate(t, "variable.mp4", "-i", constant, "-vf", "select='not(eq(mod(n,7),3))'", "-fps_mode", "passthrough", "-enc_time_base", "-1")
	for _, in := range []string{constant, variable} {
		for _, format := range []bgremove.Format{bgremove.AVIF, bgremove.WebM, bgremove.MP4, bgremove.MOV, bgremove.Stacked} {
			t.Run(filepath.Base(in)+" to "+string(format), func(t *testing.T) {
				t.Parallel()
				out := filepath.Join(t.TempDir(), "out."+string(format))
				o := bgremove.Defaults()
				o.Format, o.Background = format, "#ffffff"
				result := remove(t, in, out, o)
				want, got := timeStamps(t, in), timeStamps(t, out)
				if len(got) != len(want) || result.Frames != len(want) {
					t.Fatalf("%d frames, reported %d, want %d", len(got), result.Frames, len(want))
				}
				// Packets of the source come in decoding order.
				slices.Sort(want)
				for i := range want {
					if d := math.Abs((got[i] - got[0]) - (want[i] - want[0])); d > 0.001 {
						t.Errorf("frame %d is off by %.4f s", i, d)
					}
				}
				if math.Abs(result.Duration-1.001) > 0.0015 {
					t.Errorf("duration = %v", result.Duration)
				}
			})
		}
	}
}

// TestRandomTimes sends clips of random gaps, many of them half or all of the span
// of a shortened timestamp, through the whole program, and wants each frame's time
// within what the format can say.
func TestRandomTimes(t *testing.T) {
	t.Parallel()
	patterns := [][]int{{3, 2, 7, 8, 20, 3, 47}} // of 60ths of a second; one that went wrong
	r := rand.New(rand.NewPCG(27, 1))
	for range 4 {
		pattern := make([]int, 20)
		for i := range pattern {
			if pattern[i] = []int{8, 16, 24, 32}[r.IntN(4)]; r.IntN(2) == 0 {
				pattern[i] = 2 + r.IntN(60)
			}
		}
		patterns = append(patterns, pattern)
	}
	for i, pattern := range patterns {
		frames, at, times := len(pattern)+1, 0, "0"
		for i, gap := range pattern {
			at += gap
			times += fmt.Sprintf("+%d*gte(N,%d)", gap, i+1)
		}
		in := generate(t, "in.mp4", movingSquare("-frames:v", strconv.Itoa(frames))...)
		in = generate(t, "variable.mp4", "-i", in, "-vf", "settb=1/60,setpts='"+times+"'", "-fps_mode", "passthrough", "-enc_time_base", "1:60")
		want := timeStamps(t, in)
		slices.Sort(want)
		if len(want) != frames || math.Abs(want[frames-1]-float64(at)/60) > 1e-5 {
			t.Fatalf("the source is at %v", want)
		}
		for format, resolution := range map[bgremove.Format]float64{bgremove.WebM: .001, bgremove.APNG: .0005, bgremove.GIF: .005} {
			t.Run(fmt.Sprint(i, " to ", format), func(t *testing.T) {
				t.Parallel()
				out := filepath.Join(t.TempDir(), "out."+string(format))
				o := bgremove.Defaults()
				o.Format, o.Method = format, bgremove.Fast
				remove(t, in, out, o)
				got, want := timeStamps(t, out), want
				if format == bgremove.GIF && len(got) == frames-1 {
					want = want[:frames-1] // the last frame lasts 1/60 s, less than a GIF can say
				}
				if len(got) != len(want) {
					t.Fatalf("%d frames, want %d", len(got), len(want))
				}
				for i := range want {
					if d := math.Abs(got[i] - want[i]); d > resolution+1e-6 {
						t.Errorf("frame %d is at %.4f s, want %.4f", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// Video becomes GIF without drift: the start of each frame is that of the
// source, rounded to centiseconds.
func TestVideoToGIFDoesNotDrift(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", movingSquare()...)
	out := filepath.Join(t.TempDir(), "out.gif")
	remove(t, in, out, bgremove.Defaults())
	g := readGIF(t, out)
	want := timeStamps(t, in)
	slices.Sort(want)
	if len(g.Delay) != len(want) {
		t.Fatalf("%d frames, want %d", len(g.Delay), len(want))
	}
	at := 0
	for i, d := range g.Delay {
		if drift := math.Abs(float64(at)/100 - want[i]); drift > 0.00501 {
			t.Errorf("frame %d drifts by %.4f s", i, drift)
		}
		at += d
	}
	if at != 100 {
		t.Errorf("the GIF lasts %d cs, want 100", at)
	}
}

// More than 50 frames a second are too many for a GIF; the time stays.
func TestFastVideoToGIF(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", "-f", "lavfi", "-i", "color=0x20c040:size=64x64:rate=60:duration=1", "-f", "lavfi", "-i",
		"color=red:size=20x20:rate=60:duration=1", "-filter_complex", "[0][1]overlay=x='10+30*t':y=20:shortest=1")
	out := filepath.Join(t.TempDir(), "out.gif")
	result := remove(t, in, out, bgremove.Defaults())
	total := 0
	for i, d := range readGIF(t, out).Delay {
		if d < 2 {
			t.Errorf("delay %d is %d cs", i, d)
		}
		total += d
	}
	if total != 100 || result.DroppedFrames == 0 || result.Frames+result.DroppedFrames != 60 {
		t.Errorf("%d cs, %d frames, %d dropped", total, result.Frames, result.DroppedFrames)
	}
}

// Browsers show a frame for 100 ms that is to last for 10 or less. A slow-motion video has
// many of them, and keeps its time as an animation.
func TestSlowMotionToAnimation(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mkv", "-f", "lavfi", "-i", "color=0x20c040:size=64x64:rate=200:duration=0.3", "-f", "lavfi", "-i",
		"color=red:size=20x20:rate=200:duration=0.3", "-filter_complex", "[0][1]overlay=x='10+90*t':y=20:shortest=1", "-c:v", "ffv1")
	for name, want := range map[string]int{"out.apng": 20, "out.webp": 20, "out.avif": 20, "out.webm": 60} {
		o := bgremove.Options{Method: bgremove.Fast}
		o.Format, _ = bgremove.FormatOf(name)
		r := remove(t, in, filepath.Join(t.TempDir(), name), o)
		info, err := bgremove.New(bgremove.Config{}).Probe(t.Context(), r.Output)
		if err != nil {
			t.Fatal(err)
		}
		if r.Frames != want || r.DroppedFrames != 60-want || info.Frames > want || info.Duration != 0.3 {
			t.Errorf("%s: %d frames, %d dropped; it says %d in %g s", name, r.Frames, r.DroppedFrames, info.Frames, info.Duration)
		}
	}
}
