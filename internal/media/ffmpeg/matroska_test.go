package ffmpeg

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media/yuv"
)

// ffmpeg gets all facts that it cannot see in raw pictures or in packets of
// colours.
func TestMatroskaHeader(t *testing.T) {
	t.Parallel()
	layout := yuv.Layout{Width: 17, Height: 9}
	withAlpha := layout
	withAlpha.Alpha = true
	for _, tt := range []struct {
		codec  codec
		layout yuv.Layout
		want   string
	}{
		{rawVideo, layout, "rawvideo,17,9,tv,bt709,bt709,bt709"},
		{vp9, layout, "vp9,17,9,tv,bt709,bt709,bt709"},
		{vp9, withAlpha, "vp9,17,9,tv,bt709,bt709,bt709,1"},
	} {
		var stream bytes.Buffer
		m, err := newMatroskaWriter(&stream, tt.codec, tt.layout)
		if err == nil {
			err = m.write(block{duration: time.Second, data: [][]byte{make([]uint8, layout.Bytes())}})
		}
		if err != nil {
			t.Fatal(err)
		}
		probe := exec.CommandContext(t.Context(), "ffprobe", "-v", "quiet", "-of", "csv=p=0", "-show_entries",
			"stream=codec_name,width,height,color_range,color_space,color_transfer,color_primaries:stream_tags=alpha_mode", "pipe:0")
		probe.Stdin = &stream
		out, err := probe.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(out)); got != tt.want {
			t.Errorf("ffprobe says %s, want %s", got, tt.want)
		}
	}
}
