package ffmpeg_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/synth/hostile"
	"github.com/bgremove/bgremove/internal/system/sandbox"
)

// save writes a test's file.
func save(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantUnreadable checks that a file is refused with a reason.
func wantUnreadable(t *testing.T, path string, c media.Container, reason string) {
	t.Helper()
	_, err := tools(t).Probe(t.Context(), path, c, media.Limits{})
	if u := (*media.UnreadableError)(nil); !errors.As(err, &u) || !strings.Contains(u.Reason, reason) {
		t.Errorf("error = %v, want one about %q", err, reason)
	}
}

// Times too large to add up would make a long clip a cheap one.
func TestImpossibleTimes(t *testing.T) {
	t.Parallel()
	live, err := os.ReadFile(generate(t, "a.webm", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=10:duration=1", "-c:v", "libvpx-vp9", "-live", "1"))
	if err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]uint64{"beyond 64 bits of ns": 1 << 62, "a century": 100 * 365 * 86400_000, "negative": 1<<64 - 1<<40} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantUnreadable(t, save(t, "a.webm", append(bytes.Clone(live), hostile.LateBlock(at)...)), media.WebM, "impossible time")
		})
	}
	t.Run("possible", func(t *testing.T) {
		t.Parallel()
		path := save(t, "a.webm", append(bytes.Clone(live), hostile.LateBlock(60_000)...))
		if info := probe(t, path).Info(); info.Frames != 11 || !near(info.Duration, time.Minute, 7*time.Second) {
			t.Errorf("got %d frames in %v", info.Frames, info.Duration)
		}
	})
}

// A few bytes may claim more samples than the memory has room for.
func TestProbeLimits(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	path := save(t, "a.mp4", hostile.Samples{Count: 1 << 26, Size: 1, Chunks: 1, Tracks: 4}.MP4())
	tools, err := ffmpeg.Locate("", "", &ffmpeg.Confinement{Probe: sandbox.Limits{Memory: 256 << 20, CPU: 20 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tools.Probe(t.Context(), path, media.MP4, media.Limits{})
	if !errors.As(err, new(*sandbox.LimitError)) && !errors.As(err, new(*media.UnreadableError)) {
		t.Errorf("error = %v, want one about memory, or that nothing can be read", err)
	}
}

func TestFrameLimit(t *testing.T) {
	t.Parallel()
	path := generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=2")
	for limit, refused := range map[int]bool{49: true, 50: false, 0: false} {
		_, err := tools(t).Probe(t.Context(), path, media.MP4, media.Limits{MaxFrames: limit})
		if l := (*media.LimitError)(nil); errors.As(err, &l) != refused || err != nil && !refused {
			t.Errorf("at most %d frames: %v", limit, err)
		}
	}
}

// Samples may overlap, so that a small file has any number of them.
func TestMoreThanTheFile(t *testing.T) {
	t.Parallel()
	wantUnreadable(t, save(t, "a.mp4", hostile.Samples{Count: 1000, Size: 1000, Chunks: 1000, Tracks: 1}.MP4()), media.MP4, "more bytes than the file")
}

// ffprobe's output is read up to a bound, whatever it prints.
func TestHeaderIsBounded(t *testing.T) {
	t.Parallel()
	video := generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=1")
	stand := save(t, "ffprobe", []byte("#!/bin/sh\ncase \"$*\" in *packet*) echo pts=0,duration=1; exit;; esac\necho '{\"streams\":['; exec yes '{\"index\":1},'\n"))
	if err := os.Chmod(stand, 0o700); err != nil {
		t.Fatal(err)
	}
	tools, err := ffmpeg.Locate("", stand, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = tools.Probe(t.Context(), video, media.MP4, media.Limits{})
	if u := (*media.UnreadableError)(nil); !errors.As(err, &u) || u.Reason != "the file has too many streams" {
		t.Errorf("error = %v", err)
	}
}

// Tags are not part of the answer: a file may have any amount of them.
func TestTagsAreNotAskedFor(t *testing.T) {
	t.Parallel()
	tags := save(t, "tags", []byte(";FFMETADATA1\ncomment="+strings.Repeat("x", 3<<20)+"\n"))
	path := generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=1", "-i", tags, "-map_metadata", "1")
	if info := probe(t, path).Info(); info.Frames != 25 {
		t.Errorf("got %d frames", info.Frames)
	}
}

// The header and the first frames may be small and the rest large.
func TestLaterFramesAreLimited(t *testing.T) {
	t.Parallel()
	var both []byte
	for _, size := range []string{"64x64", "512x512"} {
		part, err := os.ReadFile(generate(t, "a.ts", "-f", "lavfi", "-i", "testsrc2=size="+size+":rate=25:duration=1"))
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, part...)
	}
	path := generate(t, "a.mkv", "-i", save(t, "both.ts", both), "-c", "copy")
	for area, refused := range map[int64]bool{64 * 64: true, 512 * 512: false, 0: false} {
		clip, err := tools(t).Probe(t.Context(), path, media.Matroska, media.Limits{MaxArea: area})
		if err != nil {
			t.Fatal(err)
		}
		src, err := clip.Open(t.Context(), media.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = src.Next(t.Context())
		}
		_ = src.Close()
		l := (*media.LimitError)(nil)
		if errors.As(err, &l) != refused || !refused && !errors.Is(err, io.EOF) {
			t.Errorf("at most %d pixels: %v", area, err)
		}
		if refused && (l.Max != area || l.Got < 512*512) {
			t.Errorf("at most %d pixels: %v", area, l)
		}
	}
}
