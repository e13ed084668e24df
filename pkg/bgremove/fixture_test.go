package bgremove_test

import (
	stdgif "image/gif"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// generate makes a fixture with the ffmpeg program.
func generate(t *testing.T, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args = append(append([]string{"-nostdin", "-v", "error"}, args...), path)
	if out, err := exec.CommandContext(t.Context(), "ffmpeg", args...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg %v: %v\n%s", args, err, out)
	}
	return path
}

// timeStamps are the PTS of the first video stream's packets, in seconds.
func timeStamps(t *testing.T, path string) (stamps []float64) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.FieldsSeq(string(out)) {
		if line = strings.Trim(line, ","); line == "" {
			continue // the line of a packet's side data
		}
		s, err := strconv.ParseFloat(line, 64)
		if err != nil {
			t.Fatal(err)
		}
		stamps = append(stamps, s)
	}
	return stamps
}

func remove(t *testing.T, in, out string, o bgremove.Options) *bgremove.Result {
	t.Helper()
	result, err := bgremove.New(bgremove.Config{}).Remove(t.Context(), in, out, o, bgremove.Extras{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const onGreen = "color=0x20c040:size=96x64:rate=30000/1001:duration=1"

// movingSquare is a red square that crosses a green picture.
func movingSquare(extra ...string) []string {
	return append([]string{"-f", "lavfi", "-i", onGreen, "-f", "lavfi", "-i", "color=red:size=20x20:rate=30000/1001:duration=1",
		"-filter_complex", "[0][1]overlay=x='10+50*t':y=20:shortest=1"}, extra...)
}

func readGIF(t *testing.T, path string) *stdgif.GIF {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := stdgif.DecodeAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
