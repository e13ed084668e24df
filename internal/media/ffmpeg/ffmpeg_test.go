package ffmpeg_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/system/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Init()
	os.Exit(m.Run())
}

// tools run in the sandbox if there is one: their results must not depend on
// it.
func tools(t testing.TB) *ffmpeg.Tools {
	t.Helper()
	return limited(t, sandbox.Limits{})
}

func limited(t testing.TB, l sandbox.Limits) *ffmpeg.Tools {
	t.Helper()
	return confined(t, "", l)
}

func confined(t testing.TB, ffprobePath string, l sandbox.Limits) *ffmpeg.Tools {
	t.Helper()
	found, err := ffmpeg.Locate("", ffprobePath, &ffmpeg.Confinement{Work: l})
	if err == nil {
		err = found.Check(t.Context())
	}
	if err != nil {
		t.Fatalf("ffmpeg is needed by these tests: %v", err)
	}
	return found
}

// generate makes a fixture with the ffmpeg program.
func generate(t testing.TB, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append(append([]string{"-nostdin", "-v", "error"}, args...), path)
	if out, err := exec.CommandContext(t.Context(), tools(t).FFmpeg, args...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg %v: %v\n%s", args, err, out)
	}
	return path
}

func probe(t testing.TB, path string) *ffmpeg.Clip {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, media.SniffLen)
	n, _ := io.ReadFull(f, head)
	clip, err := tools(t).Probe(t.Context(), path, media.Sniff(head[:n]), media.Limits{})
	if err != nil {
		t.Fatalf("probe %s: %v", path, err)
	}
	return clip
}

func frames(t testing.TB, c media.Clip, o media.ReadOptions) []*media.Frame {
	t.Helper()
	src, err := c.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var all []*media.Frame
	for {
		f, err := src.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
}

func near(a, b, tolerance time.Duration) bool { return (a - b).Abs() <= tolerance }

const testsrc = "testsrc2=size=96x64:rate=30000/1001:duration=1"

// TestSeekCost checks that seeking is cheaper in a clip with key frames.
func TestSeekCost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		name string
		args []string
		want int
	}{
		"one key frame":  {"a.mp4", nil, 15},
		"one in ten":     {"a.mp4", []string{"-g", "10"}, 5},
		"nothing but":    {"a.mov", []string{"-c:v", "prores_ks"}, 1},
		"a single frame": {"a.mp4", []string{"-frames:v", "1"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clip := probe(t, generate(t, tt.name, append([]string{"-f", "lavfi", "-i", testsrc}, tt.args...)...))
			if got := clip.Info().SeekCost; got != tt.want {
				t.Errorf("%d frames are decoded to reach one, want %d", got, tt.want)
			}
		})
	}
}

func TestProbeAndDecode(t *testing.T) {
	t.Parallel()
	vfr := "select='not(eq(mod(n,7),3))',setpts=PTS"
	tests := map[string]struct {
		name          string
		args          []string
		width, height int
		frames        int
		duration      time.Duration
		alpha, audio  bool
	}{
		"mp4":                         {"a.mp4", []string{"-f", "lavfi", "-i", testsrc}, 96, 64, 30, 1001 * time.Millisecond, false, false},
		"mp4 variable":                {"a.mp4", []string{"-f", "lavfi", "-i", testsrc, "-vf", vfr, "-fps_mode", "passthrough"}, 96, 64, 26, 1001 * time.Millisecond, false, false},
		"mov prores":                  {"a.mov", []string{"-f", "lavfi", "-i", testsrc, "-vf", "format=yuva444p10", "-c:v", "prores_ks", "-profile:v", "4444"}, 96, 64, 30, 1001 * time.Millisecond, true, false},
		"mov qtrle":                   {"a.mov", []string{"-f", "lavfi", "-i", testsrc, "-vf", "format=argb", "-c:v", "qtrle"}, 96, 64, 30, 1001 * time.Millisecond, true, false},
		"mov png":                     {"a.mov", []string{"-f", "lavfi", "-i", testsrc, "-vf", "format=rgba", "-c:v", "png"}, 96, 64, 30, 1001 * time.Millisecond, true, false},
		"webm vp9":                    {"a.webm", []string{"-f", "lavfi", "-i", testsrc, "-vf", "format=yuva420p", "-c:v", "libvpx-vp9", "-cpu-used", "8"}, 96, 64, 30, 1001 * time.Millisecond, true, false},
		"webm vp8":                    {"a.webm", []string{"-f", "lavfi", "-i", testsrc, "-vf", "format=yuva420p", "-c:v", "libvpx", "-auto-alt-ref", "0"}, 96, 64, 30, 1001 * time.Millisecond, true, false},
		"wide pixels":                 {"a.mp4", []string{"-f", "lavfi", "-i", testsrc, "-vf", "setsar=2"}, 192, 64, 30, 1001 * time.Millisecond, false, false},
		"sound":                       {"a.mp4", []string{"-f", "lavfi", "-i", testsrc, "-f", "lavfi", "-i", "sine=duration=1"}, 96, 64, 30, 1001 * time.Millisecond, false, true},
		"single frame":                {"a.mp4", []string{"-f", "lavfi", "-i", testsrc, "-frames:v", "1"}, 96, 64, 1, 33 * time.Millisecond, false, false},
		"fragmented":                  {"a.mp4", []string{"-f", "lavfi", "-i", testsrc, "-movflags", "frag_keyframe+empty_moov"}, 96, 64, 30, 1001 * time.Millisecond, false, false},
		"matroska":                    {"a.mkv", []string{"-f", "lavfi", "-i", testsrc, "-f", "lavfi", "-i", "sine=duration=1"}, 96, 64, 30, 1001 * time.Millisecond, false, true},
		"m4v":                         {"a.m4v", []string{"-f", "lavfi", "-i", testsrc}, 96, 64, 30, 1001 * time.Millisecond, false, false},
		"avi":                         {"a.avi", []string{"-f", "lavfi", "-i", testsrc, "-c:v", "mjpeg"}, 96, 64, 30, 1001 * time.Millisecond, false, false},
		"avi, times of decoding only": {"a.avi", []string{"-f", "lavfi", "-i", testsrc, "-c:v", "libx264"}, 96, 64, 30, 1001 * time.Millisecond, false, false},
		"avi rgba":                    {"a.avi", []string{"-f", "lavfi", "-i", testsrc, "-c:v", "png", "-pix_fmt", "rgba"}, 96, 64, 30, 1001 * time.Millisecond, true, false},
		"late by 500ms":               {"a.mp4", []string{"-f", "lavfi", "-i", testsrc, "-f", "lavfi", "-i", "sine=duration=1", "-vf", "setpts=PTS+0.5/TB", "-fps_mode", "passthrough"}, 96, 64, 30, 1001 * time.Millisecond, false, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clip := probe(t, generate(t, tt.name, tt.args...))
			info := clip.Info()
			if info.Width != tt.width || info.Height != tt.height || info.Frames != tt.frames {
				t.Errorf("info = %d×%d, %d frames; want %d×%d, %d", info.Width, info.Height, info.Frames, tt.width, tt.height, tt.frames)
			}
			if !near(info.Duration, tt.duration, time.Millisecond) {
				t.Errorf("duration = %v, want %v", info.Duration, tt.duration)
			}
			if info.HasAlpha != tt.alpha || info.HasAudio != tt.audio {
				t.Errorf("alpha, audio = %v, %v, want %v, %v", info.HasAlpha, info.HasAudio, tt.alpha, tt.audio)
			}
			all := frames(t, clip, media.ReadOptions{})
			if len(all) != tt.frames {
				t.Fatalf("decoded %d frames, want %d", len(all), tt.frames)
			}
			last := all[len(all)-1]
			if all[0].PTS != 0 || !near(last.PTS+last.Duration, tt.duration, time.Millisecond) {
				t.Errorf("frames run from %v to %v, want 0 to %v", all[0].PTS, last.PTS+last.Duration, tt.duration)
			}
			if b := last.Image.Rect; b.Dx() != tt.width || b.Dy() != tt.height {
				t.Errorf("picture of %v, want %d×%d", b, tt.width, tt.height)
			}
		})
	}
}

// A phone stores the picture rotated, with a matrix that turns it upright.
func TestRotationIsApplied(t *testing.T) {
	t.Parallel()
	turned := generate(t, "turned.mp4", "-f", "lavfi", "-i", "color=red:size=96x64:duration=0.2")
	data, err := os.ReadFile(turned)
	if err != nil {
		t.Fatal(err)
	}
	// The matrix of the track header, ISO/IEC 14496-12 section 6.2.2, follows
	// that of the movie's.
	const identity = "\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00"
	const quarter = "\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00"
	at := bytes.LastIndex(data, []byte(identity))
	copy(data[at:], quarter)
	if err := os.WriteFile(turned, data, 0o600); err != nil {
		t.Fatal(err)
	}
	clip := probe(t, turned)
	if info := clip.Info(); info.Width != 64 || info.Height != 96 {
		t.Errorf("upright size = %d×%d, want 64×96", info.Width, info.Height)
	}
	if img := frames(t, clip, media.ReadOptions{})[0].Image; img.Rect != image.Rect(0, 0, 64, 96) || img.NRGBAAt(32, 94).R < 250 {
		t.Errorf("picture of %v, whose lower end is %v, want it red", img.Rect, img.NRGBAAt(32, 94))
	}
}

// Transparency must survive decoding: VP8 and VP9 lose it with ffmpeg's own
// decoders.
func TestSourceAlphaIsDecoded(t *testing.T) {
	t.Parallel()
	half := "color=red@0.5:size=64x64:duration=0.2,format=rgba"
	tests := map[string][]string{
		"vp9.webm":   {"-c:v", "libvpx-vp9", "-pix_fmt", "yuva420p"},
		"vp8.webm":   {"-c:v", "libvpx", "-pix_fmt", "yuva420p", "-auto-alt-ref", "0"},
		"qtrle.mov":  {"-c:v", "qtrle"},
		"png.mov":    {"-c:v", "png"},
		"prores.mov": {"-c:v", "prores_ks", "-pix_fmt", "yuva444p10"},
	}
	for name, codec := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clip := probe(t, generate(t, name, append([]string{"-f", "lavfi", "-i", half}, codec...)...))
			for _, f := range frames(t, clip, media.ReadOptions{}) {
				if a := f.Image.NRGBAAt(32, 32).A; a < 125 || a > 131 {
					t.Fatalf("alpha = %d, want 127 or 128", a)
				}
			}
		})
	}
}

func TestEveryAndFrom(t *testing.T) {
	t.Parallel()
	clip := probe(t, generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=2"))
	if got := len(frames(t, clip, media.ReadOptions{Every: 7})); got != 8 {
		t.Errorf("every seventh of 50 frames = %d frames, want 8", got)
	}
	part := frames(t, clip, media.ReadOptions{From: time.Second, To: 1500 * time.Millisecond})
	if len(part) == 0 || !near(part[0].PTS, time.Second, time.Millisecond) {
		t.Fatalf("reading from 1s starts with %d frames at %v", len(part), part[0].PTS)
	}
	whole := frames(t, clip, media.ReadOptions{})
	if string(part[0].Image.Pix) != string(whole[25].Image.Pix) {
		t.Error("the frame at 1s differs from frame 25 of the whole clip")
	}
}

func picture(w, h int, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = c.R, c.G, c.B, c.A
	}
	return img
}

// Every time stamp and the end of the last frame survive encoding, with
// irregular intervals and in both formats.
func TestSinkKeepsTime(t *testing.T) {
	t.Parallel()
	durations := []time.Duration{20, 5, 120, 33, 700, 10, 40, 40, 40, 250}
	for _, format := range []ffmpeg.Format{ffmpeg.WebM, ffmpeg.MP4} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out."+string(format))
			var end time.Duration
			for _, d := range durations {
				end += d * time.Millisecond
			}
			sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{
				Format: format, Width: 64, Height: 48, Opaque: format == ffmpeg.MP4, End: end,
			})
			if err != nil {
				t.Fatal(err)
			}
			at := time.Duration(0)
			for i, d := range durations {
				img := picture(64, 48, color.NRGBA{uint8(25 * i), 90, 40, 255})
				if err := sink.Write(t.Context(), &media.Frame{Image: img, PTS: at, Duration: d * time.Millisecond}); err != nil {
					t.Fatal(err)
				}
				at += d * time.Millisecond
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			got := frames(t, probe(t, path), media.ReadOptions{})
			if len(got) != len(durations) {
				t.Fatalf("%d frames came back, want %d", len(got), len(durations))
			}
			at = 0
			for i, f := range got {
				if !near(f.PTS, at, time.Millisecond) {
					t.Errorf("frame %d at %v, want %v", i, f.PTS, at)
				}
				at += durations[i] * time.Millisecond
			}
			if info := probe(t, path).Info(); !near(info.Duration, end, time.Millisecond) {
				t.Errorf("duration = %v, want %v", info.Duration, end)
			}
			if out := containerDuration(t, path); math.Abs(out-end.Seconds()) > 0.0015 {
				t.Errorf("the container says %.3f s, want %.3f", out, end.Seconds())
			}
		})
	}
}

// MP4 cannot show two frames at the same time: the second follows within a
// tick.
func TestSinkKeepsFramesOfOneTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out.mp4")
	sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.MP4, Width: 16, Height: 16, Opaque: true, End: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Duration{0, 100, 100, 100, 150} {
		if err := sink.Write(t.Context(), &media.Frame{Image: picture(16, 16, color.NRGBA{A: 255}), PTS: at * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	got := frames(t, probe(t, path), media.ReadOptions{})
	if len(got) != 5 || !near(got[3].PTS, 100*time.Millisecond, time.Millisecond) || !near(got[4].PTS, 150*time.Millisecond, time.Millisecond) {
		t.Errorf("%d frames came back", len(got))
	}
}

// reencode writes a clip with its sound as a WebM. The error is the encoder's
// final one.
func reencode(t *testing.T, path string, clip *ffmpeg.Clip) error {
	t.Helper()
	info := clip.Info()
	sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: info.Width, Height: info.Height, End: info.Duration, Audio: clip})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames(t, clip, media.ReadOptions{}) {
		if err := sink.Write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	return sink.Close()
}

// Opus has no mapping for some layouts of channels.
func TestSoundLayouts(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"mono", "2.1", "5.1(side)"} {
		in := generate(t, "in.mov", "-f", "lavfi", "-i", "color=red:size=16x16:rate=10:duration=0.3",
			"-f", "lavfi", "-i", "anullsrc=channel_layout="+layout+":sample_rate=48000:duration=0.3", "-c:a", "pcm_s16le")
		path := filepath.Join(t.TempDir(), "out.webm")
		clip := probe(t, in)
		if err := reencode(t, path, clip); err != nil {
			t.Errorf("%s: %v", layout, err)
		} else if !probe(t, path).Info().HasAudio {
			t.Errorf("%s: the sound is lost", layout)
		}
	}
}

func containerDuration(t *testing.T, path string) (seconds float64) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), tools(t).FFprobe, "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(out), &seconds); err != nil {
		t.Fatal(err)
	}
	return seconds
}

// Colours are unchanged after a round trip and tagged as BT.709; alpha is
// unchanged too.
func TestSinkKeepsColourAndAlpha(t *testing.T) {
	t.Parallel()
	for _, format := range []ffmpeg.Format{ffmpeg.WebM, ffmpeg.MP4} {
		t.Run(string(format), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out."+string(format))
			want := color.NRGBA{200, 60, 40, 128}
			if format == ffmpeg.MP4 {
				want.A = 255
			}
			o := ffmpeg.SinkOptions{Format: format, Width: 64, Height: 64, Opaque: format == ffmpeg.MP4, End: time.Second, Quality: 100}
			sink, err := tools(t).NewSink(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := sink.Write(t.Context(), &media.Frame{Image: picture(64, 64, want), Duration: time.Second}); err != nil {
				t.Fatal(err)
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			got := frames(t, probe(t, path), media.ReadOptions{})[0].Image.NRGBAAt(32, 32)
			for i, d := range []int{int(got.R) - int(want.R), int(got.G) - int(want.G), int(got.B) - int(want.B), int(got.A) - int(want.A)} {
				if d < -4 || d > 4 {
					t.Errorf("channel %d of %v is off by %d from %v", i, got, d, want)
				}
			}
		})
	}
}

// Sound that starts before, with or after the picture keeps its offset.
func TestAudioStaysInPlace(t *testing.T) {
	t.Parallel()
	late := []string{"-vf", "setpts=PTS+0.5/TB", "-fps_mode", "passthrough"}
	const half = 500 * time.Millisecond
	webm := []string{"-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-g", "500", "-c:a", "libopus"}
	const ms = time.Millisecond
	tests := map[string]struct {
		in       string
		late     time.Duration // start of the picture after that of the sound
		behind   time.Duration // start of the sound after that of the picture
		out      ffmpeg.Format
		from, to time.Duration
	}{
		"together to mp4":         {"a.mp4", 0, 0, ffmpeg.MP4, 0, 0},
		"together to webm":        {"a.mp4", 0, 0, ffmpeg.WebM, 0, 0},
		"picture late to mp4":     {"a.mp4", half, 0, ffmpeg.MP4, 0, 0},
		"picture late to webm":    {"a.mp4", half, 0, ffmpeg.WebM, 0, 0},
		"late and cut to mp4":     {"a.mp4", half, 0, ffmpeg.MP4, 0, 1200 * ms},
		"late and cut to webm":    {"a.mp4", half, 0, ffmpeg.WebM, 0, 1200 * ms},
		"sound late, cut to mp4":  {"a.mp4", 0, half, ffmpeg.MP4, 0, 1600 * ms},
		"sound late, cut to webm": {"a.mp4", 0, half, ffmpeg.WebM, 0, 1600 * ms},
		"from the middle to mp4":  {"a.mp4", 0, 0, ffmpeg.MP4, 480 * ms, 0},
		"from the middle to webm": {"a.mp4", 0, 0, ffmpeg.WebM, 480 * ms, 0},
		"a part to mp4":           {"a.mp4", 0, 0, ffmpeg.MP4, 480 * ms, 1480 * ms},
		"a part to webm":          {"a.mp4", 0, 0, ffmpeg.WebM, 480 * ms, 1480 * ms},
		"late, a part to webm":    {"a.mp4", half, 0, ffmpeg.WebM, 200 * ms, 1200 * ms},
		"webm copied":             {"a.webm", 0, 0, ffmpeg.WebM, 0, 0},
		"late webm copied, cut":   {"a.webm", half, 0, ffmpeg.WebM, 0, 1200 * ms},
		"a part of webm copied":   {"a.webm", 0, 0, ffmpeg.WebM, 480 * ms, 1480 * ms},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var args []string
			if tt.late > 0 {
				args = late
			}
			if tt.in == "a.webm" {
				args = append(args, webm...)
			}
			// The tone starts 0.8 s into the sound.
			clip := probe(t, generate(t, tt.in, append([]string{"-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=2",
				"-itsoffset", fmt.Sprint(tt.behind.Seconds()), "-f", "lavfi", "-i", "aevalsrc='if(gte(t,0.8),sin(2000*t),0)':s=48000:d=2"}, args...)...))
			path := filepath.Join(t.TempDir(), "out."+string(tt.out))
			end := 2 * time.Second
			if tt.to > 0 {
				end = tt.to
			}
			sink, err := tools(t).NewSink(t.Context(), path, ffmpeg.SinkOptions{
				Format: tt.out, Width: 64, Height: 64, Opaque: tt.out == ffmpeg.MP4, End: end - tt.from, Audio: clip, AudioFrom: tt.from, AudioFor: max(0, tt.to-tt.from),
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range frames(t, clip, media.ReadOptions{From: tt.from, To: tt.to}) {
				if f.PTS >= end {
					break
				}
				f.PTS -= tt.from
				if err := sink.Write(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			before := toneAgainstPicture(t, filepath.Dir(path), clip.Path())
			after := toneAgainstPicture(t, filepath.Dir(path), path)
			if d := after - before + tt.from.Seconds(); math.Abs(d) > 0.010 {
				t.Errorf("the tone moved by %.1f ms against the picture (%.3f s before, %.3f s after)", d*1000, before, after)
			}
			if first, _ := streamSpan(t, path, "a:0"); tt.from == 0 && tt.behind == 0 && first > 0.005 {
				t.Errorf("the sound's beginning is lost: it starts at %.3f s", first)
			}
			checkSoundSpan(t, path, tt.from > 0, tt.from > 0 || tt.late > 0, tt.to > 0 && tt.late == 0, (end - tt.from).Seconds())
		})
	}
}

// Cutting the sound does not move the last frame. Its time may have been
// rounded up to beyond the cut.
func TestCutSoundKeepsFrames(t *testing.T) {
	t.Parallel()
	const us = time.Microsecond
	times := []time.Duration{0, 333_333 * us, 666_667 * us, 966_667 * us}
	end := 966_900 * us
	clip := probe(t, generate(t, "a.mp4", "-f", "lavfi", "-i", testsrc, "-f", "lavfi", "-i", "sine=duration=2", "-shortest"))
	for name, o := range map[string]ffmpeg.SinkOptions{
		"alpha":  {Format: ffmpeg.WebM},
		"opaque": {Format: ffmpeg.WebM, Opaque: true},
		"mp4":    {Format: ffmpeg.MP4, Opaque: true, Timescale: 600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Width, o.Height, o.End, o.Audio, o.AudioFor = 64, 64, end, clip, end
			path := filepath.Join(t.TempDir(), "out."+string(o.Format))
			sink, err := tools(t).NewSink(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			defer sink.Abort()
			for i, at := range times {
				next := append(times, end)[i+1]
				if err := sink.Write(t.Context(), &media.Frame{Image: disc(64, i), PTS: at, Duration: next - at}); err != nil {
					t.Fatal(err)
				}
			}
			if err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			if n := probe(t, path).Info().Frames; n != len(times) {
				t.Errorf("%d frames, want %d", n, len(times))
			}
		})
	}
}

// checkSoundSpan checks that sound begins with the first frame, or not before
// it if cut. It must reach the end if the source's sound does, and not beyond
// the picture.
func checkSoundSpan(t *testing.T, path string, cut, fromStart, toEnd bool, end float64) {
	t.Helper()
	picture, _ := streamSpan(t, path, "v:0")
	first, last := streamSpan(t, path, "a:0")
	first, last = first-picture, last-picture
	if cut && first < -0.06 {
		t.Errorf("sound starts %.3f s before the picture", -first)
	}
	if fromStart && first > 0.03 {
		t.Errorf("sound starts %.3f s after the picture", first)
	}
	if last > end+0.06 || toEnd && last < end-0.06 {
		t.Errorf("sound ends at %.3f s, the picture at %.3f", last, end)
	}
}

// streamSpan is the start of a stream's first packet and the end of its last
// one.
func streamSpan(t *testing.T, path, stream string) (first, last float64) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), tools(t).FFprobe, "-v", "error", "-select_streams", stream,
		"-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	first = math.Inf(1)
	for line := range strings.Lines(string(out)) {
		var pts, duration float64
		if n, _ := fmt.Sscanf(line, "%f,%f", &pts, &duration); n == 2 {
			first, last = min(first, pts), max(last, pts+duration)
		}
	}
	return first, last
}

// toneAgainstPicture is the start of the tone, in seconds after the first
// frame.
func toneAgainstPicture(t *testing.T, dir, path string) float64 {
	t.Helper()
	first := func(stream, entry string) (s float64) {
		out, err := exec.CommandContext(t.Context(), tools(t).FFprobe, "-v", "error", "-select_streams", stream,
			"-show_entries", "frame="+entry, "-of", "csv=p=0", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(strings.Trim(strings.SplitN(string(out), "\n", 2)[0], ", \r"), &s); err != nil {
			t.Fatalf("%s of %s in %q: %v", entry, stream, out, err)
		}
		return s
	}
	raw := filepath.Join(dir, filepath.Base(path)+".f32")
	if out, err := exec.CommandContext(t.Context(), tools(t).FFmpeg, "-v", "error", "-y", "-i", path, "-map", "0:a", "-ac", "1",
		"-ar", "48000", "-f", "s16le", raw).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pcm, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(pcm); i += 2 {
		if v := int16(uint16(pcm[i]) | uint16(pcm[i+1])<<8); v > 3000 || v < -3000 {
			return float64(i/2)/48000 + first("a:0", "pts_time") - first("v:0", "pts_time")
		}
	}
	t.Fatal("no tone")
	return 0
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	whole := generate(t, "a.mp4", "-f", "lavfi", "-i", testsrc)
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		content   []byte
		container media.Container
	}{
		"garbage":       {[]byte("\x00\x00\x00\x20ftypisom garbage and nothing else"), media.MP4},
		"cut in header": {data[:200], media.MP4},
		"playlist":      {[]byte("#EXTM3U\n#EXTINF:1,\nother.ts\n"), media.MP4},
		"unknown":       {[]byte("hello"), media.Unknown},
		"webm is mp4":   {data, media.WebM},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.mp4")
			if err := os.WriteFile(path, tt.content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := tools(t).Probe(t.Context(), path, tt.container, media.Limits{})
			if u := (*media.UnreadableError)(nil); !errors.As(err, &u) {
				t.Errorf("error = %v, want an UnreadableError", err)
			}
		})
	}
}

func TestSoundOnlyIsUnreadable(t *testing.T) {
	t.Parallel()
	path := generate(t, "a.mp4", "-f", "lavfi", "-i", "sine=duration=1")
	_, err := tools(t).Probe(t.Context(), path, media.MP4, media.Limits{})
	if u := (*media.UnreadableError)(nil); !errors.As(err, &u) || u.Reason != "no video in the file" {
		t.Errorf("error = %v", err)
	}
}

func TestCancelStopsTheChildren(t *testing.T) {
	t.Parallel()
	clip := probe(t, generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=25:duration=20"))
	ctx, cancel := context.WithCancelCause(t.Context())
	src, err := clip.Open(ctx, media.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := src.Next(ctx); err != nil {
		t.Fatal(err)
	}
	why := errors.New("interrupted")
	cancel(why)
	for err = error(nil); err == nil; {
		_, err = src.Next(ctx)
	}
	if !errors.Is(err, why) {
		t.Errorf("Next after cancel = %v, want %v", err, why)
	}
}

func TestEncoderErrorSurfaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "absent", "out.webm")
	free, err := ffmpeg.Find(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	sink, err := free.NewSink(t.Context(), path, ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: 64, Height: 64, End: time.Second})
	for i := 0; err == nil && i < 100; i++ {
		err = sink.Write(t.Context(), &media.Frame{Image: picture(64, 64, color.NRGBA{A: 255}), PTS: time.Duration(i) * time.Second})
	}
	if err == nil {
		err = sink.Close()
	}
	if e := (*ffmpeg.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Stderr, "No such file") {
		t.Errorf("error = %v, want ffmpeg's complaint", err)
	}
}

// A full disk is noticed even if ffmpeg notices it only at the very end. ffmpeg
// 5 reports success when the end of a file cannot be written.
func TestUnfinishedFile(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "ffmpeg")
	text := "#!/bin/sh\ncase \"$*\" in *pipe:0*) cat >/dev/null; echo 'Error writing trailer of out.webm: No space left on device' >&2 ;; *) exec ffmpeg \"$@\" ;; esac\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	found, err := ffmpeg.Find(t.Context(), script, "")
	if err != nil {
		t.Fatal(err)
	}
	sink, err := found.NewSink(t.Context(), filepath.Join(t.TempDir(), "out.webm"), ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: 16, Height: 16, End: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error = %v, want %v", err, syscall.ENOSPC)
	}
}

// A sound packet that cannot be decoded is left out, like a picture packet.
func TestDamagedSound(t *testing.T) {
	t.Parallel()
	in := generate(t, "in.mp4", "-f", "lavfi", "-i", "color=red:size=16x16:rate=10:duration=1", "-f", "lavfi", "-i", "anoisesrc=duration=1", "-c:a", "aac")
	out, err := exec.CommandContext(t.Context(), tools(t).FFprobe, "-v", "error", "-select_streams", "a:0",
		"-show_entries", "packet=pos,size", "-of", "csv=p=0", in).Output()
	if err != nil {
		t.Fatal(err)
	}
	var at, size int
	if _, err := fmt.Sscanf(strings.Split(string(out), "\n")[20], "%d,%d", &size, &at); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	for i := range size {
		data[at+i] = byte(0x5d * i)
	}
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	clip, path := probe(t, in), filepath.Join(t.TempDir(), "out.webm")
	if err := reencode(t, path, clip); err != nil {
		t.Fatal(err)
	}
	if _, last := streamSpan(t, path, "a:0"); last < 0.9 {
		t.Errorf("the sound ends at %.2f s", last)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, format := range []ffmpeg.Format{ffmpeg.WebM, ffmpeg.MP4} {
		sink, err := tools(t).NewSink(t.Context(), "/dev/full", ffmpeg.SinkOptions{Format: format, Width: 64, Height: 64, Opaque: format == ffmpeg.MP4, End: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		err = sink.Write(t.Context(), &media.Frame{Image: picture(64, 64, color.NRGBA{A: 255}), Duration: time.Second})
		if err == nil {
			err = sink.Close()
		}
		sink.Abort()
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: error = %v, want %v", format, err, syscall.ENOSPC)
		}
	}
}

func TestFindNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := ffmpeg.Find(t.Context(), "/absent/ffmpeg", "")
	if !errors.Is(err, ffmpeg.ErrNotFound) || !strings.Contains(err.Error(), "/absent/ffmpeg") {
		t.Errorf("error = %v", err)
	}
}

// A fault in the sound does not shorten the picture; a service charges for the
// picture's frames.
func TestSoundBeyondTheEnd(t *testing.T) {
	t.Parallel()
	path := generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=32x32:rate=25:duration=8", "-f", "lavfi", "-i", "sine=duration=8", "-c:a", "aac")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(data, []byte("stco")) // the sound's table, the second one: version and flags, count, offsets
	count := int(binary.BigEndian.Uint32(data[at+8:]))
	for i := range count {
		binary.BigEndian.PutUint32(data[at+12+4*i:], 1<<30)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if info := probe(t, path).Info(); info.Frames != 200 || !near(info.Duration, 8*time.Second, time.Millisecond) || !info.HasAudio {
		t.Errorf("%+v", info)
	}
}
