package bgremove

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// frameSearch is how long before the time the search for the frame begins that is
// shown then. Where none begins in that span, the search goes further back.
const frameSearch = time.Second

// chooseFrame makes a clip of the one picture that Options.Frame asks for.
func (j *removal) chooseFrame(path string, clip media.Clip) (media.Clip, error) {
	if j.options.Frame == nil {
		return clip, nil
	}
	at, info := *j.options.Frame, clip.Info()
	wrong := &Error{Kind: Invalid, Path: path, Field: "frame"}
	switch {
	case info.Still && at > 0:
		wrong.Reason = "must be 0: the input is one picture"
		return nil, wrong
	case info.Still:
		return clip, nil
	case at > 0 && at >= info.Duration:
		wrong.Reason = fmt.Sprintf("must be before the clip's end, which is at %g s", milliseconds(info.Duration))
		return nil, wrong
	}
	return frameClip{clip, at}, nil
}

// frameClip is the frame of a clip that is shown at a time, as a clip of one picture.
type frameClip struct {
	media.Clip
	at time.Duration
}

// Info describes the picture.
func (c frameClip) Info() media.Info {
	i := c.Clip.Info()
	i.Still, i.Frames, i.Duration, i.LastFrame, i.SeekCost = true, 1, 0, 0, 0
	i.HasAudio, i.AudioCodec = false, ""
	return i
}

// Open starts a pass.
func (c frameClip) Open(_ context.Context, o media.ReadOptions) (media.Source, error) {
	return media.Single(func(ctx context.Context) (*image.NRGBA, error) { return c.read(ctx, o.Pool) }), nil
}

// read gives the picture. It reads at most one frame behind it.
func (c frameClip) read(ctx context.Context, pool *media.Pool) (*image.NRGBA, error) {
	for back := frameSearch; ; back *= 8 {
		from := max(0, c.at-back)
		f, err := c.find(ctx, from, pool)
		switch {
		case err != nil:
			return nil, err
		case f != nil:
			return f.Image, nil
		case from == 0:
			return nil, io.EOF
		}
	}
}

// find is the last frame from a time on that has begun when it is to be shown, or nil. From
// the beginning on it is the first frame if none has begun: what is before may be lost.
func (c frameClip) find(ctx context.Context, from time.Duration, pool *media.Pool) (last *media.Frame, err error) {
	end := c.at + media.TimeTolerance
	o := media.ReadOptions{From: from, Pool: pool}
	if from > 0 {
		o.To = end + media.TimeTolerance
	}
	src, err := c.Clip.Open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("open the clip: %w", err)
	}
	defer src.Close()
	for {
		f, err := src.Next(ctx)
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return nil, err
		}
		switch late := f.PTS > end; {
		case late && last == nil && from == 0:
			return f, nil
		case late:
			pool.Put(f.Image)
			return last, nil
		case last != nil:
			pool.Put(last.Image)
		}
		last = f
	}
}
