package bgremove_test

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/pkg/bgremove"
)

// ffmpegWithout is an ffmpeg that was built without one encoder, decoder or
// filter. It fails where the sign is among its arguments.
func ffmpegWithout(t *testing.T, name, sign string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ffmpeg")
	script := `#!/bin/sh
case " $* " in
*" -encoders "* | *" -decoders "* | *" -filters "*) ffmpeg "$@" | grep -v NAME ;;
*SIGN*) echo "Unknown 'NAME'" >&2; exit 1 ;;
*) exec ffmpeg "$@" ;;
esac
`
	if err := os.WriteFile(path, []byte(strings.NewReplacer("NAME", name, "SIGN", sign).Replace(script)), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// What this ffmpeg was built without is named, be it for reading or writing.
func TestFFmpegWithout(t *testing.T) {
	t.Parallel()
	opaque := generate(t, "opaque.mp4", movingSquare()...)
	transparent := generate(t, "transparent.webm", "-f", "lavfi", "-i", "color=red:size=32x32:rate=10:duration=0.5,format=yuva420p", "-c:v", "libvpx-vp9")
	hdr := generate(t, "hdr.mov", "-f", "lavfi", "-i", "color=red:size=32x32:rate=10:duration=0.5,format=yuv420p10le",
		"-c:v", "libx265", "-x265-params", "log-level=error", "-color_trc", "smpte2084", "-color_primaries", "bt2020", "-colorspace", "bt2020nc")
	for _, c := range []struct {
		name, in string
		format   bgremove.Format
		sign     string // of it among the arguments; "" is its name
	}{
		{"libvpx-vp9", opaque, bgremove.WebM, ""},
		{"libx264", opaque, bgremove.MP4, ""},
		{"prores_ks", opaque, bgremove.MOV, ""},
		{"libx264", opaque, bgremove.Stacked, ""},
		{"hevc_videotoolbox", opaque, bgremove.HEVC, ""},
		{"libwebp", opaque, bgremove.WebP, ""},
		{"libaom-av1", opaque, bgremove.AVIF, ""},
		{"libvpx-vp9", transparent, bgremove.GIF, ""},
		{"zscale", hdr, bgremove.GIF, ""},
		{"hevc", "../../testdata/heif/whole.heic", bgremove.PNG, "matroska"},
	} {
		t.Run(c.name+" "+filepath.Base(c.in), func(t *testing.T) {
			t.Parallel()
			o := bgremove.Defaults()
			o.Format, o.Method = c.format, bgremove.Fast
			if c.format == bgremove.MP4 {
				o.Background = "#0000ff"
			}
			// The sandbox lets a script start nothing.
			remover := bgremove.New(bgremove.Config{FFmpeg: ffmpegWithout(t, c.name, cmp.Or(c.sign, c.name)), Sandbox: bgremove.SandboxOff})
			out := filepath.Join(t.TempDir(), "out")
			_, err := remover.Remove(t.Context(), c.in, out, o, bgremove.Extras{})
			cause := bgremove.NoCodec
			if c.format == bgremove.HEVC && runtime.GOOS != "darwin" {
				cause = bgremove.NotMacOS
			}
			if e := (*bgremove.Error)(nil); !errors.As(err, &e) || e.Kind != bgremove.Missing || e.Cause != cause || e.Name != c.name {
				t.Errorf("error = %v, want one that names %s", err, c.name)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("an output is left behind")
			}
		})
	}
}
