package bgremove

import (
	"fmt"
	"slices"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/pkg/option"
)

// sampling is how the canvas scales.
func sampling(s Scale, pixelArt bool) (canvas.Sampling, error) {
	switch s {
	case ScaleNearest:
		return canvas.Nearest, nil
	case ScaleSmooth:
		return canvas.Smooth, nil
	case ScaleAuto, "":
		if pixelArt {
			return canvas.Crisp, nil
		}
		return canvas.Smooth, nil
	}
	return 0, fmt.Errorf("nothing does scale %s", s)
}

// timingOf is which frames are kept.
func timingOf(o Options, info media.Info) pipeline.Timing {
	t := pipeline.Timing{Start: o.Start, End: o.End, MaxRate: o.FPS}
	if info.Container == media.Pictures {
		t.MaxRate = 0 // it was the pictures' rate
	}
	return t
}

// job translates the options for the pipeline, all but Open. The survey is that of a
// GIF, else nil.
func (j *removal) job(in *input, c *choice) (pipeline.Job, *gif.Survey, error) {
	o, info, format := j.options, in.clip.Info(), j.format()
	backing, _ := option.ParseBackground(o.Background)
	if j.behind != nil {
		backing.Colour = nil
	}
	scaling, err := sampling(o.Scale, c.pixelArt)
	if err != nil {
		return pipeline.Job{}, nil, err
	}
	job := pipeline.Job{
		Clip: in.clip, Estimator: c.estimator, MaskOnly: o.MaskOnly, KeepColours: o.NoDecontaminate,
		Timing: timingOf(o, info),
		Tidy:   c.method == Rembg, Faint: keeps(o.Hints), Largest: o.Largest,
		Trim: j.trims(info),
		Canvas: canvas.Spec{Crop: o.Crop, Pad: o.Pad, Width: o.CanvasW, Height: o.CanvasH,
			Anchor: o.Anchor, Sampling: scaling, Rim: rim(o), Background: backing.Colour, Even: isEven(format) || isEven(j.matte)},
		Scene: j.behind, Harmonise: o.Harmonise,
		Preview: j.extras.Preview, FirstCut: j.extras.FirstCut, TempDir: j.config.TempDir, Workers: j.config.Workers, Memory: j.config.Memory,
	}
	if p := j.extras.Progress; p != nil {
		job.Progress = func(at pipeline.Progress) { p(Progress(at)) }
	}
	var survey *gif.Survey
	switch format {
	case GIF:
		survey = new(gif.Survey)
		job.Survey = survey.Add
	case AVIF, WebM, MP4, MOV, Stacked, HEVC:
		job.BleedReach = 4 // as far as chroma at half the resolution is interpolated
	}
	j.setLeastGap(&job.Timing, info.Container)
	return job, survey, nil
}

// setLeastGap has frames dropped that players would show for longer than they last, see
// media.Shown. The frames of animations last as long as they are shown.
func (j *removal) setLeastGap(t *pipeline.Timing, from media.Container) {
	writes := func(all ...Format) bool { return slices.Contains(all, j.format()) || slices.Contains(all, j.matte) }
	switch animation := from == media.GIF || from == media.PNG || from == media.WebP; {
	case writes(GIF) && from != media.GIF:
		t.MinGap, t.Unit = 20*time.Millisecond, 10*time.Millisecond
	case writes(APNG, WebP, AVIF) && !animation && !j.extras.Numbered:
		t.MinGap, t.Unit = 11*time.Millisecond, time.Millisecond
	}
}

// keeps reports whether hints say what is subject.
func keeps(hints []option.Hint) bool {
	return slices.ContainsFunc(hints, func(h option.Hint) bool { return h.Keep })
}

// isEven reports whether a format needs even sides.
func isEven(f Format) bool { return f == MP4 || f == Stacked || f == HEVC }
