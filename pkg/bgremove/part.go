package bgremove

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"os"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
	"github.com/bgremove/bgremove/internal/pipeline"
)

// Part is a part of a clip that is worked on by itself, perhaps on another machine. Split
// tells the parts. MattePart finds the mattes of one. RenderPart makes its video, once the
// boxes of all are known. JoinParts makes one file of the videos. All take the same Options.
type Part struct {
	Start time.Duration
	End   time.Duration // 0 is the clip's end
}

// partMargin is how much of the clip before and after a part is seen for its mattes, too.
const partMargin = 4 * time.Second

// Split divides a clip into parts of one length, which is at most the given one. There are
// none where the clip is not longer, or must be done as a whole: where the output is no
// video, method Fast is used, or an option needs all frames at once. The errors are those of
// Remove.
func (r *Remover) Split(ctx context.Context, input string, o Options, length time.Duration) ([]Part, error) {
	parts, err := r.split(ctx, input, o, length)
	return parts, ended(ctx, explain(input, err))
}

func (r *Remover) split(ctx context.Context, input string, o Options, length time.Duration) ([]Part, error) {
	j, in, err := r.lookAt(ctx, input, o)
	if err != nil || !j.splits(in) {
		return nil, err
	}
	parts := divide(Part{o.Start, o.End}, in.clip.Info().Duration, length)
	if len(parts) < 2 {
		return nil, nil
	}
	c, err := j.choose(ctx, in.clip, j.options, nil)
	if err != nil {
		return nil, err
	}
	if err := c.estimator.Close(); err != nil || c.method != Rembg {
		return nil, err
	}
	return parts, nil
}

// divide divides what is chosen of a clip.
func divide(chosen Part, clip, length time.Duration) (parts []Part) {
	end := clip
	if chosen.End > 0 {
		end = min(clip, chosen.End)
	}
	whole := end - chosen.Start
	n := max(1, (whole+length-1)/length)
	for i := range n {
		parts = append(parts, Part{(chosen.Start + whole*i/n).Truncate(time.Millisecond), (chosen.Start + whole*(i+1)/n).Truncate(time.Millisecond)})
	}
	parts[0].Start, parts[n-1].End = chosen.Start, chosen.End
	return parts
}

// splits reports whether parts of a clip can be done by themselves.
func (j *removal) splits(in *input) bool {
	o := j.options
	_, video := in.clip.(*ffmpeg.Clip)
	return video && o.Format.Video() && j.behind == nil && len(o.Hints) == 0 && o.Frame == nil &&
		o.FPS == 0 && o.MaxSize == 0 && !o.Largest && !o.Strict
}

// lookAt checks the options and opens the clip, for a part of it.
func (r *Remover) lookAt(ctx context.Context, path string, o Options) (*removal, *input, error) {
	if err := Validate(o); err != nil {
		return nil, nil, err
	}
	j := &removal{Remover: r, options: o.WithPreset(), began: time.Now(), timings: map[string]float64{}}
	j.preload()
	in, err := j.look(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if err := j.settleFormat(path, "", in.clip.Info()); err != nil {
		return nil, nil, err
	}
	if err := j.checkSound(path, in.clip.Info()); err != nil {
		return nil, nil, err
	}
	j.options.Format = j.format()
	j.behind, err = j.scene(ctx, j.options)
	return j, in, err
}

// partWork is what the work on a part needs.
type partWork struct {
	*removal
	in  *input
	c   *choice
	job pipeline.Job
}

// part begins the work on a part. The caller closes the estimator.
func (r *Remover) part(ctx context.Context, input string, o Options, p Part) (w partWork, err error) {
	o.Method, o.Start, o.End = Rembg, p.Start, p.End
	if w.removal, w.in, err = r.lookAt(ctx, input, o); err != nil {
		return w, err
	}
	if w.c, err = w.choose(ctx, w.in.clip, w.options, nil); err != nil {
		return w, err
	}
	if w.job, _, err = w.removal.job(w.in, w.c); err != nil {
		return w, errors.Join(err, w.c.estimator.Close())
	}
	return w, nil
}

// MattePart writes the mattes of a part to a file, for RenderPart, and returns where the subject is
// in all of its frames together: an empty Box if nowhere. firstCut may be nil, see Extras. The
// errors are those of Remove.
func (r *Remover) MattePart(ctx context.Context, input, file string, o Options, p Part, firstCut func(*image.NRGBA)) (Box, error) {
	box, err := r.mattePart(ctx, input, file, o, p, firstCut)
	return box, ended(ctx, explain(input, err))
}

func (r *Remover) mattePart(ctx context.Context, input, file string, o Options, p Part, firstCut func(*image.NRGBA)) (Box, error) {
	w, err := r.part(ctx, input, o, p)
	if err != nil {
		return Box{}, err
	}
	defer w.c.estimator.Close()
	w.job.Keep, w.job.Margin, w.job.FirstCut = true, partMargin, firstCut
	prepared, err := pipeline.Prepare(ctx, w.job)
	if err != nil {
		return Box{}, w.missingCodec(ctx, w.in.clip, err)
	}
	defer prepared.Close()
	to, err := os.Create(file)
	if err != nil {
		return Box{}, fmt.Errorf("mattes: %w", err)
	}
	return boxOf(prepared.Box()), errors.Join(prepared.Save(to), to.Close())
}

// Around is the smallest box around two; empty ones do not count.
func (b Box) Around(other Box) Box { return boxOf(b.rectangle().Union(other.rectangle())) }

func (b Box) rectangle() image.Rectangle {
	return image.Rect(b.X, b.Y, b.X+b.Width, b.Y+b.Height)
}

// RenderedPart is a part that RenderPart has written. It can be carried to another
// machine as JSON, all but the Path.
type RenderedPart struct {
	Path   string          `json:"-"` // of the video
	Report json.RawMessage `json:"report"`
}

// renderedReport is the Report of a RenderedPart.
type renderedReport struct {
	pipeline.Report
	Model, Device string
}

// RenderPart writes the video of a part, without sound, from its mattes. box is where the
// subject is in all parts together. The errors are those of Remove.
func (r *Remover) RenderPart(ctx context.Context, input, mattes, output string, o Options, p Part, box Box) (RenderedPart, error) {
	part, err := r.renderPart(ctx, input, mattes, output, o, p, box)
	return part, ended(ctx, explain(input, err))
}

func (r *Remover) renderPart(ctx context.Context, input, mattes, output string, o Options, p Part, box Box) (RenderedPart, error) {
	o.NoAudio = true
	w, err := r.part(ctx, input, o, p)
	if err != nil {
		return RenderedPart{}, err
	}
	defer w.c.estimator.Close()
	from, err := os.Open(mattes)
	if err != nil {
		return RenderedPart{}, fmt.Errorf("mattes: %w", err)
	}
	defer from.Close()
	prepared, err := pipeline.Restore(w.job, bufio.NewReader(from))
	if err != nil {
		return RenderedPart{}, err
	}
	defer prepared.Close()
	report, err := prepared.Render(ctx, pipeline.Variant{Box: box.rectangle(), Open: func(ctx context.Context, out pipeline.Output) (media.Sink, error) {
		tools, err := w.ffmpeg(ctx)
		if err != nil {
			return nil, err
		}
		return tools.NewSink(ctx, output, videoOptions(w.in, w.options.Format, w.options, out))
	}})
	if err != nil {
		return RenderedPart{}, w.missingCodec(ctx, w.in.clip, err)
	}
	text, err := json.Marshal(renderedReport{report, w.c.model, w.c.device})
	return RenderedPart{output, text}, err
}

// JoinParts makes the output of all parts of a clip, in order, and adds the sound.
// The Result is that of a Remove of the whole clip. It replaces an output that exists.
func (r *Remover) JoinParts(ctx context.Context, input, output string, o Options, parts []RenderedPart) (*Result, error) {
	result, err := r.joinParts(ctx, input, output, o, parts)
	if err != nil {
		return nil, ended(ctx, explain(input, err))
	}
	return result, nil
}

func (r *Remover) joinParts(ctx context.Context, input, output string, o Options, parts []RenderedPart) (*Result, error) {
	j, in, err := r.lookAt(ctx, input, o)
	if err != nil {
		return nil, err
	}
	reports, last := make([]pipeline.Report, len(parts)), renderedReport{}
	for i, p := range parts {
		if err := json.Unmarshal(p.Report, &last); err != nil {
			return nil, fmt.Errorf("part %d: %w", i+1, err)
		}
		reports[i] = last.Report
	}
	report := pipeline.Joined(reports)
	pieces, end := make([]ffmpeg.Piece, len(parts)), report.Start+report.Duration
	for i := len(parts) - 1; i >= 0; i-- {
		pieces[i] = ffmpeg.Piece{Path: parts[i].Path, Duration: end - reports[i].Start}
		end = reports[i].Start
	}
	file, err := create(output, true)
	if err != nil {
		return nil, err
	}
	defer file.Discard()
	tools, err := j.ffmpeg(ctx)
	if err != nil {
		return nil, err
	}
	out := pipeline.Output{Size: report.Layout.Size, First: report.Start, End: report.Duration, Workers: r.config.Workers}
	if err := tools.Concat(ctx, file.Name(), pieces, videoOptions(in, j.options.Format, j.options, out)); err != nil {
		return nil, j.missingCodec(ctx, in.clip, err)
	}
	size, err := file.Commit()
	if err != nil {
		return nil, err
	}
	c := &choice{method: Rembg, reason: "done in parts", model: last.Model, device: last.Device}
	result := j.result(input, output, in, c, report, size)
	result.Quality = assessQuality(report.Quality, false)
	return result, nil
}
