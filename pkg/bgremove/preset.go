package bgremove

import (
	"context"
	"fmt"
	"image"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/inspect"
	"github.com/bgremove/bgremove/internal/pipeline"
	"github.com/bgremove/bgremove/pkg/option"
)

// roundingTime is by how much the times of a file may be off that are rounded.
const roundingTime = 2 * time.Millisecond

// cutToPreset ends the chosen part where the preset's limit of time does. Of a clip
// that is trimmed only the pipeline knows where that is.
func (j *removal) cutToPreset(info media.Info) {
	l, ok := j.options.Preset.Limits()
	if !ok || l.MaxSeconds == 0 || j.options.End > 0 || j.trims(info) {
		return
	}
	if end := j.options.Start + l.Duration(); info.Duration > end {
		j.options.End = end
		j.noteCut(l)
	}
}

func (j *removal) noteCut(l option.Limits) {
	j.notes = append(j.notes, Note{Code: CutShort, Message: fmt.Sprintf("cut to %g s, the most that preset %s takes", l.MaxSeconds, l.Name)})
}

// trims reports whether idle ends are dropped.
func (j *removal) trims(info media.Info) bool {
	return j.options.Trim && info.Container == media.GIF
}

// checkPreset reads the finished output again and holds it to all limits of the
// preset.
func (j *removal) checkPreset(ctx context.Context, w written) error {
	l, ok := j.options.Preset.Limits()
	if !ok {
		return nil
	}
	if w.report.Cut > 0 && j.options.End == 0 && w.fit.Length == 0 {
		j.noteCut(l)
	}
	size, err := fileSize(w.file)
	if err != nil {
		return err
	}
	f, codec, sound, err := j.inspect(ctx, w.file.Name())
	if err != nil {
		return fmt.Errorf("read the output again: %w", err)
	}
	if broken := beyond(l, size, f, codec, sound, w.report); broken != "" {
		return &Error{Kind: Failed, Cause: PresetNotKept, Name: string(l.Name), Reason: fmt.Sprintf("the output does not keep within preset %s: %s", l.Name, broken)}
	}
	return nil
}

// inspect reads what a written file says of itself.
func (j *removal) inspect(ctx context.Context, path string) (f inspect.Facts, codec string, sound bool, err error) {
	if !j.options.EffectiveFormat().Video() {
		f, err = inspect.File(path)
		return f, "", false, err
	}
	head, _, err := readHead(path)
	if err != nil {
		return f, "", false, err
	}
	tools, err := j.ffmpeg(ctx)
	if err != nil {
		return f, "", false, err
	}
	clip, err := tools.Probe(ctx, path, media.Sniff(head), media.Limits{MaxSide: option.Canvas.Max})
	if err != nil {
		return f, "", false, err
	}
	info := clip.Info()
	f = inspect.Facts{Container: info.Container, Size: image.Pt(info.Width, info.Height), Frames: info.Frames, Duration: info.Duration}
	return f, info.Codec, info.HasAudio, nil
}

// beyond is the first limit that a file does not keep, in words, or empty.
func beyond(l option.Limits, size int64, f inspect.Facts, codec string, sound bool, r pipeline.Report) string {
	most := l.Duration() + roundingTime
	rate := float64(f.Frames) / max(f.Duration.Seconds(), 0.001)
	shortest := time.Duration(l.MinFrame) * time.Millisecond
	sides := l.CheckSides(f.Size.X, f.Size.Y)
	switch {
	case size > l.MaxBytes:
		return fmt.Sprintf("%d bytes, at most %d", size, l.MaxBytes)
	case sides != nil:
		return fmt.Sprintf("%d×%d pixels: a side %v", f.Size.X, f.Size.Y, sides)
	case f.Frames > r.Frames || f.Frames < r.Frames && f.Container != media.WebP: // which has one for several that are alike
		return fmt.Sprintf("%d frames, not the %d that were written", f.Frames, r.Frames)
	case l.MaxFrames > 0 && f.Frames > l.MaxFrames:
		return fmt.Sprintf("%d frames, at most %d", f.Frames, l.MaxFrames)
	case l.MaxSeconds > 0 && f.Duration > most:
		return fmt.Sprintf("%.3f s, at most %g", f.Duration.Seconds(), l.MaxSeconds)
	case l.MaxRate > 0 && f.Frames > 1 && rate > l.MaxRate+0.5:
		return fmt.Sprintf("%.1f frames a second, at most %g", rate, l.MaxRate)
	case f.Shortest > 0 && f.Shortest < shortest:
		return fmt.Sprintf("a frame of %v, at least %v", f.Shortest, shortest)
	case l.Codec != "" && codec != l.Codec:
		return fmt.Sprintf("codec %s, not %s", codec, l.Codec)
	case l.Silent && sound:
		return "it has sound"
	}
	return ""
}
