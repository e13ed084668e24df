package ffmpeg

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bgremove/bgremove/internal/media"
)

// packetStats is the information in a stream's packets that needs no decoding.
// Times are in units of the stream's time base.
type packetStats struct {
	count                     int
	bytes                     int64 // of all packets, saturated
	first, last, lastDuration int64
	guessed                   bool // some times are those of decoding
	lastKey, seekTotal        int  // packets before the last key frame; decoded to reach each of those once
}

// seekCost is how many packets are decoded on the mean to reach one of them.
func (w packetStats) seekCost() int { return (w.seekTotal + triangular(w.count-w.lastKey)) / w.count }

// triangular is 1 + 2 + … + n.
func triangular(n int) int { return n * (n + 1) / 2 }

// packets walks over the packets of the first video that is not a cover
// picture. Packets that an edit list discards do not count. Other streams are
// skipped, because their faults would end the walk early. More frames than l
// allows are a *media.LimitError as soon as they are counted.
func (t *Tools) packets(ctx context.Context, demuxer, path string, l media.Limits) (packetStats, error) {
	p := t.probeProcess(ctx, demuxer, path, []string{"-select_streams", "V:0",
		"-show_entries", "packet=pts,dts,duration,size,flags", "-of", "compact=p=0:s=,"})
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return packetStats{}, err
	}
	if err := p.start(); err != nil {
		return packetStats{}, err
	}
	w, err := readPackets(out, l)
	if err != nil {
		p.kill()
		_ = p.wait() // killed on purpose
		return packetStats{}, err
	}
	_, _ = io.Copy(io.Discard, out)
	return w, p.wait()
}

func readPackets(r io.Reader, l media.Limits) (packetStats, error) {
	var w packetStats
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if p, ok := parsePacket(lines.Text()); ok {
			w.add(p)
		}
		if err := l.CheckTotals(w.count, 0); err != nil {
			return packetStats{}, err
		}
	}
	if err := lines.Err(); err != nil { // the rest would not be counted, nor paid
		return packetStats{}, fmt.Errorf("ffprobe's packets: %w", err)
	}
	return w, nil
}

// packet is a shown packet. ffprobe prints "N/A" for unknown values, which are
// 0 here.
type packet struct {
	pts, duration, size int64
	key                 bool
	guessed             bool // pts is when it is decoded: AVI says nothing else
}

// parsePacket reads a line of ffprobe's; ok is false where it has no time, or is
// not shown.
func parsePacket(line string) (p packet, ok bool) {
	for field := range strings.SplitSeq(line, ",") {
		name, value, _ := strings.Cut(field, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case name == "flags":
			p.key = strings.Contains(value, "K")
			if strings.Contains(value, "D") {
				return packet{}, false
			}
		case err != nil:
		case name == "pts":
			p.pts, ok = n, true
		case name == "dts" && !ok: // which follows pts
			p.pts, p.guessed, ok = n, true, true
		case name == "duration":
			p.duration = n
		case name == "size":
			p.size = n
		}
	}
	return p, ok
}

func (w *packetStats) add(p packet) {
	if w.count == 0 || p.pts < w.first {
		w.first = p.pts
	}
	if w.count == 0 || p.pts >= w.last {
		w.last, w.lastDuration = p.pts, p.duration
	}
	if p.key {
		w.seekTotal, w.lastKey = w.seekTotal+triangular(w.count-w.lastKey), w.count
	}
	w.count++
	w.guessed = w.guessed || p.guessed
	w.bytes += max(0, min(p.size, math.MaxInt64-w.bytes))
}

// The largest accepted times, so that sums do not overflow. Real streams that
// count from 1970 stay below.
const (
	maxTime = 2.9e9 * time.Second
	maxClip = 1e8 * time.Second
)

// times are the first and the last packet's, and how long the last is shown.
// Times that no clip has are a *media.UnreadableError.
func (w packetStats) times(base media.Rational) (first, last, lastDuration time.Duration, err error) {
	first, last, lastDuration = ticks(w.first, base), ticks(w.last, base), ticks(w.lastDuration, base)
	switch {
	case first.Abs() > maxTime, last.Abs() > maxTime, last-first > maxClip:
		err = &media.UnreadableError{Reason: "a frame of the video has an impossible time"}
	case lastDuration < 0, lastDuration > maxClip:
		err = &media.UnreadableError{Reason: "the last frame of the video has an impossible duration"}
	case w.count > 1 && first == last:
		err = &media.UnreadableError{Reason: "all frames of the video are shown at the same time"}
	}
	return first, last, lastDuration, err
}

// checkSize refuses a video whose packets hold more bytes than its file.
// Packets may lie anywhere in the file, so a few bytes can be a million
// packets. Twice the size is accepted, because a container may compress them.
func (w packetStats) checkSize(path string) error {
	info, err := os.Stat(path)
	if err == nil && w.bytes/2 > info.Size() {
		return &media.UnreadableError{Reason: "the frames of the video have more bytes than the file"}
	}
	return err
}
