package option

import (
	"path/filepath"
	"slices"
	"strings"
)

// Input is a kind of file that is read. A file's content decides which; its name
// only makes a file of a folder an input.
type Input string

// The inputs.
const (
	InputGIF      Input = "gif"
	InputMP4      Input = "mp4"
	InputMOV      Input = "mov"
	InputWebM     Input = "webm"
	InputMatroska Input = "matroska"
	InputAVI      Input = "avi"
	InputPNG      Input = "png"
	InputJPEG     Input = "jpeg"
	InputWebP     Input = "webp"
	InputAVIF     Input = "avif"
	InputHEIF     Input = "heif"
)

// inputFacts are what is known of an input.
type inputFacts struct {
	input      Input
	mediaType  string
	extensions []string // with the dot, in lower case
	// service says that the service takes the content, and upload that it takes
	// files with the extensions: the API's specification fixes both.
	service, upload bool
}

// inputs are all kinds.
var inputs = []inputFacts{
	{InputGIF, "image/gif", []string{".gif"}, true, true},
	{InputMP4, "video/mp4", []string{".mp4"}, true, true},
	{InputMOV, "video/quicktime", []string{".mov"}, true, true},
	{InputWebM, "video/webm", []string{".webm"}, true, true},
	{InputMatroska, "video/x-matroska", []string{".mkv"}, true, false}, // WebM's own format, met under its name
	{InputMP4, "video/mp4", []string{".m4v"}, true, false},
	{InputAVI, "video/x-msvideo", []string{".avi"}, false, false},
	{InputPNG, "image/png", []string{".png", ".apng"}, false, false},
	{InputJPEG, "image/jpeg", []string{".jpg", ".jpeg"}, false, false},
	{InputWebP, "image/webp", []string{".webp"}, false, false},
	{InputAVIF, "image/avif", []string{".avif"}, false, false},
	{InputHEIF, "image/heic", []string{".heic", ".heif"}, false, false},
}

// InputExtensions are the extensions of all files that are read, with the dot.
func InputExtensions() []string { return extensionsOf(func(inputFacts) bool { return true }) }

// UploadExtensions are the extensions of the files that the service takes.
func UploadExtensions() []string { return extensionsOf(func(f inputFacts) bool { return f.upload }) }

// UploadTypes are the extensions and the media types of the files that the service
// takes, as the attribute accept of a form has them.
func UploadTypes() []string {
	all := UploadExtensions()
	for _, f := range inputs {
		if f.upload {
			all = append(all, f.mediaType)
		}
	}
	return all
}

// UploadExtension is the extension of the files of a media type that the service takes,
// or empty.
func UploadExtension(mediaType string) string {
	for _, f := range inputs {
		if f.upload && f.mediaType == mediaType {
			return f.extensions[0]
		}
	}
	return ""
}

func extensionsOf(has func(inputFacts) bool) (all []string) {
	for _, f := range inputs {
		if has(f) {
			all = append(all, f.extensions...)
		}
	}
	return all
}

// List is the parts in a sentence: "a, b or c".
func List(parts []string, conjunction string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + " " + conjunction + " " + parts[last]
}

// IsUpload reports whether the service takes a file of that name.
func IsUpload(name string) bool { return hasExtension(name, UploadExtensions()) }

// IsInput reports whether a file of that name is probably read.
func IsInput(name string) bool { return hasExtension(name, InputExtensions()) }

func hasExtension(name string, all []string) bool {
	return slices.Contains(all, strings.ToLower(filepath.Ext(name)))
}

// ServiceInputs are the contents that the service takes.
func ServiceInputs() (all []Input) {
	for _, f := range inputs {
		if f.service && !slices.Contains(all, f.input) {
			all = append(all, f.input)
		}
	}
	return all
}

// MediaType is the input's Content-Type.
func (i Input) MediaType() string {
	for _, f := range inputs {
		if f.input == i {
			return f.mediaType
		}
	}
	return "application/octet-stream"
}
