package bgremove

import (
	"context"
	"image"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// Matte describes the matte that was written beside an output.
type Matte struct {
	Output string `json:"output"`
	Format Format `json:"format"`
	Size   int64  `json:"size"` // bytes
}

// format is the format of the output. With a matte of its own an MP4 needs nothing
// behind the subject: its transparency is in the matte.
func (j *removal) format() Format {
	if j.extras.Matte != "" && j.options.Format == MP4 {
		return MP4
	}
	return j.options.EffectiveFormat()
}

// matteOptions are the options by which the matte is written.
func (j *removal) matteOptions() Options {
	o := j.options
	o.MaskOnly, o.NoAudio = true, true
	return o
}

// settleMatte finds the format of the matte by its name. It refuses one that does not hold
// the input, and a name that is in use.
func (j *removal) settleMatte(in *input, inputPath, outputPath string) error {
	path := j.extras.Matte
	if path == "" {
		return nil
	}
	format, ok := FormatOf(path)
	if !ok {
		return &Error{Kind: Invalid, Path: path, Reason: "the extension names no format of a matte"}
	}
	if reason := j.replaces(path, j.reads(in, inputPath)); reason != "" {
		return &Error{Kind: Invalid, Cause: OutputIsInput, Path: path, Reason: reason}
	}
	if samePath(path, outputPath) || j.extras.takes(path, outputPath) || j.extras.takes(outputPath, path) || j.extras.shareNames(path, outputPath) {
		return &Error{Kind: Invalid, Path: path, Reason: "named twice: the matte and the output need names of their own"}
	}
	apart := &removal{options: Options{Format: format}, extras: j.extras}
	if err := apart.settleFormat(inputPath, path, in.clip.Info()); err != nil {
		return err
	}
	j.matte = apart.options.Format
	return nil
}

// checkMatte refuses options that do not go with a matte.
func checkMatte(o Options, x Extras) error {
	wrong := &Error{Kind: Invalid, Reason: "does not go with a matte beside the output"}
	_, preset := o.Preset.Limits()
	switch {
	case x.Matte == "":
		return nil
	case x.Sheet != "":
		return &Error{Kind: Invalid, Path: x.Matte, Reason: "a matte is not written beside a sprite sheet"}
	case preset:
		wrong.Field = "preset"
	case o.MaxSize > 0:
		wrong.Field = "maxSize"
	case o.MaskOnly:
		wrong.Field = "maskOnly"
	default:
		return nil
	}
	return wrong
}

// openMatte opens the writer of the matte.
func (o *outputs) openMatte(ctx context.Context, in *input, out pipeline.Output) (media.Sink, error) {
	s, err := o.removal.sink(ctx, o.matte, in, o.matteOptions(), 0, greys(), out)
	if err != nil || o.matte.pattern == nil {
		return s, err
	}
	return o.pacer(s, out), nil
}

// greys is the survey of a clip that has each grey.
func greys() *gif.Survey {
	ramp := image.NewNRGBA(image.Rect(0, 0, 256, 1))
	for v := range 256 {
		copy(ramp.Pix[4*v:], []uint8{uint8(v), uint8(v), uint8(v), 255})
	}
	s := new(gif.Survey)
	s.Add(ramp)
	return s
}

// matteReport is what a result says of the matte; nil without one.
func (o *outputs) matteReport() *Matte {
	if o.matte == nil {
		return nil
	}
	return &Matte{Output: o.matte.path, Format: o.matte.format, Size: o.matte.size}
}
