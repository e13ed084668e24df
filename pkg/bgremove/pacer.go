package bgremove

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// pacer is a sink before numbered pictures, which have no times. With a rate it repeats
// frames, so that the pictures are that many a second.
type pacer struct {
	media.Sink
	rate              float64       // 0 writes each frame once
	tolerance         time.Duration // by which a rounded time may be too early
	pool              *media.Pool
	pictures          int
	end               time.Duration
	shortest, longest time.Duration // of frames
}

// Write implements media.Sink.
func (p *pacer) Write(ctx context.Context, f *media.Frame) error {
	if p.pictures == 0 || f.Duration < p.shortest {
		p.shortest = f.Duration
	}
	p.longest = max(p.longest, f.Duration)
	p.end = f.PTS + f.Duration
	times := 1
	if p.rate > 0 {
		// Of the frames that begin in the time of one picture, the pipeline has kept one.
		times = max(1, int((p.end+p.tolerance).Seconds()*p.rate+1e-6)-p.pictures)
	}
	for ; times > 1; times-- {
		img := p.pool.Get(f.Image.Rect.Dx(), f.Image.Rect.Dy())
		copy(img.Pix, f.Image.Pix)
		p.pictures++
		if err := p.Sink.Write(ctx, &media.Frame{Image: img}); err != nil {
			p.pool.Put(f.Image)
			return err
		}
	}
	p.pictures++
	return p.Sink.Write(ctx, f)
}

// frameRate is how many pictures there are a second on the mean, to the thousandth.
func (p *pacer) frameRate() float64 {
	if p.rate > 0 {
		return p.rate
	}
	if p.end <= 0 {
		return 0
	}
	return math.Round(1000*float64(p.pictures)/p.end.Seconds()) / 1000
}

// note says at which rate the pictures are to be shown.
func (p *pacer) note() Note {
	n := Note{Code: TimesLeft, Message: fmt.Sprintf("numbered pictures have no times: show them at %g a second", p.frameRate())}
	if p.rate == 0 && p.longest-p.shortest > 2*p.tolerance+time.Millisecond {
		n.Message += fmt.Sprintf(", the mean of frames of %g to %g s, or choose a constant rate", milliseconds(p.shortest), milliseconds(p.longest))
	}
	return n
}
