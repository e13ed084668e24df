package ffmpeg

import (
	"math"
	"strings"

	"github.com/bgremove/bgremove/internal/media"
)

// videoStream is what ffprobe says of a stream.
type videoStream struct {
	Index          int    `json:"index"`
	CodecName      string `json:"codec_name"`
	CodecType      string `json:"codec_type"`
	Width          int    `json:"width"`
	Height         int    `json:"height"`
	SampleAspect   string `json:"sample_aspect_ratio"`
	PixFmt         string `json:"pix_fmt"`
	ColorRange     string `json:"color_range"`
	ColorSpace     string `json:"color_space"`
	ColorTransfer  string `json:"color_transfer"`
	ColorPrimaries string `json:"color_primaries"`
	FieldOrder     string `json:"field_order"`
	TimeBase       string `json:"time_base"`
	Disposition    struct {
		AttachedPic int `json:"attached_pic"`
	} `json:"disposition"`
	Tags     map[string]string `json:"tags"`
	SideData []struct {
		Rotation float64 `json:"rotation"`
	} `json:"side_data_list"`
}

// upright is the size of the decoded picture after rotation and with square
// pixels.
func (s *videoStream) upright() (width, height int) {
	aspect := media.Rational{Num: 1, Den: 1}
	if r, err := parseRational(s.SampleAspect, ":"); err == nil {
		aspect = r
	}
	w, h := s.Width, s.Height
	for _, side := range s.SideData {
		if quarter := math.Mod(math.Abs(side.Rotation), 180); quarter > 45 && quarter < 135 {
			w, h = h, w
			aspect.Num, aspect.Den = aspect.Den, aspect.Num
		}
	}
	return int(math.Round(min(float64(w)*float64(aspect.Num)/float64(aspect.Den), math.MaxInt32))), h
}

// hasAlpha reports whether the decoder will deliver transparency. VP8 and VP9
// keep it in a second stream that only a tag announces.
func (s *videoStream) hasAlpha() bool {
	if s.alphaTag() {
		return true
	}
	for _, format := range []string{"rgba", "bgra", "argb", "abgr", "yuva", "gbrap", "ya8", "ya16", "pal8"} {
		if strings.HasPrefix(s.PixFmt, format) {
			return true
		}
	}
	return false
}

func (s *videoStream) alphaTag() bool {
	return s.Tags["alpha_mode"] == "1" || s.Tags["ALPHA_MODE"] == "1"
}
