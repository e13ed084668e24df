package option

import (
	"path/filepath"
	"slices"
	"strings"
)

// Format is a format that is written. The empty Format is GIF, and PNG of one picture;
// see FormatFor.
type Format string

// The formats.
const (
	GIF  Format = "gif"
	APNG Format = "apng"
	WebP Format = "webp"
	AVIF Format = "avif"
	WebM Format = "webm"
	MP4  Format = "mp4"
	MOV  Format = "mov"
	// Stacked is an MP4 of twice the height: the colours, and below them the matte.
	Stacked Format = "stacked"
	// HEVC is a MOV with alpha for Safari. Only ffmpeg on macOS can make it.
	HEVC Format = "hevc"
	// PNG is one picture, and no clip.
	PNG Format = "png"
)

// The qualities that are used for 0.
const (
	QualityGIF   = 90
	QualityWebP  = 80
	QualityVideo = 80
)

// facts are what is known of a format.
type facts struct {
	format     Format
	mediaType  string
	extensions []string // without the dot; the first is written
	suffix     string   // of default names, where the extension does not tell the format
	opaque     bool     // has no transparency
	video      bool     // for a browser's video element, else for img
	sound      bool     // can have sound
	quality    int      // used for 0; 0 where there is only one
	bounded    bool     // takes a MaxSize
	still      bool     // holds one picture only
	apple      bool     // needs macOS
}

// formats are all formats, the default first.
var formats = []facts{
	{format: GIF, bounded: true, mediaType: "image/gif", extensions: []string{"gif"}, quality: QualityGIF},
	{format: APNG, bounded: true, mediaType: "image/apng", extensions: []string{"apng", "png"}},
	{format: WebP, bounded: true, mediaType: "image/webp", extensions: []string{"webp"}, quality: QualityWebP},
	{format: AVIF, bounded: true, mediaType: "image/avif", extensions: []string{"avif"}, quality: QualityVideo},
	{format: WebM, bounded: true, mediaType: "video/webm", extensions: []string{"webm"}, video: true, sound: true, quality: QualityVideo},
	{format: MP4, bounded: true, mediaType: "video/mp4", extensions: []string{"mp4"}, opaque: true, video: true, sound: true, quality: QualityVideo},
	{format: MOV, mediaType: "video/quicktime", extensions: []string{"mov"}, video: true, sound: true},
	{format: Stacked, mediaType: "video/mp4", extensions: []string{"mp4"}, suffix: "-stacked", video: true, sound: true, quality: QualityVideo},
	{format: HEVC, mediaType: "video/quicktime", extensions: []string{"mov"}, suffix: "-hevc", video: true, sound: true, quality: QualityVideo, apple: true},
	{format: PNG, bounded: true, mediaType: "image/png", extensions: []string{"png"}, still: true},
}

// Formats are all formats, the default first.
func Formats() []Format { return formatsThat(func(facts) bool { return true }) }

// ServiceFormats are the formats that a service makes, the default first: those that hold a clip
// and can be made everywhere.
func ServiceFormats() []Format {
	return formatsThat(func(f facts) bool { return !f.still && !f.apple })
}

func formatsThat(are func(facts) bool) (all []Format) {
	for _, f := range formats {
		if are(f) {
			all = append(all, f.format)
		}
	}
	return all
}

// FormatFor is what the empty Format stands for: PNG for one picture, GIF for a clip.
func FormatFor(still bool) Format {
	if still {
		return PNG
	}
	return GIF
}

// FormatOf is the format of a file name's extension, the first in order of several: a
// clip named .png is an APNG.
func FormatOf(path string) (Format, bool) {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	for _, f := range formats {
		if slices.Contains(f.extensions, ext) {
			return f.format, true
		}
	}
	return "", false
}

// facts are those of the format. An unknown one, which an older or newer program
// may have stored, is a file that nothing is known of, and never the default.
func (f Format) facts() facts {
	for _, known := range formats {
		if known.format == f || f == "" {
			return known
		}
	}
	return facts{format: f, mediaType: "application/octet-stream", extensions: []string{string(f)}}
}

// OutputName is the default name of an output: its stem, "-nobg" and the extension.
// Those of Stacked and HEVC are marked, because their extension is another format's.
func (f Format) OutputName(stem string) string {
	return stem + "-nobg" + f.facts().suffix + "." + f.Extension()
}

// IsOutputStem reports whether a file's name without its extension ends as those of
// OutputName do. Case does not matter.
func IsOutputStem(stem string) bool {
	stem = strings.ToLower(stem)
	return slices.ContainsFunc(formats, func(f facts) bool { return strings.HasSuffix(stem, "-nobg"+f.suffix) })
}

// Extension is the extension of the format's files, without the dot.
func (f Format) Extension() string { return f.facts().extensions[0] }

// MediaType is the format's Content-Type.
func (f Format) MediaType() string { return f.facts().mediaType }

// Opaque reports whether the format has no transparency.
func (f Format) Opaque() bool { return f.facts().opaque }

// Video reports whether browsers play the format as a video, and not as a
// picture.
func (f Format) Video() bool { return f.facts().video }

// Still reports whether the format holds one picture only.
func (f Format) Still() bool { return f.facts().still }

// Sound reports whether the format can have sound.
func (f Format) Sound() bool { return f.facts().sound }

// Quality is the Quality that 0 stands for; it is 0 where the format has only one.
func (f Format) Quality() int { return f.facts().quality }

// Bounded reports whether a MaxSize can be kept with the format.
func (f Format) Bounded() bool { return f.facts().bounded }

func boundedFormats() string {
	var all []string
	for _, f := range formats {
		if f.bounded {
			all = append(all, string(f.format))
		}
	}
	return strings.Join(all, ", ") + " only"
}
