package ffmpeg_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// No child is left of a pass that was expected and not opened. The child holds a named
// pipe open, which ends with it.
func TestStopEndsWhatWasExpected(t *testing.T) {
	t.Parallel()
	path := generate(t, "a.mp4", "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=25:duration=20")
	dir := t.TempDir()
	alive, script := filepath.Join(dir, "alive"), filepath.Join(dir, "ffmpeg")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("#!/bin/sh\nexec 9>%q\nexec %q \"$@\"\n", alive, tools(t).FFmpeg)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	watched, err := ffmpeg.Locate(script, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	clip, err := watched.Probe(t.Context(), path, media.MP4, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	stop := clip.Expect(t.Context(), media.ReadOptions{})
	end, err := os.Open(alive) // waits for the child
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	stop()
	if _, err := io.ReadAll(end); err != nil {
		t.Error(err)
	}
	stop() // does nothing
}
