package ffmpeg

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media/yuv"
)

// ffmpeg is told of everything that it cannot see in raw pictures.
func TestMatroskaHeader(t *testing.T) {
	t.Parallel()
	for want, layout := range map[string]yuv.Layout{
		"rawvideo,17,9,yuva420p,tv,bt709,bt709,bt709": {Width: 17, Height: 9, Alpha: true},
		"rawvideo,16,8,yuv420p,tv,bt709,bt709,bt709":  {Width: 16, Height: 8},
	} {
		var stream bytes.Buffer
		m, err := newMatroskaWriter(&stream, layout)
		if err == nil {
			err = m.write(make([]uint8, layout.Bytes()), 0, time.Second)
		}
		if err != nil {
			t.Fatal(err)
		}
		probe := exec.CommandContext(t.Context(), "ffprobe", "-v", "error", "-of", "csv=p=0", "-show_entries",
			"stream=codec_name,width,height,pix_fmt,color_range,color_space,color_transfer,color_primaries", "pipe:0")
		probe.Stdin = &stream
		out, err := probe.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("ffprobe says %s, want %s", got, want)
		}
	}
}
