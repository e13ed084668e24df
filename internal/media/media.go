// Package media holds what every reader, writer and stage of bgremove speaks:
// a Frame with its time, the Info of a clip, and the Source and Sink a clip
// comes from and goes to. The adapters are sub-packages.
package media

import (
	"context"
	"image"
	"time"
)

// Frame is one decoded picture with its time. Time travels with the frame: it
// is never derived from an index and a frame rate.
type Frame struct {
	// Image holds straight (not premultiplied) alpha; its bounds start at the
	// origin and its rows are contiguous (Stride = 4 × width).
	Image *image.NRGBA
	// PTS is when the frame is first shown, counted from the clip's first
	// frame. It never decreases.
	PTS time.Duration
	// Duration is how long players show the frame. The last frame of a clip
	// has one too.
	Duration time.Duration
	// Delay is the duration as the source has it written, which players may stretch,
	// see Shown. It is also longer than Duration where the end of a part leaves very
	// little of a frame. Writers of GIF and APNG keep Delay, all others Duration.
	Delay time.Duration
}

// Shown is how long browsers show a frame of a GIF, APNG or WebP with a delay: they
// stretch one that is too short.
func Shown(delay time.Duration) time.Duration {
	const tooShort, stretched = 10 * time.Millisecond, 100 * time.Millisecond
	if delay <= tooShort {
		return stretched
	}
	return delay
}

// TimeTolerance is how much later than a time that people ask for its frame may begin:
// their times are rounded to milliseconds.
const TimeTolerance = time.Millisecond / 2

// Info describes a clip as it decodes: upright and with square pixels.
type Info struct {
	Container     Container
	Codec         string // name of the video codec, as ffmpeg spells it
	Width, Height int    // pixels
	Frames        int    // pictures; counted, not taken from a header
	// Duration runs from the first PTS to the end of the last frame.
	Duration time.Duration
	// LastFrame is the duration of the last frame, which some containers
	// keep and no raw stream does. 0 means unknown.
	LastFrame time.Duration
	// Start is the absolute time of the first frame in its container; sound
	// of the same file is placed against it.
	Start time.Duration
	// TimeBase is the unit of the container's timestamps in seconds.
	TimeBase Rational
	// SeekCost is how many frames are decoded on the mean to reach one by its time; 0
	// where a clip is only read from its beginning.
	SeekCost int
	// Luma is the weights of red, green and blue in the lightness of sources that
	// keep colour at less than its resolution (4:2:0, 4:2:2), zero for others.
	Luma [3]float64
	// Plays says how often an animation plays; 0 means for ever, as it does
	// for videos, which say nothing of it.
	Plays    int
	HasAlpha bool
	HasAudio bool
	// Still says that the file is one picture, which has no time.
	Still bool
	// Truncated says that the file ends in the middle: something is missing
	// that it says should be there.
	Truncated bool
	// AudioCodec is ffmpeg's name of the first audio stream's codec, empty
	// without sound, and if ffmpeg does not know it.
	AudioCodec string
}

// FramesIn is about how many frames are shown from one time of the clip to another; to = 0, or any
// time after the end, is the end.
func (i Info) FramesIn(from, to time.Duration) int {
	if i.Duration <= 0 {
		return i.Frames
	}
	if to <= 0 || to > i.Duration {
		to = i.Duration
	}
	return int(float64(i.Frames)*float64(to-from)/float64(i.Duration) + 0.5)
}

// Rational is the fraction Num/Den.
type Rational struct{ Num, Den int64 }

// Source yields the frames of one pass over a clip, in order. It is used by
// one goroutine.
type Source interface {
	// Next returns the next frame, or io.EOF after the last. The caller owns
	// the frame and returns its image to the Pool when done.
	Next(ctx context.Context) (*Frame, error)
	// Close stops whatever feeds the source and waits for it. It may be
	// called at any time and more than once.
	Close() error
}

// Sink writes the frames of one clip. It is used by one goroutine. Exactly one
// of Close and Abort ends it; only a nil error from Close means that the
// output is complete.
type Sink interface {
	// Write takes the next frame. It owns the frame from then on and returns
	// its image to the Pool it was made with.
	Write(ctx context.Context, f *Frame) error
	// Close flushes and completes the output.
	Close() error
	// Abort stops at once; the output is worthless. It may follow a failed
	// Close and may be called more than once.
	Abort()
}
