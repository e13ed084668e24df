package bgremove_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// An animated WebP has each frame's time, as Google's webpmux reads it, and is
// about as small as what ffmpeg's own encoder of animations makes.
func TestWebP(t *testing.T) {
	t.Parallel()
	const demo = "../../testdata/demo/hop.mp4"
	dir := t.TempDir()
	o := bgremove.Defaults()
	o.Method, o.Format, o.Loop = bgremove.Fast, bgremove.APNG, new(3)
	pictures := filepath.Join(dir, "all.apng")
	remove(t, demo, pictures, o)
	o.Format = bgremove.WebP
	for quality, theirs := range map[int][]string{80: {"-quality", "80"}, 100: {"-lossless", "1"}} {
		t.Run(strconv.Itoa(quality), func(t *testing.T) {
			t.Parallel()
			o := o
			o.Quality = quality
			out := filepath.Join(dir, strconv.Itoa(quality)+".webp")
			result := remove(t, demo, out, o)
			args := append([]string{"-f", "apng", "-i", pictures, "-fps_mode", "passthrough", "-c:v", "libwebp_anim"}, theirs...)
			info, err := os.Stat(generate(t, "theirs.webp", args...))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("quality %d: %d bytes, libwebp_anim %d", quality, result.OutputSize, info.Size())
			if float64(result.OutputSize) > 1.03*float64(info.Size()) {
				t.Error("the file is larger")
			}
			checkWebP(t, out, result)
		})
	}
}

var webpFrame = regexp.MustCompile(`^ *\d+: +\d+ +\d+ +yes +\d+ +\d+ +(\d+) `)

// checkWebP checks the demo's frames: 24 a second, for three seconds, three times.
func checkWebP(t *testing.T, path string, result *bgremove.Result) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "webpinfo", "-quiet", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("webpinfo: %v: %s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), "webpmux", "-info", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if text := string(out); !strings.Contains(text, "Loop Count : 3") || !strings.Contains(text, "animation transparency") {
		t.Errorf("%s", text[:min(len(text), 200)])
	}
	frames, at := 0, 0
	for line := range strings.Lines(string(out)) {
		if m := webpFrame.FindStringSubmatch(line); m != nil {
			ms, _ := strconv.Atoi(m[1])
			frames++
			if at += ms; at != (frames*1000+12)/24 {
				t.Errorf("frame %d ends at %d ms", frames, at)
			}
		}
	}
	if frames != 72 || at != 3000 || result.Frames != 72 || result.Duration != 3 {
		t.Errorf("%d frames, %d ms; the result says %d, %v s", frames, at, result.Frames, result.Duration)
	}
}
