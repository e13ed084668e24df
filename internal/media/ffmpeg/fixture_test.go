package ffmpeg_test

import (
	"errors"
	"image"
	"image/color"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

func picture(w, h int, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := 0; i < len(img.Pix); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = c.R, c.G, c.B, c.A
	}
	return img
}
