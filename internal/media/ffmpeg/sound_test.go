package ffmpeg_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

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

func TestSoundOnlyIsUnreadable(t *testing.T) {
	t.Parallel()
	path := generate(t, "a.mp4", "-f", "lavfi", "-i", "sine=duration=1")
	_, err := tools(t).Probe(t.Context(), path, media.MP4, media.Limits{})
	if u := (*media.UnreadableError)(nil); !errors.As(err, &u) || u.Reason != "no video in the file" {
		t.Errorf("error = %v", err)
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
