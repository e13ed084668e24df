package ffmpeg

import (
	"maps"
	"strings"
	"testing"
)

const described = `{
    "packets": [
        { "stream_index": 1, "pts": -1024, "duration": 1024, "flags": "KD" },
        { "stream_index": 0, "pts": -512, "duration": 512, "flags": "KD_" },
        { "stream_index": 0, "pts": 0, "duration": 512, "flags": "K__" },
        { "stream_index": 1, "pts": 0, "duration": 1024, "flags": "K__" },
        { "stream_index": 0, "pts": 1024, "duration": 500, "flags": "___" },
        { "stream_index": 0, "pts": 512, "duration": 512, "flags": "___" },
        { "stream_index": 0, "duration": 1, "flags": "___" }
    ],
    "programs": [],
    "streams": [
        { "index": 0, "codec_type": "video", "codec_name": "h264" },
        { "index": 1, "codec_type": "audio", "codec_name": "aac" }
    ],
    "format": { "start_time": "0.000000", "duration": "N/A" }
}`

func TestDescription(t *testing.T) {
	t.Parallel()
	d := description{walks: make(map[int]packetWalk)}
	if err := d.read(strings.NewReader(described)); err != nil {
		t.Fatal(err)
	}
	want := map[int]packetWalk{0: {count: 3, last: 1024, lastDuration: 500}, 1: {count: 1, lastDuration: 1024}}
	if !maps.Equal(d.walks, want) {
		t.Errorf("walks %+v, want %+v", d.walks, want)
	}
	if len(d.streams) != 2 || d.streams[1].CodecName != "aac" || d.format.Duration != 0 {
		t.Errorf("streams %+v, format %+v", d.streams, d.format)
	}
	for cut := range described {
		if err := d.read(strings.NewReader(described[:cut])); err == nil {
			t.Errorf("no error from %d bytes", cut)
		}
	}
}

func FuzzDescription(f *testing.F) {
	f.Add(described)
	f.Add(`{"packets": 5, "streams": {}, "format": []}`)
	f.Fuzz(func(_ *testing.T, text string) {
		_ = (&description{walks: make(map[int]packetWalk)}).read(strings.NewReader(text))
	})
}
