// Package avif writes AVIF image sequences with straight alpha, as a stream. libaom in
// ffmpeg encodes the pictures; the container, with its times and its loop, is made here,
// because ffmpeg's does not say how often it plays. A file is also a still picture, its
// first frame, for programs that show no sequences.
package avif

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/ffmpeg"
)

// Options says how a sequence is written. The zero value loops for ever and keeps
// alpha.
type Options struct {
	// Plays is how often the sequence plays; 0 means for ever.
	Plays int
	// Opaque says that every pixel of every frame is opaque: alpha is ignored.
	Opaque bool
	// Quality is 1 to 100; 0 means option.QualityVideo.
	Quality int
	// Timescale is the number of ticks in a second; 0 means 90000.
	Timescale int64
	// Pool takes the images back.
	Pool *media.Pool
	// Workers is how many cores there are for encoding; 0 is all.
	Workers int
}

// defaultTimescale is the ticks in a second for 0.
const defaultTimescale = 90_000

// NewSink starts encoders of a width×height sequence that is written at w's current
// offset. It never closes w. When Close returns nil, w's offset is the end of the file.
func NewSink(ctx context.Context, t *ffmpeg.Tools, w io.WriteSeeker, width, height int, o Options) (*ffmpeg.Sink, error) {
	if width < 1 || height < 1 || width > math.MaxUint16 || height > math.MaxUint16 {
		return nil, fmt.Errorf("avif: cannot write %d×%d pixels", width, height)
	}
	if o.Plays < 0 {
		return nil, fmt.Errorf("avif: plays %d is negative", o.Plays)
	}
	if o.Timescale == 0 {
		o.Timescale = defaultTimescale
	}
	start, err := w.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("avif: find the start of the file: %w", err)
	}
	tracks := []*track{{width: width, height: height}}
	if !o.Opaque {
		tracks = append(tracks, &track{width: width, height: height, alpha: true})
	}
	m := &muxer{w: w, start: start, plays: o.Plays, timescale: o.Timescale, tracks: tracks}
	return t.NewAV1Sink(ctx, m, ffmpeg.SinkOptions{
		Width: width, Height: height, Opaque: o.Opaque, Quality: o.Quality,
		Timescale: o.Timescale, Pool: o.Pool, Workers: o.Workers,
	})
}

// muxer makes a file of temporal units. It implements ffmpeg.Packets.
type muxer struct {
	w                io.WriteSeeker
	start            int64 // offset of the file in w
	bytes            int64
	media            int64 // offset of the box mdat in the file
	plays            int
	timescale        int64
	tracks           []*track // of colours, and of alpha
	first, pts, last time.Duration
	durations        []int // in ticks, of all frames but the last
	ticks            int64 // their sum
}

// track is the samples of a stream.
type track struct {
	width, height int
	alpha         bool
	config        []byte // the box av1C
	sizes         []int
	offsets       []int // in the file
	keys          []int // samples that need no other, counted from 1
}

// maxFile bounds the file, because offsets are numbers of 32 bits.
const maxFile = math.MaxUint32

// Add implements ffmpeg.Packets.
func (m *muxer) Add(colours, alpha []byte, pts, duration time.Duration) error {
	units := make([]unit, len(m.tracks))
	for i, packet := range [][]byte{colours, alpha}[:len(units)] {
		var err error
		if units[i], err = parseUnit(packet); err != nil {
			return err
		}
	}
	if len(m.tracks[0].sizes) == 0 {
		m.first = pts
		if err := m.begin(units); err != nil {
			return err
		}
	} else {
		m.pass(pts)
	}
	m.pts, m.last = pts, duration
	for i, t := range m.tracks {
		t.offsets, t.sizes = append(t.offsets, int(m.bytes)), append(t.sizes, len(units[i].data))
		if units[i].sequence != nil {
			t.keys = append(t.keys, len(t.sizes))
		}
		if err := m.put(units[i].data); err != nil {
			return err
		}
	}
	return nil
}

// pass ends the last frame at a time. Frames end at the nearest tick.
func (m *muxer) pass(end time.Duration) {
	at := end - m.first
	tick := int64(at/time.Second)*m.timescale + int64(math.Round((at%time.Second).Seconds()*float64(m.timescale)))
	d := min(max(tick-m.ticks, 1), math.MaxUint32)
	m.durations, m.ticks = append(m.durations, int(d)), m.ticks+d
}

// begin writes what stands before the first frame.
func (m *muxer) begin(units []unit) error {
	for i, t := range m.tracks {
		if units[i].sequence == nil {
			return fmt.Errorf("%w: it begins without a key frame", errUnit)
		}
		var err error
		if t.config, err = configuration(units[i].sequence, t.alpha); err != nil {
			return err
		}
	}
	head := box("ftyp", []byte("avis"), u32(0), []byte("avisavifmsf1mif1miafMA1Biso8"))
	m.media = int64(len(head) + len(m.still(0, units)))
	head = append(head, m.still(int(m.media)+len(box("mdat")), units)...)
	return m.put(append(head, box("mdat")...))
}

func (m *muxer) put(b []byte) error {
	if m.bytes += int64(len(b)); m.bytes > maxFile {
		return fmt.Errorf("avif: the file is larger than %d bytes", int64(maxFile))
	}
	if _, err := m.w.Write(b); err != nil {
		return fmt.Errorf("avif: write: %w", err)
	}
	return nil
}

// Close implements ffmpeg.Packets. It writes the tables of samples, and the size of the
// samples into their head.
func (m *muxer) Close() error {
	if len(m.tracks[0].sizes) == 0 {
		return media.ErrNoFrames
	}
	m.pass(m.pts + m.last)
	size := m.bytes - m.media
	if err := m.put(m.movie()); err != nil {
		return err
	}
	if err := media.Overwrite(m.w, m.start+m.media, u32(int(size))); err != nil {
		return fmt.Errorf("avif: write the samples' size: %w", err)
	}
	return nil
}
