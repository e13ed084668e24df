package bgremove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/fit"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/internal/quant"
	"github.com/bgremove/bgremove/internal/system/outfile"
	"github.com/bgremove/bgremove/pkg/option"
)

// Fitted says what was given up for Options.MaxSize. Fields that are 0 gave up nothing.
type Fitted struct {
	Limit   int64   `json:"limit"`             // bytes
	Encodes int     `json:"encodes"`           // of the whole clip
	Quality int     `json:"quality,omitempty"` // in place of the one that was asked for
	Colours int     `json:"colours,omitempty"` // at most, in a palette
	FPS     float64 `json:"fps,omitempty"`     // at most
	Scale   float64 `json:"scale,omitempty"`   // of each side
	Length  float64 `json:"length,omitempty"`  // seconds that are left
}

const (
	// soundRate is a guess at the size of a second of sound, in bytes.
	soundRate = 16_000
	// maxSample is the most time that a sample shows, and minSampleFrames the fewest
	// frames that it has.
	maxSample       = 3 * time.Second
	minSampleFrames = 4
)

// written is an output that waits for its name.
type written struct {
	file   *outfile.File // nil for numbered pictures
	report pipeline.Report
	fit    *Fitted // nil without a MaxSize
	// before and after are for Extras.Preview, where several encodes have made one.
	before, after *image.NRGBA
}

// write makes the outputs in their files. A clip that must keep within a size gets
// another file.
func (j *removal) write(ctx context.Context, in *input, files *outputs, c *choice) (written, error) {
	job, survey, err := j.job(in, c)
	if err != nil {
		return written{}, err
	}
	if j.options.MaxSize == 0 {
		job.Open = func(ctx context.Context, out pipeline.Output) (media.Sink, error) {
			return files.sink(ctx, out, func(to *target) (media.Sink, error) { return j.sink(ctx, to, in, j.options, 0, survey, out) })
		}
		if files.matte != nil {
			job.OpenMatte = func(ctx context.Context, out pipeline.Output) (media.Sink, error) {
				return files.openMatte(ctx, in, out)
			}
		}
		w := written{}
		if files.clip != nil {
			w.file = files.clip.file
		}
		w.report, err = pipeline.Run(ctx, job)
		return w, err
	}
	f := &fitting{removal: j, in: in, path: files.path, survey: survey}
	f.limits, _ = j.options.Preset.Limits()
	job.Keep, job.Renders, job.Preview = true, fit.MaxEncodes, nil
	if format := j.options.EffectiveFormat(); format == APNG || format == PNG {
		f.colours = new(quant.Histogram)
		job.Survey = func(img *image.NRGBA) { f.colours.AddPix(img.Pix) }
	}
	if f.prepared, err = pipeline.Prepare(ctx, job); err != nil {
		return written{}, err
	}
	defer f.prepared.Close()
	best, err := f.run(ctx)
	if err == nil {
		files.clip.discard()
		files.clip.file = best.file
	}
	return best, err
}

// fitting is the search for an output that keeps within a size. The clip is cut out
// once; the search only writes it several times.
type fitting struct {
	*removal
	in       *input
	path     string // of the output
	survey   *gif.Survey
	colours  *quant.Histogram // of an APNG
	limits   option.Limits    // of the preset
	prepared *pipeline.Prepared
	size     image.Point // with nothing given up
	tries    []written
}

func (f *fitting) run(ctx context.Context) (written, error) {
	var err error
	if f.size, err = f.prepared.Size(); err != nil {
		return written{}, err
	}
	space := f.space()
	got, err := fit.Search(ctx, space.Ladder(), f.options.MaxSize, fit.Encoders{Sample: f.sample, Whole: f.whole})
	for i, t := range f.tries {
		if err != nil || i != got.Encode {
			t.file.Discard()
		}
	}
	if large := (*fit.TooLargeError)(nil); errors.As(err, &large) {
		return written{}, f.tooLarge(large, space)
	}
	if err != nil {
		return written{}, err
	}
	best := f.tries[got.Encode]
	best.fit = &Fitted{Limit: f.options.MaxSize, Encodes: got.Encodes, Colours: got.Settings.Colours, FPS: hundredths(got.Settings.Rate),
		Length: milliseconds(got.Settings.Length)}
	if got.Settings.Quality != space.Quality {
		best.fit.Quality = got.Settings.Quality
	}
	if got.Settings.Scale != 1 {
		best.fit.Scale = hundredths(got.Settings.Scale)
	}
	if gaveUp := given(space, got.Settings); gaveUp != "" {
		f.notes = append(f.notes, Note{Code: GaveUp, Field: f.bound(), Message: "was kept with " + gaveUp})
	}
	if got.Settings.Rate == 0 && best.report.Dropped > 0 && (f.limits.MaxFrames > 0 || f.limits.MaxRate > 0) {
		f.notes = append(f.notes, Note{Code: FewerFrames, Frames: best.report.Dropped, Message: fmt.Sprintf(
			"frames left out, because preset %s takes no more: %d", f.limits.Name, best.report.Dropped)})
	}
	if f.extras.Preview != nil && best.after != nil {
		f.extras.Preview(best.before, best.after)
	}
	return best, nil
}

// bound is the option that bounds the size.
func (f *fitting) bound() string {
	if f.options.MaxSize == f.limits.MaxBytes {
		return "preset"
	}
	return "maxSize"
}

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }

// tooLarge is the error of a clip that does not fit.
func (f *fitting) tooLarge(e *fit.TooLargeError, space fit.Space) error {
	with := given(space, e.Settings)
	if with != "" {
		with = ", with " + with
	}
	return &Error{Kind: Failed, Cause: SizeNotReached, Field: "maxSize", Limit: strconv.FormatInt(e.Limit, 10),
		Reason: fmt.Sprintf("of %d bytes cannot be reached: the smallest output has %d%s", e.Limit, e.Smallest, with), Err: e}
}

// given is what settings give up, in words.
func given(s fit.Space, now fit.Settings) string {
	var all []string
	add := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(now.Quality != s.Quality, "quality %d", now.Quality)
	add(now.Colours > 0, "%d colours", now.Colours)
	add(now.Rate > 0, "%.3g frames a second", now.Rate)
	add(now.Scale != 1, "%.0f %% of the size", 100*now.Scale)
	add(now.Length > 0, "%.3g of %.3g seconds", now.Length.Seconds(), s.Length.Seconds())
	return strings.Join(all, ", ")
}

// space is what may be given up. A canvas that was asked for is kept.
func (f *fitting) space() fit.Space {
	o := f.options
	s := fit.Space{Quality: cmp.Or(o.Quality, o.EffectiveFormat().Quality()), Length: f.length(0)}
	switch o.EffectiveFormat() {
	case GIF:
		s.Colours = 256
	case APNG, PNG:
		s.Quality, s.Colours = 0, 366 // all that there are; the first step leaves 256
	}
	if o.CanvasW == 0 && o.CanvasH == 0 {
		before, after := rim(o).Margins()
		margins := before.Add(after)
		s.Side = max(0, min(f.size.X-4*margins.X, f.size.Y-4*margins.Y)) // a quarter still has room
	}
	if f.prepared.Frames() > 1 { // one picture has no rate to give up
		s.Rate = f.rate(s.Length)
	}
	return s
}

// rate is how many frames a second the output may have, of a length.
func (f *fitting) rate(length time.Duration) float64 {
	rate := float64(f.prepared.Frames()) / max(f.prepared.Length().Seconds(), 0.001)
	if f.limits.MaxRate > 0 {
		rate = min(rate, f.limits.MaxRate)
	}
	if f.limits.MaxFrames > 0 {
		rate = min(rate, float64(f.limits.MaxFrames)/max(length.Seconds(), 0.001))
	}
	return rate
}

// length is how much of the clip is written, at most that much; 0 is no limit.
func (f *fitting) length(atMost time.Duration) time.Duration {
	all := f.prepared.Length()
	for _, limit := range []time.Duration{atMost, f.limits.Duration()} {
		if limit > 0 {
			all = min(all, limit)
		}
	}
	return all
}

// variant is the clip with some settings.
func (f *fitting) variant(s fit.Settings) pipeline.Variant {
	v := pipeline.Variant{MaxFrames: f.limits.MaxFrames, Gap: time.Duration(f.limits.MinFrame) * time.Millisecond}
	for _, rate := range []float64{s.Rate, f.limits.MaxRate} {
		if rate > 0 {
			v.Gap = max(v.Gap, time.Duration(float64(time.Second)/rate))
		}
	}
	if length := f.length(s.Length); length < f.prepared.Length() {
		v.Length = length
	}
	if s.Scale != 1 {
		side := func(n int) int { return max(int(math.Round(s.Scale*float64(n))), 1) }
		v.Size = image.Pt(side(f.size.X), side(f.size.Y))
	}
	return v
}

// sample predicts the size of the output with some settings.
func (f *fitting) sample(ctx context.Context, s fit.Settings) (int64, error) {
	v := f.variant(s)
	v.Sample = sampleOf(f.length(s.Length), f.prepared)
	t, err := f.render(ctx, s, v)
	if err != nil {
		return 0, err
	}
	defer t.file.Discard()
	size, err := fileSize(t.file)
	if err != nil {
		return 0, err
	}
	whole := float64(size) / f.prepared.Share(v)
	if f.keepsSound(f.in.clip.Info()) {
		whole += soundRate * f.length(s.Length).Seconds()
	}
	return int64(whole), nil
}

// sampleOf is which parts of a clip of some length are sampled: a third of it, and
// not more than a few seconds.
func sampleOf(length time.Duration, p *pipeline.Prepared) *pipeline.Sampling {
	span := min(length/3, maxSample)
	if few := p.Length() * minSampleFrames / time.Duration(p.Frames()); span < few {
		span = min(few, length)
	}
	return &pipeline.Sampling{Span: span, Parts: 1 + int(span/(1200*time.Millisecond))}
}

// whole writes the output with some settings and keeps it.
func (f *fitting) whole(ctx context.Context, s fit.Settings) (int64, error) {
	t, err := f.render(ctx, s, f.variant(s))
	if err != nil {
		return 0, err
	}
	f.tries = append(f.tries, t)
	return fileSize(t.file)
}

// render writes a variant into a file of its own.
func (f *fitting) render(ctx context.Context, s fit.Settings, v pipeline.Variant) (t written, err error) {
	o := f.options
	o.Quality = s.Quality
	if v.Sample != nil {
		o.NoAudio = true
	} else if f.extras.Preview != nil {
		v.Preview = func(before, after *image.NRGBA) { t.before, t.after = before, after }
	}
	if v.Length > 0 {
		o.End = o.Start + v.Length // where the sound ends, too
	}
	if t.file, err = create(f.path, f.extras.Overwrite); err != nil {
		return t, err
	}
	v.Open = func(ctx context.Context, out pipeline.Output) (media.Sink, error) {
		to := &target{format: f.format(), file: t.file, limit: f.config.ChildLimits.FileSize}
		sink, err := f.sink(ctx, to, f.in, o, s.Colours, f.survey, out)
		if err != nil || f.colours == nil || s.Colours == 0 {
			return sink, err
		}
		return newFewColours(sink, f.colours, s.Colours), nil
	}
	if t.report, err = f.prepared.Render(ctx, v); err != nil {
		t.file.Discard()
	}
	return t, err
}

// fileSize is a file's size by its name: an encoder may have replaced it.
func fileSize(f *outfile.File) (int64, error) {
	stat, err := os.Stat(f.Name())
	if err != nil {
		return 0, err
	}
	return stat.Size(), nil
}
