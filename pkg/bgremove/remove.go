package bgremove

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"runtime"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/media/sequence"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/internal/scene"
)

// Result describes the finished work. Frames, Width, Height and Duration are
// those of the output; a Stacked one is twice as high as its picture.
type Result struct {
	Input        string  `json:"input"`
	Output       string  `json:"output"`
	Method       Method  `json:"method"` // the one used
	Reason       string  `json:"reason"` // why it was chosen
	Model        string  `json:"model"`  // empty with Fast
	Device       string  `json:"device"` // where the matte was computed
	Frames       int     `json:"frames"`
	Width        int     `json:"width"`
	Height       int     `json:"height"`
	Duration     float64 `json:"duration"` // seconds, to the millisecond
	InputSize    int64   `json:"inputSize"`
	OutputSize   int64   `json:"outputSize"`
	OutputFormat Format  `json:"outputFormat"`
	// Placement is which part of the input is where in the output.
	Placement Placement `json:"placement"`
	// FrameRate is how many numbered pictures are to be shown a second; 0 for other
	// outputs.
	FrameRate float64 `json:"frameRate,omitempty"`
	// DroppedFrames were left out for the frame rate, TrimmedFrames at idle
	// ends.
	DroppedFrames int `json:"droppedFrames"`
	TrimmedFrames int `json:"trimmedFrames"`
	// Timings are seconds by stage: "total" on the clock, the others busy
	// time, added up over all cores.
	Timings map[string]float64 `json:"timings"`
	// Quality is how it looks.
	Quality Quality `json:"quality"`
	// Matte is the matte beside the output, if one was written.
	Matte *Matte `json:"matte,omitempty"`
	// Sheet is the sprite sheet, if one was written.
	Sheet *Sheet `json:"sheet,omitempty"`
	// Fit is what a MaxSize cost, or nil without one.
	Fit *Fitted `json:"fit,omitempty"`
	// Notes explain deviations from the request or from the expected result.
	Notes []Note `json:"notes,omitempty"`
}

// Placement maps pixels of the upright input to the output: Window is drawn
// onto Target, the same in all frames. A player needs it to lay one over the
// other.
type Placement struct {
	Window Box `json:"window"` // of the input; with padding it may reach beyond
	Target Box `json:"target"` // of the output
	// Start is when the output's first frame begins in the input, in seconds after the
	// input's first frame: above 0 where Start or Trim left some out.
	Start float64 `json:"start"`
}

// Box is a rectangle of a picture, in pixels.
type Box struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

func boxOf(r image.Rectangle) Box { return Box{X: r.Min.X, Y: r.Min.Y, Width: r.Dx(), Height: r.Dy()} }

// Progress counts the frames of all passes over a clip.
type Progress struct {
	Pass, Passes  int // from 1
	Frame, Frames int // of this pass; Frames is an estimate
}

// Extras of a single removal, which Options, being data, cannot hold. The zero
// value asks for none.
type Extras struct {
	// Overwrite replaces an output that exists.
	Overwrite bool
	// Sheet is the path of a sprite sheet that is written too, which ends in .png; its
	// data lies beside it, with the extension .json. Further pages have "-1" and so on
	// before the extension. All files appear together.
	Sheet string
	// Matte is the path of a clip that is written too: the output's transparency as grey,
	// black for none and white for full, with the same frames and size, in the format of
	// its extension. What stands behind the subject is not in it. Both appear together.
	// An MP4 then needs nothing behind the subject, and holds colours that are not
	// mixed with anything.
	Matte string
	// Numbered takes %04d or the like in the names of the output and the Matte for a number: each frame
	// becomes a PNG or WebP of its own, from 1 on. They have no times, see
	// Result.FrameRate; with Options.FPS they are that many a second, and frames are
	// repeated. All files appear together.
	Numbered bool
	// Preview, if set, receives the first output frame that shows something,
	// and the source laid out alike. The pictures are its own to keep.
	Preview func(before, after *image.NRGBA)
	// FirstCut, if set, receives the first cut-out that shows something, long
	// before Preview where the clip is gone through twice: then it has the
	// size of the input, neither cropped nor scaled. The picture is its own to
	// keep.
	FirstCut func(*image.NRGBA)
	// Progress, if set, is called after every frame, from one goroutine at a
	// time.
	Progress func(Progress)
}

// Remove writes the clip at input to output without its background. The input
// may also be numbered pictures, shown at Options.FPS: a folder, or a pattern such as
// f%04d.png. With
// MP4 and a transparent background the output gets the extension .gif, see
// Options.EffectiveFormat; Result.Output names it. The output appears when it
// is complete; after an error, or when ctx ends, there is none, and no child
// process is left. Without an output only the sheet of the Extras is written.
func (r *Remover) Remove(ctx context.Context, input, output string, o Options, x Extras) (*Result, error) {
	if err := Validate(o); err != nil {
		return nil, err
	}
	o = o.WithPreset()
	if err := checkExtras(o, x); err != nil {
		return nil, err
	}
	if output == "" && x.Sheet != "" {
		o.Format = APNG // the sheet has its frames
	}
	j := &removal{Remover: r, options: o, extras: x, began: time.Now(), timings: map[string]float64{}}
	result, err := j.run(ctx, input, output)
	if err != nil {
		return nil, ended(ctx, explain(input, err))
	}
	return result, nil
}

// removal is the state of one Remove.
type removal struct {
	*Remover
	options Options
	extras  Extras
	began   time.Time
	timings map[string]float64
	notes   []Note
	behind  scene.Scene // nil where that is a colour of the canvas, or nothing
	matte   Format      // of Extras.Matte
}

func (j *removal) run(ctx context.Context, inputPath, outputPath string) (*Result, error) {
	j.preload()
	in, err := j.look(ctx, inputPath)
	if err != nil {
		return nil, err
	}
	if outputPath, err = j.settle(ctx, in, inputPath, outputPath); err != nil {
		return nil, err
	}
	hints, err := j.hints(j.options, in.clip.Info())
	if err != nil {
		return nil, err
	}
	files, err := j.createAll(in, inputPath, outputPath)
	if err != nil {
		return nil, err
	}
	defer files.discard()
	defer j.expect(ctx, in.clip)()
	chosen, err := timing(j, "look", func() (*choice, error) { return j.choose(ctx, in.clip, j.options, hints) })
	if err != nil {
		return nil, j.missingCodec(ctx, in.clip, err)
	}
	defer chosen.estimator.Close()
	if chosen.note != nil {
		j.notes = append(j.notes, *chosen.note)
	}
	out, err := j.write(ctx, in, files, chosen)
	if err != nil {
		return nil, j.missingCodec(ctx, in.clip, err)
	}
	quality := assessQuality(out.report.Quality, chosen.cutBefore)
	if j.options.Strict && len(quality.Warnings) > 0 {
		return nil, quality.strictError(inputPath)
	}
	if err := j.checkPreset(ctx, out); err != nil {
		return nil, err
	}
	size, err := files.commit()
	if err != nil {
		return nil, err
	}
	result := j.result(inputPath, outputPath, in, chosen, out.report, size)
	result.Quality, result.Fit = quality, out.fit
	files.report(result)
	return result, nil
}

// look opens the input, or the frame of it that is asked for.
func (j *removal) look(ctx context.Context, path string) (*input, error) {
	in, err := timing(j, "probe", func() (*input, error) { return j.openAt(ctx, path, j.options.FPS) })
	if err != nil {
		return nil, err
	}
	if in.clip.Info().Truncated {
		return nil, &Error{Kind: Unreadable, Cause: InputTruncated, Path: path, Reason: "the file is truncated"}
	}
	in.clip, err = j.chooseFrame(path, in.clip)
	return in, err
}

// expect has the first pass over the clip started while the method is chosen. It returns
// what ends it if there is none.
func (j *removal) expect(ctx context.Context, clip media.Clip) (stop func()) {
	if c, ok := clip.(*ffmpeg.Clip); ok {
		return c.Expect(ctx, media.ReadOptions{From: j.options.Start, To: j.options.End})
	}
	return func() {}
}

// settle decides what the options leave open, with the input known, and refuses what does
// not go together. It returns the output's path.
func (j *removal) settle(ctx context.Context, in *input, inputPath, outputPath string) (string, error) {
	if err := j.settleFormat(inputPath, outputPath, in.clip.Info()); err != nil {
		return "", err
	}
	j.cutToPreset(in.clip.Info())
	outputPath, err := j.fallBack(inputPath, outputPath)
	if err != nil {
		return "", err
	}
	if reason := j.replaces(outputPath, j.reads(in, inputPath)); reason != "" {
		return "", &Error{Kind: Invalid, Cause: OutputIsInput, Field: "output", Path: outputPath, Reason: reason}
	}
	if err := j.settleMatte(in, inputPath, outputPath); err != nil {
		return "", err
	}
	if err := j.checkSound(inputPath, in.clip.Info()); err != nil {
		return "", err
	}
	if err := checkRoom(j.options); err != nil {
		return "", err
	}
	j.behind, err = j.scene(ctx, j.options)
	return outputPath, err
}

// missingCodec blames what this ffmpeg does not have of the decoders and filters that
// the clip needs, and of picture encoders, for its failure.
func (j *removal) missingCodec(ctx context.Context, clip media.Clip, err error) error {
	if !errors.As(err, new(*ffmpeg.Error)) {
		return err
	}
	var needed []string
	if f, ok := clip.(frameClip); ok {
		clip = f.Clip
	}
	if c, ok := clip.(*ffmpeg.Clip); ok {
		needed = c.Needs()
	}
	for _, f := range []Format{j.format(), j.matte} {
		if encoder := map[Format]string{WebP: "libwebp", AVIF: "libaom-av1", WebM: "libvpx-vp9", MP4: "libx264", Stacked: "libx264", MOV: "prores_ks", HEVC: ffmpeg.AppleHEVC}[f]; encoder != "" {
			needed = append(needed, encoder)
		}
	}
	tools, e := j.ffmpeg(ctx)
	if e != nil || len(needed) == 0 {
		return err
	}
	have, e := tools.Codecs(ctx, needed...)
	if e != nil {
		return err
	}
	for _, name := range needed {
		if !have[name] {
			return noCodec(name, err)
		}
	}
	return j.missingSound(ctx, tools, clip, err)
}

// noCodec is the error of an ffmpeg that was built without a decoder, encoder or
// filter.
func noCodec(name string, err error) error {
	e := &Error{Kind: Missing, Cause: NoCodec, Name: name, Reason: "this ffmpeg has no " + name, Err: err}
	if name == ffmpeg.AppleHEVC && runtime.GOOS != "darwin" {
		e.Cause, e.Reason = NotMacOS, fmt.Sprintf("this ffmpeg has no %s, which only macOS has", name)
	}
	return e
}

// fallBack gives an output that another format is written to its name, unless that
// is the input's.
func (j *removal) fallBack(input, path string) (string, error) {
	note, ok := FallBack(j.options)
	if !ok || j.format() == j.options.Format {
		return path, nil
	}
	j.notes = append(j.notes, note)
	effective := EffectivePath(path, j.options)
	if effective != path && sameFile(input, effective) {
		return "", &Error{Kind: Invalid, Cause: FallbackIsInput, Field: "output", Path: effective,
			Reason: fmt.Sprintf("would be the input itself, since %s has no transparency and a gif is written instead", j.options.Format)}
	}
	return effective, nil
}

// sameFile reports whether two paths name one file that exists.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (j *removal) result(inputPath, outputPath string, in *input, c *choice, report pipeline.Report, size int64) *Result {
	for stage, busy := range report.Busy {
		j.timings[stage] = busy.Seconds()
	}
	j.timings["total"] = time.Since(j.began).Seconds()
	width, height := report.Layout.Size.X, report.Layout.Size.Y
	if j.options.Format == Stacked {
		height *= 2
		if !j.options.Transparent() {
			j.notes = append(j.notes, Note{Code: MatteWhite, Field: "outputFormat", Message: "stacked has a white matte, since nothing is transparent; mp4 is half as high"})
		}
	}
	if report.Empty && j.options.Crop {
		j.notes = append(j.notes, Note{Code: NotCropped, Message: "no subject was found in any frame; the clip is not cropped"})
	}
	if in.pictures != nil && j.options.FPS == 0 {
		j.notes = append(j.notes, Note{Code: RateAssumed, Field: "fps", Message: fmt.Sprintf("is not given: the pictures are shown at %d a second", sequence.DefaultRate)})
	}
	j.notes = append(j.notes, j.setting(in, c, outputPath).unused()...)
	if o, whole := j.options, in.clip.Info().Frames; o.Start == 0 && o.End == 0 {
		if missing := whole - report.Frames - report.Dropped - report.Trimmed - report.Cut; missing > 0 {
			j.notes = append(j.notes, Note{Code: FramesLost, Frames: missing, Message: fmt.Sprintf("%d of %d frames could not be decoded", missing, whole)})
		}
	}
	return &Result{
		Input: inputPath, Output: outputPath, Method: c.method, Reason: c.reason, Model: c.model, Device: c.device,
		Frames: report.Frames, Width: width, Height: height, Duration: milliseconds(report.Duration),
		InputSize: in.size, OutputSize: size, OutputFormat: j.format(),
		Placement:     Placement{boxOf(report.Layout.Window), boxOf(report.Layout.Target), milliseconds(report.Start)},
		DroppedFrames: report.Dropped, TrimmedFrames: report.Trimmed, Timings: j.timings, Notes: j.notes,
	}
}

// timing notes how long f takes.
func timing[T any](j *removal, stage string, f func() (T, error)) (T, error) {
	began := time.Now()
	v, err := f()
	j.timings[stage] = time.Since(began).Seconds()
	return v, err
}
