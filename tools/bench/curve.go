//go:build linux && cgo

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"slices"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/gif"
	"github.com/bgremove/bgremove/internal/synth"
)

// point is a file of some quality: its size and its fidelity.
type point struct {
	quality, bytes int
	psnr, flicker  float64 // see synth.PSNR, at most exact, and synth.Flicker
}

// exact stands in for the PSNR of pictures without error.
const exact = 99

// curve is a clip's files by size. Files with less PSNR than a smaller one do
// not count.
type curve []point

// newCurve writes the clip with each quality and measures what is read back.
func newCurve(ctx context.Context, a animation, qualities []int, write func(quality int) ([]byte, error)) (curve, error) {
	var c curve
	for _, q := range qualities {
		data, err := write(q)
		if err != nil {
			return nil, err
		}
		got, err := shown(ctx, data, len(a.frames))
		if err != nil {
			return nil, err
		}
		c = append(c, point{q, len(data), min(synth.PSNR(got, a.frames), exact), synth.Flicker(got, a.frames)})
	}
	return c, nil
}

// shown decodes a GIF and returns the picture at each frame's time, because
// gifski drops unchanged frames.
func shown(ctx context.Context, data []byte, frames int) ([]*image.NRGBA, error) {
	r, err := gif.NewReader(bytes.NewReader(data), media.Limits{}, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	var out []*image.NRGBA
	var last *image.NRGBA
	for {
		f, err := r.Next(ctx)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for len(out) < frames && last != nil && (err != nil || time.Duration(len(out))*frameTime < f.PTS) {
			out = append(out, last)
		}
		if err != nil {
			return out, nil
		}
		last = f.Image
	}
}

// at returns the curve's values at a size. Between two points PSNR and flicker
// change linearly with the logarithm of the size. Above the largest size it
// returns the largest file, which is smaller. Below the smallest size there is
// nothing.
func (c curve) at(size int) (p point, ok bool) {
	sorted := slices.SortedFunc(slices.Values(c), func(a, b point) int { return cmp.Compare(a.bytes, b.bytes) })
	best := sorted[:1]
	for _, p := range sorted[1:] {
		if p.psnr > best[len(best)-1].psnr {
			best = append(best, p)
		}
	}
	i := slices.IndexFunc(best, func(p point) bool { return p.bytes > size })
	switch i {
	case -1:
		return best[len(best)-1], true
	case 0:
		return point{}, false
	}
	a, b := best[i-1], best[i]
	t := math.Log(float64(size)/float64(a.bytes)) / math.Log(float64(b.bytes)/float64(a.bytes))
	return point{bytes: size, psnr: a.psnr + t*(b.psnr-a.psnr), flicker: a.flicker + t*(b.flicker-a.flicker)}, true
}

// tally counts gifski's points: all, those that our curve reaches, and those
// where ours is better or nothing could be better.
type tally struct{ points, reached, psnr, flicker, both int }

// add prints two curves side by side and counts the points of theirs.
func (t *tally) add(w io.Writer, theirs, ours curve) {
	for _, o := range ours {
		i := slices.IndexFunc(theirs, func(p point) bool { return p.quality == o.quality })
		if i < 0 {
			fmt.Fprintf(w, "    %3d %43s bgremove %v\n", o.quality, "", o)
			continue
		}
		g := theirs[i]
		fmt.Fprintf(w, "    %3d gifski %v   bgremove %v   %s\n", g.quality, g, o, t.compare(g, ours))
	}
}

func (t *tally) compare(g point, ours curve) string {
	t.points++
	o, ok := ours.at(g.bytes)
	if !ok {
		return "smaller than ours"
	}
	t.reached++
	sharper, calmer := o.psnr > g.psnr || o.psnr == exact, o.flicker < g.flicker || o.flicker == 0
	if sharper {
		t.psnr++
	}
	if calmer {
		t.flicker++
	}
	if sharper && calmer {
		t.both++
	}
	ratio := o.flicker / g.flicker
	if o.flicker == g.flicker {
		ratio = 1
	}
	return fmt.Sprintf("%+6.2f dB, flicker × %.2f", o.psnr-g.psnr, ratio)
}

func (t tally) String() string {
	return fmt.Sprintf("  of %d files of gifski's ours can be as small as %d: %d times with more PSNR, %d with less flicker, %d with both",
		t.points, t.reached, t.psnr, t.flicker, t.both)
}

func (p point) String() string {
	return fmt.Sprintf("%6.1f KiB %5.2f dB %6.3f", float64(p.bytes)/1024, p.psnr, p.flicker)
}
