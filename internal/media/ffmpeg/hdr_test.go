package ffmpeg_test

import (
	"testing"

	"github.com/bgremove/bgremove/internal/media"
)

// HDR is of BT.2020. A file that says only how bright its pictures are is read like one
// that says the rest, too.
func TestHDRWithoutColours(t *testing.T) {
	t.Parallel()
	grey := []string{"-f", "lavfi", "-i", "color=black:size=32x16:rate=10:duration=0.1,format=yuv420p10le,geq=lum=600:cb=440:cr=560", "-c:v", "ffv1"}
	matrix, primaries := []string{"-colorspace", "bt2020nc"}, []string{"-color_primaries", "bt2020"}
	read := func(t *testing.T, transfer string, tags ...string) any {
		t.Helper()
		args := append(append(append([]string{}, grey...), "-color_range", "tv", "-color_trc", transfer), tags...)
		all := frames(t, probe(t, generate(t, "a.mkv", args...)), media.ReadOptions{})
		if len(all) != 1 {
			t.Fatalf("%d frames", len(all))
		}
		return all[0].Image.NRGBAAt(5, 5)
	}
	for _, transfer := range []string{"smpte2084", "arib-std-b67"} {
		t.Run(transfer, func(t *testing.T) {
			t.Parallel()
			want := read(t, transfer, append(matrix, primaries...)...)
			for name, tags := range map[string][]string{"no matrix": primaries, "no primaries": matrix, "neither": nil} {
				if got := read(t, transfer, tags...); got != want {
					t.Errorf("%s: a pixel is %v, want %v", name, got, want)
				}
			}
		})
	}
}
