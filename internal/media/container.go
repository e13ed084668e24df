package media

import (
	"bytes"
	"encoding/binary"
)

// Container names a file format that bgremove reads.
type Container string

// The containers that Sniff can name. MP4 and MOV are one family: ffmpeg reads
// both with the same demuxer.
const (
	Unknown  Container = ""
	GIF      Container = "gif"
	MP4      Container = "mp4"
	MOV      Container = "mov"
	WebM     Container = "webm"
	Matroska Container = "matroska"
	AVI      Container = "avi"
	PNG      Container = "png" // also APNG; recognised so that messages can say so
	JPEG     Container = "jpeg"
	WebP     Container = "webp"
)

// SniffLen is how many leading bytes Sniff can make use of.
const SniffLen = 4096

// Sniff names the container by its leading bytes, never by a file's name.
// Playlists, scripts and everything else it does not know are Unknown.
func Sniff(head []byte) Container {
	switch {
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return GIF
	case bytes.HasPrefix(head, []byte{0x1A, 0x45, 0xDF, 0xA3}):
		return sniffEBML(head)
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(head, []byte{0xFF, 0xD8, 0xFF}):
		return JPEG
	case len(head) >= 12 && string(head[:4]) == "RIFF":
		return map[string]Container{"WEBP": WebP, "AVI ": AVI}[string(head[8:12])]
	}
	return sniffISO(head)
}

// sniffISO recognises the ISO base media family (ISO/IEC 14496-12) and
// QuickTime by the type of the first box.
func sniffISO(head []byte) Container {
	if len(head) < 12 {
		return Unknown
	}
	switch size := binary.BigEndian.Uint32(head); string(head[4:8]) {
	case "ftyp":
		if size < 16 && size != 1 {
			return Unknown
		}
		if string(head[8:12]) == "qt  " {
			return MOV
		}
		return MP4
	case "moov", "mdat", "wide", "free", "skip", "pnot":
		return MOV // QuickTime files older than the ftyp box
	}
	return Unknown
}

// Animated reports whether a PNG or WebP holds more than one picture, by its
// leading bytes: a PNG by the chunk acTL before its pictures (PNG, third
// edition, 11.3.6.1), a WebP by a flag of its chunk VP8X. Others are not.
func Animated(head []byte) bool {
	switch Sniff(head) {
	case WebP:
		return len(head) > 20 && string(head[12:16]) == "VP8X" && head[20]&0x02 != 0
	case PNG:
		for rest := head[8:]; len(rest) >= 8; {
			size := int64(binary.BigEndian.Uint32(rest))
			switch string(rest[4:8]) {
			case "acTL":
				return true
			case "IDAT":
				return false
			}
			rest = rest[min(size+12, int64(len(rest))):]
		}
	}
	return false
}
