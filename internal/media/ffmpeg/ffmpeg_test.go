package ffmpeg_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

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

func TestFindNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := ffmpeg.Find(t.Context(), "/absent/ffmpeg", "")
	if !errors.Is(err, ffmpeg.ErrNotFound) || !strings.Contains(err.Error(), "/absent/ffmpeg") {
		t.Errorf("error = %v", err)
	}
}
