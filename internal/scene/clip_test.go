package scene_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/scene"
	"github.com/bgremove/bgremove/pkg/option"
)

const ms = time.Millisecond

// greys is a clip in memory: its frames are grey, each lighter than the one before.
type greys struct {
	durations    []time.Duration
	opened, open int
	fail         error
}

func (g *greys) Info() media.Info { return media.Info{Frames: len(g.durations)} }

func (g *greys) Open(context.Context, media.ReadOptions) (media.Source, error) {
	g.opened++
	g.open++
	return &greySource{clip: g}, nil
}

type greySource struct {
	clip   *greys
	n      int
	at     time.Duration
	closed bool
}

func (s *greySource) Next(context.Context) (*media.Frame, error) {
	if s.n == len(s.clip.durations) {
		if s.clip.fail != nil {
			return nil, s.clip.fail
		}
		return nil, io.EOF
	}
	img := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	s.n++
	for i := range 16 {
		img.SetNRGBA(i%4, i/4, color.NRGBA{uint8(s.n), uint8(s.n), uint8(s.n), 255})
	}
	f := &media.Frame{Image: img, PTS: s.at, Duration: s.clip.durations[s.n-1]}
	s.at += f.Duration
	return f, nil
}

func (s *greySource) Close() error {
	if !s.closed {
		s.closed = true
		s.clip.open--
	}
	return nil
}

// At each time stands the frame that the clip shows then; the clip loops, and is read
// once for each loop that is shown.
func TestClipTime(t *testing.T) {
	t.Parallel()
	third := time.Second / 30
	for name, c := range map[string]struct {
		durations []time.Duration
		at        []time.Duration
		want      []uint8
		opened    int
	}{
		"cut":               {[]time.Duration{40 * ms, 60 * ms, 100 * ms}, []time.Duration{0, 39 * ms, 40 * ms, 99 * ms, 100 * ms}, []uint8{1, 1, 2, 2, 3}, 1},
		"looped":            {[]time.Duration{40 * ms, 60 * ms}, []time.Duration{0, 50 * ms, 100 * ms, 139 * ms, 140 * ms, 199 * ms, 200 * ms}, []uint8{1, 2, 1, 1, 2, 2, 1}, 3},
		"loops are jumped":  {[]time.Duration{40 * ms, 60 * ms}, []time.Duration{0, 1050 * ms, 1100 * ms}, []uint8{1, 2, 1}, 3},
		"frames are jumped": {[]time.Duration{10 * ms, 10 * ms, 10 * ms, 10 * ms}, []time.Duration{0, 35 * ms}, []uint8{1, 4}, 1},
		"rounded times":     {[]time.Duration{third, third, third}, []time.Duration{0, 33 * ms, 67 * ms, 100 * ms}, []uint8{1, 2, 3, 1}, 2},
		"one frame":         {[]time.Duration{100 * ms}, []time.Duration{0, 50 * ms, time.Hour}, []uint8{1, 1, 1}, 1},
		"no time at all":    {[]time.Duration{0, 0}, []time.Duration{0, 50 * ms}, []uint8{2, 2}, 1},
	} {
		g := &greys{durations: c.durations}
		s, err := scene.Clip(g, option.Cover)
		if err != nil {
			t.Fatal(err)
		}
		pass, err := s.Open(t.Context(), scene.Plain(image.Pt(8, 6)))
		if err != nil {
			t.Fatal(err)
		}
		var got []uint8
		for _, at := range c.at {
			shot, err := pass.At(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			img := image.NewNRGBA(image.Rect(0, 0, 8, 6))
			shot.Under(img)
			got = append(got, img.NRGBAAt(7, 5).R)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || g.opened != c.opened {
			t.Errorf("%s: opened %d times, want %d %s", name, g.opened, c.opened, diff)
		}
		if err := errors.Join(pass.Close(), pass.Close()); err != nil || g.open != 0 {
			t.Errorf("%s: %d sources are open: %v", name, g.open, err)
		}
	}
}

// A clip that breaks off, or has no frame, is an error.
func TestClipErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, g := range map[string]*greys{"broken": {durations: []time.Duration{ms}, fail: broken}, "empty": {}} {
		s, _ := scene.Clip(g, "")
		pass, _ := s.Open(t.Context(), scene.Plain(image.Pt(4, 4)))
		if _, err := pass.At(t.Context(), 0); err == nil || g.fail != nil && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		_ = pass.Close()
		if g.open != 0 {
			t.Errorf("%s: %d sources are open", name, g.open)
		}
	}
}
