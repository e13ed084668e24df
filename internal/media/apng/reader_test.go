package apng_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/apng"
)

// stored puts a file on the disk.
func stored(t testing.TB, file []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// all reads a file's frames.
func all(t testing.TB, path string, l media.Limits) (media.Info, []*media.Frame, error) {
	t.Helper()
	clip, err := apng.Probe(path, l)
	if err != nil {
		return media.Info{}, nil, err
	}
	src, err := clip.Open(t.Context(), media.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var list []*media.Frame
	for {
		f, err := src.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return clip.Info(), list, nil
		}
		if err != nil {
			return clip.Info(), list, err
		}
		list = append(list, f)
	}
}

// What we write is read back as it was: pixels, times and loop.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, opaque := range map[string]bool{"transparent": false, "opaque": true} {
		clip := chaos(40, 30, 20, rand.New(rand.NewPCG(3, 4)))
		list := make([]*media.Frame, len(clip))
		pts := time.Duration(0)
		for i, img := range clip {
			d := time.Duration(20+7*i) * time.Millisecond
			list[i] = &media.Frame{Image: clone(img), PTS: pts, Duration: d, Delay: d}
			pts += d
		}
		file, err := encode(list, apng.Options{Plays: 7, Opaque: opaque})
		if err != nil {
			t.Fatal(err)
		}
		info, got, err := all(t, stored(t, file), media.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if info.Plays != 7 || info.Duration != pts || info.HasAlpha == opaque || info.Width != 40 || info.Height != 30 || info.Truncated || info.Still {
			t.Errorf("%s: %+v", name, info)
		}
		shown := map[time.Duration]*image.NRGBA{} // frames that do not change are not written
		for i, f := range list {
			want := visible(clip[i])
			if opaque {
				want = solid(clip[i])
			}
			shown[f.PTS] = want
		}
		for i, f := range got {
			if want := shown[f.PTS]; want == nil || !bytes.Equal(f.Image.Pix, want.Pix) || f.Delay != f.Duration {
				t.Errorf("%s: frame %d at %v is not as it was", name, i, f.PTS)
			}
		}
	}
}

// ffmpeg's files have other rectangles, blends and delays than ours, and its decoder
// shows them alike.
func TestOthersFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, raw := filepath.Join(dir, "a.apng"), filepath.Join(dir, "raw")
	for _, args := range [][]string{
		{"-f", "lavfi", "-i", "testsrc2=size=60x40:rate=15:duration=1,format=rgba,colorchannelmixer=aa=0.6", "-plays", "2", path},
		{"-f", "apng", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgba", raw},
	} {
		if out, err := exec.CommandContext(t.Context(), "ffmpeg", append([]string{"-nostdin", "-v", "error"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("ffmpeg: %v: %s", err, out)
		}
	}
	want, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	info, got, err := all(t, path, media.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 15 || info.Plays != 2 || (info.Duration-time.Second).Abs() > time.Millisecond || len(want) != 15*60*40*4 {
		t.Fatalf("%d frames, %+v", len(got), info)
	}
	for i, f := range got {
		if !bytes.Equal(f.Image.Pix, want[i*len(f.Image.Pix):][:len(f.Image.Pix)]) {
			t.Errorf("frame %d is another", i)
		}
	}
}

// rewritten is a file with other data in the first chunk of a kind, and with its checksum
// mended.
func rewritten(t *testing.T, file []byte, kind string, at int, b ...byte) []byte {
	t.Helper()
	parts, err := chunks(file)
	if err != nil {
		t.Fatal(err)
	}
	out, done := []byte("\x89PNG\r\n\x1a\n"), false
	for _, c := range parts {
		data := bytes.Clone(c.data)
		if c.kind == kind && !done {
			copy(data[at:], b)
			done = true
		}
		out = append(out, whole(c.kind, data)...)
	}
	return out
}

// A file that plays more often than PNG's numbers can say plays as often as they can, so
// that it can be written again.
func TestManyPlays(t *testing.T) {
	t.Parallel()
	file, err := encode([]*media.Frame{{Image: chaos(4, 4, 1, rand.New(rand.NewPCG(1, 2)))[0], Delay: time.Second}}, apng.Options{})
	if err != nil {
		t.Fatal(err)
	}
	info, list, err := all(t, stored(t, rewritten(t, file, "acTL", 4, 0xFF, 0xFF, 0xFF, 0xFF)), media.Limits{})
	if err != nil || info.Plays != math.MaxInt32 {
		t.Fatalf("plays %d, %v", info.Plays, err)
	}
	if _, err := encode(list, apng.Options{Plays: info.Plays}); err != nil {
		t.Error(err)
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	clip := chaos(16, 16, 4, rand.New(rand.NewPCG(1, 2)))
	list := make([]*media.Frame, len(clip))
	for i, img := range clip {
		list[i] = &media.Frame{Image: clone(img), PTS: time.Duration(i) * time.Second, Duration: time.Second, Delay: time.Second}
	}
	file, err := encode(list, apng.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rewritten := func(kind string, at int, b ...byte) []byte { return rewritten(t, file, kind, at, b...) }
	broken := bytes.Clone(file)
	broken[len(broken)-30] ^= 1
	for want, bad := range map[string][]byte{
		"checksum":                     broken,
		"not within the picture":       rewritten("fcTL", 15, 9),
		"picture side: 100000":         rewritten("IHDR", 0, 0, 1, 0x86, 0xA0),
		"a picture of 0":               rewritten("IHDR", 0, 0, 0, 0, 0),
		"not in order":                 rewritten("fcTL", 3, 9),
		"malformed: frame 1":           rewritten("fcTL", 24, 3),
		"frame 1 cannot be read: zlib": rewritten("IDAT", 0, 0, 0),
		"no whole frame":               file[:60],
	} {
		if _, _, err := all(t, stored(t, bad), media.Limits{MaxSide: 16384}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if info, _, err := all(t, stored(t, file[:len(file)-4]), media.Limits{}); err != nil || !info.Truncated {
		t.Errorf("a cut file: %v", err)
	}
	if _, _, err := all(t, stored(t, file), media.Limits{MaxFrames: 2}); !errors.As(err, new(*media.LimitError)) {
		t.Errorf("too many frames: %v", err)
	}
}

func FuzzProbe(f *testing.F) {
	clip := chaos(8, 8, 3, rand.New(rand.NewPCG(1, 2)))
	list := make([]*media.Frame, len(clip))
	for i, img := range clip {
		list[i] = &media.Frame{Image: clone(img), Duration: time.Second, Delay: time.Second}
	}
	file, err := encode(list, apng.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	path := filepath.Join(f.TempDir(), "fuzz.png")
	f.Fuzz(func(t *testing.T, file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		info, list, _ := all(t, path, media.Limits{MaxSide: 64, MaxFrames: 20})
		if len(list) > info.Frames {
			t.Errorf("%d frames of %d", len(list), info.Frames)
		}
	})
}

// whole is a chunk with its length and checksum.
func whole(kind string, data []byte) []byte {
	body := append([]byte(kind), data...)
	return binary.BigEndian.AppendUint32(append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), body...), crc32.ChecksumIEEE(body))
}
