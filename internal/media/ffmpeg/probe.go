package ffmpeg

import (
	"bufio"
	"bytes"
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
)

// Clip is a video file. It implements media.Clip and is safe for concurrent
// use.
type Clip struct {
	tools  *Tools
	path   string
	info   media.Info
	stream videoStream
	origin time.Duration // the container's own start, which ffmpeg subtracts
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
}

// Probe reads the metadata of a video file, whose container was recognised by
// its content, and counts its frames without decoding them. A file without
// readable video is a *media.UnreadableError.
func (t *Tools) Probe(ctx context.Context, path string, container media.Container) (*Clip, error) {
	demuxer, ok := demuxers[container]
	if !ok {
		return nil, &media.UnreadableError{Reason: "not a GIF, MP4, MOV or WebM file"}
	}
	var found struct {
		Streams []videoStream `json:"streams"`
		Format  struct {
			StartTime seconds `json:"start_time"`
			Duration  seconds `json:"duration"`
		} `json:"format"`
	}
	// Starting a child takes longer than what it does here: both at once.
	var out []byte
	var walk packetWalk
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		out, err = t.ffprobe(gctx, demuxer, path, "-show_streams", "-show_format", "-of", "json")
		return err
	})
	g.Go(func() (err error) {
		walk, err = t.packets(gctx, demuxer, path)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, unreadable(ctx, err)
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return nil, fmt.Errorf("ffprobe's answer: %w", err)
	}
	c := &Clip{tools: t, path: path, origin: time.Duration(found.Format.StartTime)}
	c.info.Container = container
	video := -1
	for i, s := range found.Streams {
		switch {
		case s.CodecType == "video" && s.Disposition.AttachedPic == 0 && video < 0:
			video = i
		case s.CodecType == "audio" && !c.info.HasAudio:
			c.info.HasAudio, c.info.AudioCodec = true, s.CodecName
		}
	}
	if video < 0 {
		return nil, &media.UnreadableError{Reason: "no video in the file"}
	}
	c.stream = found.Streams[video]
	if err := c.describe(walk, time.Duration(found.Format.Duration)); err != nil {
		return nil, err
	}
	return c, nil
}

// describe fills info from the stream's header and a walk over its packets.
func (c *Clip) describe(p packetWalk, duration time.Duration) error {
	s := &c.stream
	c.info.Codec, c.info.HasAlpha = s.CodecName, s.hasAlpha()
	var err error
	if c.info.Truncated, err = truncated(c.path, c.info.Container); err != nil {
		return err
	}
	c.info.Width, c.info.Height = s.upright()
	if c.info.Width < 1 || c.info.Height < 1 {
		return &media.UnreadableError{Reason: "the video has no size"}
	}
	base, err := parseRational(s.TimeBase, "/")
	if err != nil {
		return fmt.Errorf("time base of %s: %w", c.path, err)
	}
	c.info.TimeBase = base
	if p.count == 0 {
		return &media.UnreadableError{Reason: "the video has no frames"}
	}
	c.info.Frames, c.info.SeekCost = p.count, p.seekCost()
	c.info.Start = ticks(p.first, base)
	last := ticks(p.last, base) - c.info.Start
	c.info.LastFrame = ticks(p.lastDuration, base)
	if matroska := demuxers[c.info.Container] == "matroska"; p.lastDuration <= 0 || matroska && !c.info.HasAudio {
		// What Matroska says of its last frame is what it says of all, on average.
		c.info.LastFrame = guessLastFrame(last, duration-(c.info.Start-c.origin), p.count, c.info.LastFrame)
	}
	c.info.Duration = last + c.info.LastFrame
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
// lasts: until the end of the file if that comes later, else said, if it is
// more than nothing, else as long as the average frame.
func guessLastFrame(last, end time.Duration, frames int, said time.Duration) time.Duration {
	average := 40 * time.Millisecond
	if frames > 1 {
		average = last / time.Duration(frames-1)
	}
	if rest := end - last; rest > 0 && rest <= max(2*average, time.Second) {
		return rest
	}
	if said > 0 {
		return said
	}
	return average
}

// ffprobe runs ffprobe on one file and returns what it prints.
func (t *Tools) ffprobe(ctx context.Context, demuxer, path string, show ...string) ([]byte, error) {
	p := t.probeProcess(ctx, demuxer, path, show)
	var out bytes.Buffer
	p.cmd.Stdout = &out
	if err := p.start(); err != nil {
		return nil, err
	}
	if err := p.wait(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (t *Tools) probeProcess(ctx context.Context, demuxer, path string, show []string) *process {
	args := append([]string{"-hide_banner", "-loglevel", "error", "-protocol_whitelist", "file",
		"-f", demuxer}, show...)
	return t.command(ctx, "probe", t.FFprobe, append(args, fileURL(path)), files{read: []string{path}})
}

// unreadable translates the failure of ffprobe on a file: when ffprobe itself
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

// packetWalk is what the packets of a stream tell without being decoded.
// Times are in units of the stream's time base.
type packetWalk struct {
	count                     int
	first, last, lastDuration int64
	lastKey, toReach          int // packets before the last key frame; decoded to reach each of those once
}

// seekCost is how many packets are decoded on the mean to reach one of them.
func (w packetWalk) seekCost() int { return (w.toReach + steps(w.count-w.lastKey)) / w.count }

// steps is 1 + 2 + … + n.
func steps(n int) int { return n * (n + 1) / 2 }

// packets walks over the packets of the first video that is no cover picture.
// Packets that an edit list discards do not count. Other streams are left alone:
// what is wrong with them would end the walk early.
func (t *Tools) packets(ctx context.Context, demuxer, path string) (packetWalk, error) {
	p := t.probeProcess(ctx, demuxer, path, []string{"-select_streams", "V:0",
		"-show_entries", "packet=pts,duration,flags", "-of", "compact=p=0:s=,"})
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return packetWalk{}, err
	}
	if err := p.start(); err != nil {
		return packetWalk{}, err
	}
	w := readPackets(out)
	_, _ = io.Copy(io.Discard, out)
	return w, p.wait()
}

func readPackets(r io.Reader) packetWalk {
	var w packetWalk
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var pts, duration int64
		timed, discarded, whole := false, false, false
		for field := range strings.SplitSeq(lines.Text(), ",") {
			key, value, _ := strings.Cut(field, "=")
			n, err := strconv.ParseInt(value, 10, 64)
			switch {
			case key == "pts" && err == nil:
				pts, timed = n, true
			case key == "duration" && err == nil:
				duration = n
			case key == "flags":
				discarded, whole = strings.Contains(value, "D"), strings.Contains(value, "K")
			}
		}
		if !timed || discarded {
			continue
		}
		if w.count == 0 || pts < w.first {
			w.first = pts
		}
		if w.count == 0 || pts >= w.last {
			w.last, w.lastDuration = pts, duration
		}
		if whole {
			w.toReach, w.lastKey = w.toReach+steps(w.count-w.lastKey), w.count
		}
		w.count++
	}
	return w
}

// videoStream is what ffprobe says of a stream.
type videoStream struct {
	Index         int    `json:"index"`
	CodecName     string `json:"codec_name"`
	CodecType     string `json:"codec_type"`
	Width         int    `json:"width"`
	Height        int    `json:"height"`
	SampleAspect  string `json:"sample_aspect_ratio"`
	PixFmt        string `json:"pix_fmt"`
	ColorRange    string `json:"color_range"`
	ColorSpace    string `json:"color_space"`
	ColorTransfer string `json:"color_transfer"`
	TimeBase      string `json:"time_base"`
	Disposition   struct {
		AttachedPic int `json:"attached_pic"`
	} `json:"disposition"`
	Tags     map[string]string `json:"tags"`
	SideData []struct {
		Rotation float64 `json:"rotation"`
	} `json:"side_data_list"`
}

// upright is the size of the decoded picture after rotation and with square
// pixels.
func (s *videoStream) upright() (width, height int) {
	aspect := media.Rational{Num: 1, Den: 1}
	if r, err := parseRational(s.SampleAspect, ":"); err == nil {
		aspect = r
	}
	w, h := s.Width, s.Height
	for _, side := range s.SideData {
		if quarter := math.Mod(math.Abs(side.Rotation), 180); quarter > 45 && quarter < 135 {
			w, h = h, w
			aspect.Num, aspect.Den = aspect.Den, aspect.Num
		}
	}
	return int(math.Round(float64(w) * float64(aspect.Num) / float64(aspect.Den))), h
}

// hasAlpha reports whether the decoder will deliver transparency. VP8 and VP9
// keep it in a second stream that only a tag announces.
func (s *videoStream) hasAlpha() bool {
	if s.alphaTag() {
		return true
	}
	for _, format := range []string{"rgba", "bgra", "argb", "abgr", "yuva", "gbrap", "ya8", "ya16", "pal8"} {
		if strings.HasPrefix(s.PixFmt, format) {
			return true
		}
	}
	return false
}

func (s *videoStream) alphaTag() bool {
	return s.Tags["alpha_mode"] == "1" || s.Tags["ALPHA_MODE"] == "1"
}

// seconds is a decimal number in a JSON string.
type seconds time.Duration

func (s *seconds) UnmarshalText(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(f) > 1e9 {
		return nil // "N/A": not known
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
