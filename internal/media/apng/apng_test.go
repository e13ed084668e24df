package apng_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/apng"
)

// memory is a file in memory. If fail is not nil, the write that would pass
// byte limit fails.
type memory struct {
	b     []byte
	at    int64
	limit int
	fail  error
}

func (m *memory) Write(p []byte) (int, error) {
	if m.fail != nil && int(m.at)+len(p) > m.limit {
		return 0, m.fail
	}
	if grow := int(m.at) + len(p) - len(m.b); grow > 0 {
		m.b = append(m.b, make([]byte, grow)...)
	}
	n := copy(m.b[m.at:], p)
	m.at += int64(n)
	return n, nil
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += m.at
	case io.SeekEnd:
		offset += int64(len(m.b))
	}
	m.at = offset
	return offset, nil
}

// frames makes frames from copies of clip, all with the same delay.
func frames(clip []*image.NRGBA, delay time.Duration) []*media.Frame {
	list := make([]*media.Frame, len(clip))
	for i, img := range clip {
		list[i] = &media.Frame{Image: clone(img), PTS: time.Duration(i) * delay, Duration: delay, Delay: delay}
	}
	return list
}

// encode writes all frames and returns the file.
func encode(list []*media.Frame, o apng.Options) ([]byte, error) {
	m := new(memory)
	size := list[0].Image.Rect.Size()
	w, err := apng.NewWriter(m, size.X, size.Y, o)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	for _, f := range list {
		if err := w.Write(context.Background(), f); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return m.b, err
}

func same(t *testing.T, got *animation, want []*image.NRGBA) {
	t.Helper()
	if got.Frames != len(want) || len(got.Pictures) != len(want) {
		t.Fatalf("acTL says %d frames, file has %d, want %d", got.Frames, len(got.Pictures), len(want))
	}
	for i, p := range got.Pictures {
		if !bytes.Equal(p.Image.Pix, want[i].Pix) {
			t.Fatalf("frame %d differs (rectangle %v, blend %d)", i, got.At[i], got.Blends[i])
		}
	}
}

func TestExact(t *testing.T) {
	t.Parallel()
	sizes := []image.Point{{1, 1}, {1, 7}, {7, 1}, {2, 2}, {13, 9}, {32, 21}}
	for seed := range uint64(60) {
		size := sizes[seed%uint64(len(sizes))]
		t.Run(fmt.Sprintf("%d %v", seed, size), func(t *testing.T) {
			t.Parallel()
			clip := chaos(size.X, size.Y, 1+int(seed)%14, rand.New(rand.NewPCG(seed, 1)))
			opaque := seed%5 == 4
			want := make([]*image.NRGBA, len(clip))
			for i, img := range clip {
				if want[i] = visible(img); opaque {
					want[i] = solid(img)
				}
			}
			plays := int(seed) % 3
			b, err := encode(frames(clip, 40*time.Millisecond), apng.Options{Plays: plays, Opaque: opaque, Workers: int(seed % 4)})
			if err != nil {
				t.Fatal(err)
			}
			if got := media.Sniff(b); got != media.PNG {
				t.Errorf("Sniff = %q", got)
			}
			got, err := decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if got.Plays != plays {
				t.Errorf("plays = %d, want %d", got.Plays, plays)
			}
			same(t, got, want)
			if seed%3 == 0 {
				ffmpegSame(t, b, want)
			}
		})
	}
}

// ffmpegSame compares ffmpeg's decoding, if ffmpeg is installed.
func ffmpegSame(t *testing.T, b []byte, want []*image.NRGBA) {
	t.Helper()
	path, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Log("no ffmpeg: not compared")
		return
	}
	name := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-v", "error", "-nostdin", "-f", "apng", "-i", name,
		"-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgba", "-")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	got, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("ffmpeg: %v: %s", err, &stderr)
	}
	size := len(want[0].Pix)
	if len(got) != size*len(want) {
		t.Fatalf("ffmpeg decoded %d frames, want %d", len(got)/size, len(want))
	}
	for i, img := range want {
		if !bytes.Equal(got[i*size:(i+1)*size], img.Pix) {
			t.Fatalf("ffmpeg: frame %d differs", i)
		}
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	ntsc := make([]time.Duration, 200)
	for i := range ntsc {
		ntsc[i] = time.Duration(i+1)*time.Second*1001/30000 - time.Duration(i)*time.Second*1001/30000
	}
	tests := map[string]struct {
		delays []time.Duration
		exact  [][2]uint16 // nil: only the sum is checked
		drift  time.Duration
	}{
		"gif":        {[]time.Duration{0, 10 * ms, 20 * ms, 0, 655350 * ms}, [][2]uint16{{0, 100}, {1, 100}, {2, 100}, {0, 100}, {65535, 100}}, 0},
		"whole ms":   {[]time.Duration{33 * ms, 41 * ms, 65535 * ms}, [][2]uint16{{33, 1000}, {41, 1000}, {65535, 1000}}, 0},
		"ntsc":       {ntsc, nil, 50 * time.Microsecond},
		"thirds":     {[]time.Duration{time.Second / 3, 7 * time.Second / 3, 20 * time.Second / 3, time.Second / 3}, nil, 500 * time.Microsecond},
		"mixed":      {[]time.Duration{33333333, 40 * ms, 33333333, 0, 33333334}, nil, 50 * time.Microsecond},
		"long":       {[]time.Duration{70001 * ms, 655360 * ms, 7000001 * ms}, nil, 500 * ms},
		"out of u16": {[]time.Duration{-ms, 100000 * time.Second, ms}, [][2]uint16{{0, 100}, {65535, 1}, {1, 1000}}, 100000 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := frames(chaos(3, 3, len(tt.delays), rand.New(rand.NewPCG(1, 2))), 0)
			for i, d := range tt.delays {
				list[i].Delay, list[i].Duration = d, 100*ms
			}
			b, err := encode(list, apng.Options{})
			if err != nil {
				t.Fatal(err)
			}
			a, err := decode(b)
			if err != nil {
				t.Fatal(err)
			}
			var got [][2]uint16
			var off time.Duration
			for i, p := range a.Pictures {
				got = append(got, [2]uint16{p.Num, p.Den})
				off += time.Duration(p.Num)*time.Second/time.Duration(p.Den) - tt.delays[i]
				if off.Abs() > tt.drift {
					t.Errorf("after frame %d the clock is off by %v, want at most %v", i, off, tt.drift)
				}
			}
			if tt.exact != nil {
				if diff := cmp.Diff(tt.exact, got); diff != "" {
					t.Errorf("delays (-want +got):\n%s", diff)
				}
			}
		})
	}
}
