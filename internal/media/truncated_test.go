package media_test

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
)

func TestTruncated(t *testing.T) {
	t.Parallel()
	const (
		ftyp = "\x00\x00\x00\x10ftypisom\x00\x00\x02\x00"
		mdat = "\x00\x00\x00\x0cmdatdata"
		moov = "\x00\x00\x00\x0cmoovdata"
		wide = "\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x14data"
		ebml = "\x1a\x45\xdf\xa3\x83abc"
	)
	for name, tt := range map[string]struct {
		data      string
		container media.Container
		want      bool
	}{
		"mp4":              {ftyp + mdat, media.MP4, false},
		"mp4 cut":          {(ftyp + mdat)[:26], media.MP4, true},
		"mp4 cut in head":  {(ftyp + mdat)[:20], media.MP4, true},
		"64-bit box":       {ftyp + wide, media.MOV, false},
		"64-bit box cut":   {(ftyp + wide)[:34], media.MOV, true},
		"box to the end":   {ftyp + "\x00\x00\x00\x00mdatwhatever", media.MP4, false},
		"line after all":   {ftyp + moov + mdat + "\n", media.MP4, false},
		"text after all":   {ftyp + moov + mdat + "and some more text", media.MP4, false},
		"second mdat cut":  {ftyp + moov + mdat + mdat[:10], media.MP4, true},
		"cut before moov":  {ftyp + mdat + moov[:6], media.MP4, true},
		"nonsense size":    {ftyp + "\x00\x00\x00\x02mdat", media.MP4, false},
		"webm":             {ebml + "\x18\x53\x80\x67\x85abcde", media.WebM, false},
		"webm cut":         {ebml + "\x18\x53\x80\x67\x85abc", media.WebM, true},
		"webm live":        {ebml + "\x18\x53\x80\x67\xffabc", media.WebM, false},
		"webm cut in head": {"\x1a\x45\xdf\xa3\x83a", media.WebM, true},
		"riff":             {"RIFF\x04\x00\x00\x00AVI ", media.AVI, false},
		"riff cut":         {"RIFF\x05\x00\x00\x00AVI ", media.AVI, true},
		"riff cut in head": {"RIFF\x05", media.WebP, true},
		"riff, no size":    {"RIFF\x00\x00\x00\x00AVI ", media.AVI, false},
		"riff, stream":     {"RIFF\xff\xff\xff\xffAVI ", media.AVI, false},
		"empty":            {"", media.WebM, false},
		"gif":              {"GIF89a", media.GIF, false},
	} {
		if got := media.Truncated(strings.NewReader(tt.data), int64(len(tt.data)), tt.container); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// endless is a file of boxes of eight bytes, no two of which in a row have one type. It
// counts the reads.
type endless int

func (e *endless) ReadAt(p []byte, at int64) (int, error) {
	*e++
	return copy(p, binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8}, uint32(at/8))), io.EOF
}

// A file of nothing but small boxes is not read to its end.
func TestManyBoxes(t *testing.T) {
	t.Parallel()
	var reads endless
	const size, enough = 1 << 25, 2_000_000
	if media.Truncated(&reads, size, media.MP4) || reads > enough {
		t.Errorf("%d reads", reads)
	}
}

func FuzzTruncated(f *testing.F) {
	f.Add("\x1a\x45\xdf\xa3\x83abc\x18\x53\x80\x67\xff", true)
	f.Add("\x00\x00\x00\x10ftypisom\x00\x00\x02\x00", false)
	f.Fuzz(func(_ *testing.T, data string, ebml bool) {
		c := media.MP4
		if ebml {
			c = media.WebM
		}
		media.Truncated(strings.NewReader(data), int64(len(data)), c)
	})
}
