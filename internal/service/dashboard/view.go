package dashboard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/pkg/option"
)

// jobView is a job as pages show it.
type jobView struct {
	job.Job
	keepOutput   time.Duration // after its end
	withoutHints bool          // the service refuses them
	finish       string        // where the visitor may have the result written
}

func (v *visit) jobView(j job.Job) jobView {
	_, outputs := v.Jobs.Kept()
	view := jobView{Job: j, keepOutput: outputs, withoutHints: slices.Contains(v.Unguided, j.Options.Model)}
	if v.Finish != nil {
		view.finish = v.Finish.Output
	}
	return view
}

func (v *visit) views(jobs []job.Job) []jobView {
	all := make([]jobView, len(jobs))
	for i, j := range jobs {
		all[i] = v.jobView(j)
	}
	return all
}

func (j jobView) url(what string) string { return "/api/jobs/" + j.ID + "/" + what }

// The addresses of a job's files, which need the session.
func (j jobView) PreviewURL() string  { return j.url("preview") }
func (j jobView) DownloadURL() string { return j.url("download") }

// InputURL is empty once the input has expired.
func (j jobView) InputURL() string {
	if j.Input == nil {
		return ""
	}
	return j.url("input")
}

// Ended reports whether the state is final; Busy is the value of aria-busy.
func (j jobView) Ended() bool { return j.State.Ended() }
func (j jobView) Busy() bool  { return !j.Ended() }

// KeptUntil is when the result of a job that is done expires.
func (j jobView) KeptUntil() time.Time { return j.EndedAt.Add(j.keepOutput) }

// Repeatable reports whether another job can use the input.
func (j jobView) Repeatable() bool { return j.Input != nil && j.Media.FrameCount > 0 && j.Ended() }

// Choosable reports whether the subject can be chosen for another job, and Unchoosable
// whether it could be if the input were kept.
func (j jobView) Choosable() bool   { return j.Repeatable() && !j.withoutHints }
func (j jobView) Unchoosable() bool { return j.State == job.Done && j.Input == nil && !j.withoutHints }

// FinalOutput is where the visitor may have the result written; empty offers nothing.
func (j jobView) FinalOutput() string { return j.finish }

// formField is an option as a form has it.
type formField struct{ Name, Value string }

// OptionFields are the options for another job with hints, which method fast does not
// follow.
func (j jobView) OptionFields() ([]formField, error) {
	o := j.Options
	if o.Method == option.Fast {
		o.Method = option.Auto
	}
	o.Hints = nil
	text, err := json.Marshal(o)
	values := map[string]any{}
	if err := errors.Join(err, json.Unmarshal(text, &values)); err != nil {
		return nil, err
	}
	var all []formField
	for _, name := range job.OptionNames() {
		field := formField{Name: name}
		if v, given := values[name]; given {
			field.Value = fmt.Sprint(v)
		}
		all = append(all, field)
	}
	return all, nil
}

// The kinds of pictures as browsers know them: those for img and those for
// video, and videos with the matte below the colours.
func (j jobView) InputType() string { return kindOf(strings.HasPrefix(j.Media.Type, "image/")) }
func (j jobView) OutputType() string {
	if j.OutputFormat == option.Stacked {
		return "stacked"
	}
	return kindOf(!j.OutputFormat.Video())
}
func (j jobView) IsVideo() bool { return j.OutputFormat.Video() }

func kindOf(image bool) string {
	if image {
		return "image"
	}
	return "video"
}

// Size is the result's size in pixels if known, otherwise the original's.
func (j jobView) Size() image.Point {
	if p := j.Job.Placement; p != nil {
		return image.Pt(p.Width, p.Height)
	}
	return image.Pt(j.Media.Width, j.Media.Height)
}

// The largest size of a picture on a page.
const (
	shownWidth  = 880
	shownHeight = 460
)

// Shown is the size at which a page shows the result: large pictures are scaled
// to fit, and tiny ones enlarged. A preview has the original's proportions.
func (j jobView) Shown() image.Point {
	size := j.Size()
	if j.Output == nil {
		size = image.Pt(j.Media.Width, j.Media.Height)
	}
	if size.X < 1 || size.Y < 1 {
		return image.Pt(shownHeight, shownHeight)
	}
	scale := min(float64(shownWidth)/float64(size.X), float64(shownHeight)/float64(size.Y), 2)
	return image.Pt(max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale)))
}

// ResultSize is the result's size in words if known.
func (j jobView) ResultSize() string {
	if p := j.Job.Placement; p != nil {
		return fmt.Sprintf("%d×%d", p.Width, p.Height)
	}
	return ""
}

// Placement is JSON for the script that puts the original under the result;
// empty if unknown.
func (j jobView) Placement() (string, error) {
	if j.Job.Placement == nil {
		return "", nil
	}
	text, err := json.Marshal(j.Job.Placement)
	return string(text), err
}

// Price is what the job cost.
func (j jobView) Price() string {
	switch {
	case j.Charged == 0:
		return "no credits"
	case j.State.Refunded():
		return creditsText(j.Charged) + ", refunded"
	}
	return creditsText(j.Charged)
}

// Refund says how many credits of a job that is not done were refunded.
func (j jobView) Refund() string {
	if j.Charged == 0 {
		return ""
	}
	if j.Charged == 1 {
		return "Its credit was refunded."
	}
	return "Its " + creditsText(j.Charged) + " were refunded."
}

// OptionText is a line of the options that had an effect.
func (j jobView) OptionText() string {
	o := j.Options
	parts := []string{"method " + string(o.Method)}
	if o.Method != option.Rembg {
		parts = append(parts, fmt.Sprintf("tolerance %d", o.Tolerance))
	}
	if o.Crop {
		parts = append(parts, fmt.Sprintf("cropped with %d px of padding", o.Pad))
	} else {
		parts = append(parts, "not cropped")
	}
	if o.CanvasW > 0 || o.CanvasH > 0 {
		parts = append(parts, "canvas "+sideText(o.CanvasW)+"×"+sideText(o.CanvasH)+", "+string(o.Anchor))
	}
	parts = append(parts, cmp.Or(o.Background, o.BgColor)+" background")
	if o.Harmonise {
		parts = append(parts, "harmonised")
	}
	if o.Model != "" {
		parts = append(parts, "network "+o.Model)
	}
	if o.Outline != "" {
		parts = append(parts, "outline "+o.Outline)
	}
	if o.Shadow != "" {
		parts = append(parts, "shadow "+o.Shadow)
	}
	if o.Trim {
		parts = append(parts, "trimmed")
	}
	if o.FPS > 0 {
		parts = append(parts, fmt.Sprintf("at most %v frames a second", o.FPS))
	}
	if o.Start > 0 {
		parts = append(parts, fmt.Sprintf("from %v s on", o.Start))
	}
	if o.End > 0 {
		parts = append(parts, fmt.Sprintf("up to %v s", o.End))
	}
	if o.Quality > 0 {
		parts = append(parts, fmt.Sprintf("quality %d", o.Quality))
	}
	if o.Loop != nil {
		parts = append(parts, loopText(*o.Loop))
	}
	if o.Largest {
		parts = append(parts, "only the largest thing")
	}
	for _, h := range o.Hints {
		parts = append(parts, h.String())
	}
	if o.OutputFormat != j.OutputFormat {
		parts = append(parts, string(o.OutputFormat)+" requested, but it has no transparency")
	}
	return strings.Join(parts, " · ")
}

// loopText says how often an output plays.
func loopText(n int) string {
	switch n {
	case 0:
		return "plays for ever"
	case 1:
		return "plays once"
	}
	return fmt.Sprintf("plays %d times", n)
}

// sideText is one side of a canvas; 0 follows the other.
func sideText(pixels int) string {
	if pixels == 0 {
		return "…"
	}
	return fmt.Sprint(pixels)
}
