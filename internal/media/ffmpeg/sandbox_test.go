package ffmpeg_test

import (
	"context"
	"errors"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/system/sandbox"
)

// needSandbox skips a test if children cannot be limited.
func needSandbox(t *testing.T) {
	t.Helper()
	if holds := sandbox.Check(); !holds.All() {
		t.Skip(holds.Missing)
	}
}

// noise leaves an encoder nothing to save.
func noise(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(img.Pix) // never fails
	return img
}

// encode writes frames of noise until the encoder ends, or n of them.
func encode(ctx context.Context, tools *ffmpeg.Tools, path string, width, n int) error {
	height := width * 3 / 4
	sink, err := tools.NewSink(ctx, path, ffmpeg.SinkOptions{Format: ffmpeg.WebM, Width: width, Height: height, End: time.Hour})
	if err != nil {
		return err
	}
	defer sink.Abort()
	for i := range n {
		f := &media.Frame{Image: noise(width, height), PTS: time.Duration(i) * 40 * time.Millisecond, Duration: 40 * time.Millisecond}
		if err := sink.Write(ctx, f); err != nil {
			return err
		}
	}
	return sink.Close()
}

func TestEncoderLimits(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	tests := map[string]struct {
		limits        sandbox.Limits
		width, frames int
		want          sandbox.LimitError // none: it works
	}{
		"enough":    {sandbox.Limits{CPU: time.Minute, Memory: 2 << 30, FileSize: 1 << 30, OpenFiles: 64}, 160, 3, sandbox.LimitError{}},
		"cpu":       {sandbox.Limits{CPU: time.Second}, 320, 100_000, sandbox.LimitError{Resource: sandbox.CPU, Limit: "1s"}},
		"memory":    {sandbox.Limits{Memory: 256 << 20}, 2560, 20, sandbox.LimitError{Resource: sandbox.Memory, Limit: "256 MiB"}},
		"file size": {sandbox.Limits{FileSize: 128 << 10}, 160, 1000, sandbox.LimitError{Resource: sandbox.FileSize, Limit: "128 KiB"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := encode(t.Context(), limited(t, tt.limits), filepath.Join(t.TempDir(), "out.webm"), tt.width, tt.frames)
			limit := (*sandbox.LimitError)(nil)
			switch {
			case tt.want == sandbox.LimitError{}:
				if err != nil {
					t.Error(err)
				}
			case !errors.As(err, &limit) || *limit != tt.want:
				t.Errorf("error = %v, want %v", err, &tt.want)
			}
		})
	}
}

// A decoder that runs out of memory drops frames. The result must count neither
// as a shorter clip nor as a damaged one.
func TestDecoderMemory(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	path := generate(t, "a.mp4", "-f", "lavfi", "-i", "color=red:size=7680x4320:rate=25:duration=0.4", "-pix_fmt", "yuv420p", "-preset", "ultrafast")
	clip, err := limited(t, sandbox.Limits{Memory: 200 << 20}).Probe(t.Context(), path, media.MP4, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	src, err := clip.Open(t.Context(), media.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for err == nil {
		_, err = src.Next(t.Context())
	}
	if limit := (*sandbox.LimitError)(nil); !errors.As(err, &limit) || limit.Resource != sandbox.Memory {
		t.Errorf("error = %v, want the limit on memory", err)
	}
}

// An ffprobe under a file's control cannot do much.
func TestForbidden(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "elsewhere.nut")
	tests := map[string]struct {
		args string // of ffmpeg, which replaces the ffprobe
		want sandbox.Resource
	}{
		"reads another file":  {"-f data -i /etc/passwd -map 0 -f null -", sandbox.Files},
		"writes another file": {"-f lavfi -i testsrc2=duration=0.1 -y " + elsewhere, sandbox.Files},
		"connects":            {"-i tcp://127.0.0.1:9", sandbox.Network},
		"sends":               {"-f lavfi -i testsrc2=duration=0.1 -f nut udp://127.0.0.1:9", sandbox.Network},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taken := filepath.Join(t.TempDir(), "ffprobe")
			script := "#!/bin/sh\nexec '" + tools(t).FFmpeg + "' -nostdin -v error " + tt.args + "\n"
			if err := os.WriteFile(taken, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			_, err := confined(t, taken, sandbox.Limits{}).Probe(t.Context(), filepath.Join(dir, "a.mp4"), media.MP4, media.Limits{})
			if limit := (*sandbox.LimitError)(nil); !errors.As(err, &limit) || limit.Resource != tt.want {
				t.Errorf("error = %v, want one about %s", err, tt.want)
			}
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(elsewhere); err == nil {
			t.Error("a file was made")
		}
	})
}
