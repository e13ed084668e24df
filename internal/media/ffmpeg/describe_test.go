package ffmpeg

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

const plainHeader = `{"streams":[{"index":0,"codec_name":"h264","codec_type":"video","width":640,"height":360,` +
	`"sample_aspect_ratio":"1:1","pix_fmt":"yuv420p","time_base":"1/12800","disposition":{"attached_pic":0}}],` +
	`"format":{"start_time":"0.000000","duration":"2.000000"}}`

// described is a clip from ffprobe's output for a header and packets.
func described(header, packets string) (*Clip, error) {
	h, err := readHeader(strings.NewReader(header))
	if err != nil {
		return nil, err
	}
	w, err := readPackets(strings.NewReader(packets), media.Limits{MaxFrames: 1000})
	if err != nil {
		return nil, err
	}
	c := &Clip{}
	c.info.Container = media.WebM
	return c, c.describe(h, w)
}

// FuzzDescribe checks the values for prices and buffers, whatever a file makes
// ffprobe print.
func FuzzDescribe(f *testing.F) {
	f.Add(plainHeader, "pts=0,duration=512,size=100,flags=K_\npts=512,duration=512,size=9,flags=__\n")
	f.Add(strings.Replace(plainHeader, "1/12800", "1/1000", 1), "pts=0,duration=1\npts=4611686018427387904,duration=1\n")
	f.Add(strings.Replace(plainHeader, "1:1", "2147483647:1", 1), "pts=-9223372036854775808,duration=9223372036854775807\n")
	f.Add(strings.Replace(plainHeader, "2.000000", "nan", 1), "pts=0\n")
	f.Fuzz(func(t *testing.T, header, packets string) {
		c, err := described(header, packets)
		if err != nil {
			return
		}
		i := c.Info()
		switch {
		case i.Duration <= 0, i.Duration > 3*maxClip, i.LastFrame <= 0, i.LastFrame > i.Duration:
			t.Errorf("a clip of %v, whose last frame lasts %v", i.Duration, i.LastFrame)
		case i.Frames < 1, i.SeekCost < 0:
			t.Errorf("a clip of %d frames, %d to reach one", i.Frames, i.SeekCost)
		case i.Width < 1, i.Height < 1, i.Width > math.MaxInt32, i.Height > math.MaxInt32:
			t.Errorf("a picture of %d×%d", i.Width, i.Height)
		case i.TimeBase.Num < 1, i.TimeBase.Den < 1:
			t.Errorf("a unit of %v s", i.TimeBase)
		}
	})
}

func TestDescribeRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ header, packets, reason string }{
		"times at one moment":    {plainHeader, "pts=5,duration=1\npts=5,duration=1\n", "same time"},
		"a time out of range":    {plainHeader, "pts=0,duration=1\npts=4611686018427387904,duration=1\n", "impossible time"},
		"a clip of a century":    {plainHeader, "pts=0,duration=1\npts=40000000000000,duration=1\n", "impossible time"},
		"a negative duration":    {plainHeader, "pts=0,duration=-5\n", "impossible duration"},
		"a duration of ages":     {plainHeader, "pts=0,duration=9000000000000000000\n", "impossible duration"},
		"no frames":              {plainHeader, "pts=N/A,duration=5\n", "no frames"},
		"no size":                {strings.Replace(plainHeader, "360", "0", 1), "pts=0\n", "no size"},
		"no unit of time":        {strings.Replace(plainHeader, "1/12800", "0/0", 1), "pts=0\n", "no unit of time"},
		"an infinite unit":       {strings.Replace(plainHeader, "1/12800", "1/0", 1), "pts=0\n", "no unit of time"},
		"sound, no video at all": {strings.Replace(plainHeader, `"video"`, `"audio"`, 1), "pts=0\n", "no video"},
	} {
		_, err := described(tt.header, tt.packets)
		if u := (*media.UnreadableError)(nil); !errors.As(err, &u) || !strings.Contains(u.Reason, tt.reason) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := described(plainHeader, "pts=0,duration=512,size=1\npts=12800,duration=512,size=1\n"); err != nil || c.info.Duration != 2*time.Second {
		t.Errorf("a plain clip: %v, %v", c.info.Duration, err)
	}
}
