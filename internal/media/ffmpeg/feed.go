package ffmpeg

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// picture is a frame on its way to the encoders, as codecs have it.
type picture struct {
	planes        []uint8
	pts, duration time.Duration
	feeds         atomic.Int32 // those that have not passed it on yet
}

// feed gives an encoder its part of every picture.
type feed struct {
	child    *process
	pipe     io.WriteCloser
	mkv      *matroskaWriter
	part     func(planes []uint8) [][]uint8
	pictures chan *picture
}

// run passes pictures on until the channel is closed. It returns a picture to
// free after every feed has passed it on.
func (f *feed) run(ctx context.Context, free chan<- *picture) error {
	for {
		select {
		case p, more := <-f.pictures:
			if !more {
				if err := f.pipe.Close(); err != nil {
					return f.child.writeError(err)
				}
				return nil
			}
			if err := f.mkv.write(block{pts: p.pts, duration: p.duration, data: f.part(p.planes)}); err != nil {
				return f.child.writeError(err)
			}
			if p.feeds.Add(-1) == 0 {
				free <- p
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
