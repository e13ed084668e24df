package ffmpeg

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/heif"
)

// Clip is a video file. It implements media.Clip and is safe for concurrent
// use.
type Clip struct {
	tools  *Tools
	path   string
	limits media.Limits
	info   media.Info
	stream videoStream
	still  *heif.Picture // nil for videos, and for sequences
	matte  *videoStream  // the clip's alpha, where it is a video of its own; nil elsewhere
	origin time.Duration // the container's own start, which ffmpeg subtracts
	// guessed says that the container does not say when frames are shown, only when
	// they are decoded: nothing can be found by its time.
	guessed bool
	early   early
}

// HDR reports whether the clip's brightness needs tone mapping.
func (c *Clip) HDR() bool {
	return c.stream.ColorTransfer == "smpte2084" || c.stream.ColorTransfer == "arib-std-b67"
}

// Path is the file that was probed.
func (c *Clip) Path() string { return c.path }

// Info implements media.Clip.
func (c *Clip) Info() media.Info { return c.info }

// demuxers are forced, so that a file is never opened as anything else than
// what its bytes say.
var demuxers = map[media.Container]string{
	media.MP4: "mov", media.MOV: "mov", media.WebM: "matroska", media.Matroska: "matroska",
	media.AVI: "avi", media.AVIF: "mov",
}

// Probe reads the metadata of a video file and counts its frames without
// decoding them. The content has already identified the container. A file
// without readable video is a *media.UnreadableError, one beyond l a
// *media.LimitError.
func (t *Tools) Probe(ctx context.Context, path string, container media.Container, l media.Limits) (*Clip, error) {
	if container == media.HEIF || container == media.AVIF {
		if c, err := t.probeStill(path, container, l); c != nil || err != nil {
			return c, err
		}
	}
	demuxer, ok := demuxers[container]
	if !ok {
		return nil, &media.UnreadableError{Reason: "not a video that ffmpeg is asked to read"}
	}
	// Starting a child takes longer than its work here, so both run at once.
	var h header
	var stats packetStats
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		h, err = t.header(gctx, demuxer, path)
		return err
	})
	g.Go(func() (err error) {
		stats, err = t.packets(gctx, demuxer, path, l)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, unreadable(ctx, err)
	}
	c := &Clip{tools: t, path: path, limits: l}
	c.info.Container = container
	if err := errors.Join(c.describe(h, stats), stats.checkSize(path)); err != nil {
		return nil, err
	}
	var err error
	c.info.Truncated, err = truncated(path, container)
	return c, err
}

// describe completes the clip from its header and a walk over its packets.
// Later counts of time or pixels, for a price, a limit or a buffer, use only
// values checked here.
func (c *Clip) describe(h header, w packetStats) error {
	found, err := h.video()
	if err != nil {
		return err
	}
	c.stream, c.origin = found, time.Duration(h.Format.StartTime)
	if c.info.Container == media.AVIF {
		c.matte = h.matteOf(found)
	}
	c.info.Codec, c.info.HasAlpha, c.info.Luma = found.CodecName, c.matte != nil || found.hasAlpha(), found.luma()
	c.info.AudioCodec, c.info.HasAudio = h.audio()
	c.info.Width, c.info.Height = found.upright()
	if c.info.Width < 1 || c.info.Height < 1 {
		return &media.UnreadableError{Reason: "the video has no size"}
	}
	if c.info.TimeBase, err = parseRational(found.TimeBase, "/"); err != nil {
		return &media.UnreadableError{Reason: "the video has no unit of time", Err: err}
	}
	if w.count == 0 {
		return &media.UnreadableError{Reason: "the video has no frames"}
	}
	c.info.Frames, c.guessed = w.count, w.guessed
	if !c.guessed {
		c.info.SeekCost = w.seekCost()
	}
	if err := c.setTimes(w, time.Duration(h.Format.Duration)); err != nil {
		return err
	}
	pixels := int64(w.count) * min(int64(c.info.Width)*int64(c.info.Height), math.MaxInt64/int64(w.count))
	return errors.Join(c.limits.CheckPicture(c.info.Width, c.info.Height), c.limits.CheckTotals(w.count, pixels))
}

// setTimes fills in when the clip begins and ends; whole is the duration in the
// container's header.
func (c *Clip) setTimes(w packetStats, whole time.Duration) error {
	first, end, stated, err := w.times(c.info.TimeBase)
	if err != nil {
		return err
	}
	last := end - first
	c.info.Start, c.info.LastFrame = first, stated
	if matroska := demuxers[c.info.Container] == "matroska"; stated == 0 || matroska && !c.info.HasAudio {
		// Matroska's value for its last frame is the average of all frames.
		c.info.LastFrame = guessLastFrame(last, whole-(first-c.origin), w.count, stated)
	}
	c.info.Duration = last + c.info.LastFrame
	if c.info.Container == media.AVIF && w.count == 1 {
		c.info.Still, c.info.Duration, c.info.LastFrame = true, 0, 0
	}
	return nil
}

func truncated(path string, container media.Container) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return false, err
	}
	return media.Truncated(f, stat.Size(), container), nil
}

// guessLastFrame is for containers that do not say how long their last frame
// lasts: until the end of the file if that comes later, else stated, if it is
// more than nothing, else as long as the average frame.
func guessLastFrame(last, end time.Duration, frames int, stated time.Duration) time.Duration {
	average := 40 * time.Millisecond
	if frames > 1 {
		average = last / time.Duration(frames-1)
	}
	if rest := end - last; rest > 0 && rest <= max(2*average, time.Second) {
		return rest
	}
	if stated > 0 {
		return stated
	}
	return average
}

// header is what ffprobe says of a file without a look at its packets.
type header struct {
	Streams []videoStream `json:"streams"`
	Format  struct {
		StartTime seconds `json:"start_time"`
		Duration  seconds `json:"duration"`
	} `json:"format"`
}

// headerEntries are the requested fields. Tags and chapters would come whole,
// as large as the file.
const headerEntries = "stream=index,codec_name,codec_type,width,height,sample_aspect_ratio,pix_fmt," +
	"color_range,color_space,color_transfer,color_primaries,field_order,time_base:stream_disposition=attached_pic:" +
	"stream_tags=alpha_mode,ALPHA_MODE:stream_side_data=rotation:format=start_time,duration"

// maxHeader bounds ffprobe's answer, in bytes: of a thousand streams.
const maxHeader = 1 << 20

// header asks ffprobe for the header of a file.
func (t *Tools) header(ctx context.Context, demuxer, path string) (header, error) {
	p := t.probeProcess(ctx, demuxer, path, []string{"-show_entries", headerEntries, "-of", "json"})
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return header{}, err
	}
	if err := p.start(); err != nil {
		return header{}, err
	}
	h, failure := readHeader(out)
	if failure == nil || errors.Is(failure, io.EOF) { // it has ended by itself
		return h, cmp.Or(p.wait(), failure)
	}
	p.kill()
	_ = p.wait() // killed on purpose
	return header{}, failure
}

// readHeader reads ffprobe's answer. It is io.EOF where there is none.
func readHeader(r io.Reader) (h header, err error) {
	bounded := &io.LimitedReader{R: r, N: maxHeader}
	err = json.NewDecoder(bounded).Decode(&h)
	switch {
	case err != nil && bounded.N <= 0:
		return header{}, &media.UnreadableError{Reason: "the file has too many streams"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return header{}, io.EOF
	case err != nil:
		return header{}, fmt.Errorf("ffprobe's answer: %w", err)
	}
	_, err = io.Copy(io.Discard, r)
	return h, err
}

// video returns the first video that is not a cover picture.
func (h header) video() (videoStream, error) {
	for _, s := range h.Streams {
		if s.CodecType == "video" && s.Disposition.AttachedPic == 0 {
			return s, nil
		}
	}
	_, sound := h.audio()
	return videoStream{}, &media.UnreadableError{Reason: "no video in the file", SoundOnly: sound}
}

// matteOf is the alpha of an AVIF's pictures, nil where there is none: a grey video of
// their size behind them (MIAF, ISO/IEC 23000-22, 7.3.5.2).
func (h header) matteOf(pictures videoStream) *videoStream {
	for _, s := range h.Streams {
		if s.Index > pictures.Index && s.CodecType == "video" && strings.HasPrefix(s.PixFmt, "gray") &&
			s.Width == pictures.Width && s.Height == pictures.Height {
			return &s
		}
	}
	return nil
}

// audio is the codec of the first sound, if there is any.
func (h header) audio() (codec string, found bool) {
	for _, s := range h.Streams {
		if s.CodecType == "audio" {
			return s.CodecName, true
		}
	}
	return "", false
}

func (t *Tools) probeProcess(ctx context.Context, demuxer, path string, show []string) *process {
	args := append([]string{"-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file",
		"-f", demuxer}, show...)
	return t.child(ctx, "probe", t.FFprobe, append(args, fileURL(path)), files{read: []string{path}}, t.confinement.probe())
}

// unreadable translates the failure of a child on a file: when the child itself
// ran to its own end, the file is to blame.
func unreadable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 {
		return &media.UnreadableError{Reason: "the file is damaged or incomplete", Err: err}
	}
	return err
}

// seconds is a decimal number in a JSON string.
type seconds time.Duration

func (s *seconds) UnmarshalText(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(math.Abs(f) <= maxTime.Seconds()) {
		return nil // "N/A", "nan": not known
	}
	*s = seconds(math.Round(f * float64(time.Second)))
	return nil
}

func parseRational(s, separator string) (media.Rational, error) {
	num, den, _ := strings.Cut(s, separator)
	n, err := strconv.ParseInt(num, 10, 32)
	d, err2 := strconv.ParseInt(den, 10, 32)
	if err := errors.Join(err, err2); err != nil {
		return media.Rational{}, err
	}
	if n <= 0 || d <= 0 {
		return media.Rational{}, fmt.Errorf("%s is not positive", s)
	}
	return media.Rational{Num: n, Den: d}, nil
}

// ticks converts a count of base units to a duration.
func ticks(n int64, base media.Rational) time.Duration {
	return time.Duration(rescale(n, base, media.Rational{Num: 1, Den: int64(time.Second)}))
}
