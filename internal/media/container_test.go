package media_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
)

func TestSniff(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		head string
		want media.Container
	}{
		"gif 87":              {"GIF87a\x01\x00", media.GIF},
		"gif 89":              {"GIF89a\x01\x00", media.GIF},
		"mp4":                 {"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isom", media.MP4},
		"quicktime":           {"\x00\x00\x00\x14ftypqt  \x00\x00\x02\x00qt  ", media.MOV},
		"old quicktime":       {"\x00\x00\x00\x08wide\x00\x00\x10\x00mdat", media.MOV},
		"webm, long length":   {"\x1a\x45\xdf\xa3\x8e\x42\x82\x01\x00\x00\x00\x00\x00\x00\x04webm", media.WebM},
		"webm, padded":        {"\x1a\x45\xdf\xa3\x8a\x42\x82\x87webm\x00\x00\x00", media.WebM},
		"DocType of 300 kB":   {"\x1a\x45\xdf\xa3\x08\x04\x93\xe5\x42\x82\x08\x04\x93\xe0webm", media.Unknown},
		"DocType within Void": {"\x1a\x45\xdf\xa3\x92\xec\x87\x42\x82\x84webm\x42\x82\x84mkvx", media.Unknown},
		"DocType twice":       {"\x1a\x45\xdf\xa3\x8e\x42\x82\x84webm\x42\x82\x84mkvx", media.Unknown},
		"webm":                {"\x1a\x45\xdf\xa3\x8f\x42\x86\x81\x01\x42\x82\x84webm\x42\x87\x81\x04", media.WebM},
		"matroska":            {"\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska", media.Matroska},
		"ebml without type":   {"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01", media.Unknown},
		"ebml cut in type":    {"\x1a\x45\xdf\xa3\x9f\x42\x82\x84we", media.Unknown},
		"png":                 {"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR", media.PNG},
		"jpeg":                {"\xff\xd8\xff\xe0\x00\x10JFIF", media.JPEG},
		"webp":                {"RIFF\x10\x00\x00\x00WEBPVP8 ", media.WebP},
		"avi":                 {"RIFF\x10\x00\x00\x00AVI LIST", media.AVI},
		"wave":                {"RIFF\x10\x00\x00\x00WAVEfmt ", media.Unknown},
		"avif":                {"\x00\x00\x00\x20ftypavif\x00\x00\x00\x00avifmif1", media.AVIF},
		"avif sequence":       {"\x00\x00\x00\x20ftypavis\x00\x00\x00\x00avis", media.AVIF},
		"avif, other brand":   {"\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00miafavif", media.AVIF},
		"heic":                {"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic", media.HEIF},
		"heic, other brand":   {"\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1heic", media.HEIF},
		"heic, scalable":      {"\x00\x00\x00\x18ftyphevs\x00\x00\x00\x00hevm", media.HEIF},
		"m4v":                 {"\x00\x00\x00\x18ftypM4V \x00\x00\x02\x00M4V avif", media.MP4},
		"playlist":            {"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", media.Unknown},
		"concat script":       {"ffconcat version 1.0\nfile /etc/passwd\n", media.Unknown},
		"empty":               {"", media.Unknown},
		"short box":           {"\x00\x00\x00\x08ftyp", media.Unknown},
		"box smaller than 8":  {"\x00\x00\x00\x04ftypisom", media.Unknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := media.Sniff([]byte(tt.head)); got != tt.want {
				t.Errorf("Sniff = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAnimated(t *testing.T) {
	t.Parallel()
	const png, chunk = "\x89PNG\r\n\x1a\n\x00\x00\x00\x00IHDR1234", "\x00\x00\x00\x02pHYs..1234"
	for head, want := range map[string]bool{
		png + "\x00\x00\x00\x00acTL": true, png + chunk + "\x00\x00\x00\x08acTL": true,
		png + chunk: false, png + "\x00\x00\x00\x00IDAT1234\x00\x00\x00\x00acTL": false, png: false, png[:8]: false,
		png + "\xff\xff\xff\xfftEXt":           false,
		"RIFF....WEBPVP8X\x0a\x00\x00\x00\x02": true, "RIFF....WEBPVP8X\x0a\x00\x00\x00\x10": false, "RIFF....WEBPVP8 \x0a\x00\x00\x00\x02": false,
		"RIFF....WEBP": false, "GIF89a": false, "": false,
	} {
		if got := media.Animated(strings.NewReader(head)); got != want {
			t.Errorf("Animated(%q) = %v", head, got)
		}
	}
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("\x1a\x45\xdf\xa3\x87\x42\x82\x84webm"))
	f.Add([]byte("\x00\x00\x00\x20ftypisom"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x00IHDR1234\xff\xff\xff\xfftEXt"))
	f.Fuzz(func(_ *testing.T, head []byte) {
		media.Sniff(head)
		media.Animated(bytes.NewReader(head))
	})
}
