package scene

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/pkg/option"
)

// rounding is by how much a container may give a time too late.
const rounding = time.Millisecond / 2

// Clip is a clip, fitted to the canvas like a Picture. It begins with the frame at
// time 0, and again when it has ended. Behind each frame is the picture that the
// clip shows when the frame appears. The clip is read as it is needed, once for
// each time it plays. The error is for an unknown fit.
func Clip(c media.Clip, fit option.Fit) (Scene, error) {
	return clip{c, fit}, checkFit(fit)
}

type clip struct {
	media media.Clip
	fit   option.Fit
}

// Open starts a pass.
func (c clip) Open(_ context.Context, l canvas.Layout) (Pass, error) {
	return &clipPass{clip: c, size: l.Size}, nil
}

// clipPass reads one frame ahead of the one that is shown.
type clipPass struct {
	clip   clip
	size   image.Point
	src    media.Source  // nil before the clip begins and after it has ended
	began  time.Duration // when it began to play, this time
	end    time.Duration // of the frame that was read last, counted from began
	frames int           // that were read since
	shown  *clipShot
	next   *media.Frame // nil when src is
	fitter *fitter
}

// At returns the picture shown at a time.
func (p *clipPass) At(ctx context.Context, at time.Duration) (Shot, error) {
	at += rounding
	for {
		switch {
		case p.next != nil && p.began+p.next.PTS <= at:
			p.show(p.next)
			if err := p.read(ctx); err != nil {
				return nil, err
			}
		case p.next != nil || p.shown != nil && (p.frames == 1 || p.end <= 0 || p.began+p.end > at):
			return p.shown, nil
		default:
			if err := p.begin(ctx, at); err != nil {
				return nil, err
			}
		}
	}
}

// begin plays the clip from its beginning: at first, and when it has ended, as
// often as it has played by the time that is wanted.
func (p *clipPass) begin(ctx context.Context, at time.Duration) (err error) {
	if p.shown != nil {
		p.began += p.end * ((at - p.began) / p.end)
	}
	if p.src, err = p.clip.media.Open(ctx, media.ReadOptions{}); err != nil {
		return fmt.Errorf("open the clip: %w", err)
	}
	p.end, p.frames = 0, 0
	if err := p.read(ctx); err != nil {
		return err
	}
	if p.next == nil {
		return errors.New("the clip has no frames")
	}
	return nil
}

// read reads the next frame; after the last one there is none.
func (p *clipPass) read(ctx context.Context) error {
	f, err := p.src.Next(ctx)
	if errors.Is(err, io.EOF) {
		p.next = nil
		return p.Close()
	}
	if err != nil {
		return err
	}
	if p.frames == 0 {
		f.PTS = 0 // it is behind from the start on
	}
	p.next, p.end = f, f.PTS+f.Duration
	p.frames++
	return nil
}

func (p *clipPass) show(f *media.Frame) {
	if source := f.Image.Rect.Size(); p.fitter == nil || p.fitter.source != source {
		p.fitter = newFitter(p.clip.fit, source, p.size)
	}
	p.shown = &clipShot{fitter: p.fitter, raw: f.Image}
}

// Close ends the reading of the clip.
func (p *clipPass) Close() error {
	if p.src == nil {
		return nil
	}
	_ = p.src.Close() // nothing was written, and what could not be read Next has said
	p.src = nil
	return nil
}

// clipShot is one picture of a clip, fitted by the first frame that needs it.
type clipShot struct {
	fitter *fitter
	once   sync.Once
	raw    *image.NRGBA
	still  *still
}

func (s *clipShot) See(*image.NRGBA, *image.Alpha) {}

func (s *clipShot) Light() *Light { return s.fitted().Light() }

func (s *clipShot) Under(img *image.NRGBA) { s.fitted().Under(img) }

func (s *clipShot) fitted() *still {
	s.once.Do(func() { s.still, s.raw = &still{img: s.fitter.fit(s.raw)}, nil })
	return s.still
}
