package media

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
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
	PNG      Container = "png" // also APNG
	JPEG     Container = "jpeg"
	WebP     Container = "webp"     // also animated
	AVIF     Container = "avif"     // also sequences
	Pictures Container = "pictures" // numbered files, which are no container
	HEIF     Container = "heif"     // HEIC, and pictures of other codecs
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
		return sniffRIFF(head)
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
		return sniffBrands(head[8:min(int64(len(head)), max(int64(size), 16))])
	case "moov", "mdat", "wide", "free", "skip", "pnot":
		return MOV // QuickTime files older than the ftyp box
	}
	return Unknown
}

// sniffRIFF recognises files by the type of the outermost chunk.
func sniffRIFF(head []byte) Container {
	switch string(head[8:12]) {
	case "WEBP":
		return WebP
	case "AVI ":
		return AVI
	}
	return Unknown
}

// sniffBrands tells files by the major brand, then the compatible ones, which
// follow its version. Pictures share some with films.
func sniffBrands(brands []byte) Container {
	for len(brands) >= 4 {
		switch string(brands[:4]) {
		case "avif", "avis":
			return AVIF
		case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs":
			return HEIF
		case "qt  ":
			return MOV
		case "mif1", "msf1", "miaf": // pictures of any codec
		default:
			return MP4
		}
		brands = brands[4:]
		if len(brands) >= 4 && !isBrand(brands[:4]) {
			brands = brands[4:] // the version
		}
	}
	return HEIF
}

// isBrand reports whether four bytes are letters, and no number.
func isBrand(b []byte) bool { return b[0] >= ' ' && b[0] <= '~' }

// Animated reports whether a PNG or WebP is an animation: a PNG by the chunk acTL
// before its pictures (PNG, third edition, 11.3.6.1), a WebP by a flag of its chunk
// VP8X. Others are not.
func Animated(r io.ReaderAt) bool {
	head := make([]byte, 21)
	n, _ := r.ReadAt(head, 0)
	switch head = head[:n]; Sniff(head) {
	case WebP:
		return len(head) > 20 && string(head[12:16]) == "VP8X" && head[20]&0x02 != 0
	case PNG:
		return animatedPNG(r)
	}
	return false
}

// Still reports whether a file is one picture: a PNG, JPEG or WebP that is not
// animated, or an AVIF or HEIC that does not say first of all that it is a sequence.
func Still(r io.ReaderAt) bool {
	head := make([]byte, SniffLen)
	n, _ := r.ReadAt(head, 0)
	switch head = head[:n]; Sniff(head) {
	case PNG, JPEG, WebP:
		return !Animated(r)
	case AVIF, HEIF:
		return !slices.Contains([]string{"avis", "msf1", "hevc", "hevx", "hevm", "hevs"}, string(head[8:12]))
	}
	return false
}

// maxChunks bounds the walk to a PNG's pictures.
const maxChunks = 10_000

func animatedPNG(r io.ReaderAt) bool {
	at := int64(8)
	for range maxChunks {
		var head [8]byte
		if n, _ := r.ReadAt(head[:], at); n < len(head) {
			return false
		}
		switch string(head[4:]) {
		case "acTL":
			return true
		case "IDAT":
			return false
		}
		at += int64(binary.BigEndian.Uint32(head[:])) + 12
	}
	return false
}
