package bgremove

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/sequence"
	"github.com/bgremove/bgremove/internal/sheet"
)

// WrittenFormat is the format that Remove writes of an input where the options are
// these. Where they leave it open, the input is looked at; it need not exist.
func WrittenFormat(input string, o Options) Format {
	return o.FormatFor(o.Format == "" && isPicture(input))
}

// HasFile reports whether a path is that of an input or an output, or of one of its numbered
// pictures. An output's pictures need not exist.
func HasFile(place, path string) bool {
	if p, ok := sequence.ParsePattern(place); ok && HasNumber(place) && isOneOf(p, place, path) {
		return true
	}
	if !sequence.Is(place) {
		return samePath(place, path) || sameFile(place, path)
	}
	return slices.ContainsFunc(Pictures(place), func(picture string) bool { return sameFile(picture, path) })
}

// HasPage reports whether a path is that of a further page of a sprite sheet, of which there
// may be any number.
func HasPage(sheetPath, path string) bool {
	ext := filepath.Ext(sheetPath)
	number, ok := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), ext), strings.TrimSuffix(filepath.Base(sheetPath), ext)+"-")
	page, err := strconv.Atoi(number)
	return ok && err == nil && page > 0 && HasFile(sheet.PageName(sheetPath, page), path)
}

// Pictures are the files of an input that is numbered pictures, in their order. There are none
// where it is another, or something is wrong with them.
func Pictures(input string) []string {
	if !sequence.Is(input) {
		return nil
	}
	pictures, _ := sequence.Find(input) // what is wrong is told when they are read
	return pictures
}

// isPicture reports whether a file's head is that of one picture.
func isPicture(path string) bool {
	f, err := openInput(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return media.Still(f)
}

// settleFormat decides what the options leave open of the format, and refuses one that
// does not hold the input.
func (j *removal) settleFormat(input, output string, info media.Info) error {
	o := &j.options
	if o.Format == "" {
		o.Format = o.FormatFor(info.Still)
	}
	numbered := j.extras.numbers(output)
	if (info.Still || numbered) && o.Format == APNG && strings.EqualFold(filepath.Ext(output), "."+PNG.Extension()) {
		o.Format = PNG // the name stands for both
	}
	switch {
	case numbered && (o.Format == PNG || o.Format == WebP):
	case numbered:
		return &Error{Kind: Invalid, Cause: BadPattern, Path: output, Field: "outputFormat", Name: string(o.Format),
			Reason: fmt.Sprintf("must be png or webp, not %s: numbered pictures are one file a frame", o.Format)}
	case info.Still && o.Format.Video():
		return &Error{Kind: Invalid, Cause: VideoOfPicture, Path: input, Field: "outputFormat", Name: string(o.Format),
			Reason: fmt.Sprintf("must not be %s, a video: the input is one picture", o.Format)}
	case o.Format.Still() && info.Frames > 1:
		return &Error{Kind: Invalid, Cause: PictureOfClip, Path: input, Field: "outputFormat", Name: string(o.Format),
			Reason: fmt.Sprintf("must not be %s, one picture: the input is a clip of %d frames", o.Format, info.Frames)}
	}
	return nil
}
