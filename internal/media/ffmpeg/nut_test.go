package ffmpeg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bgremove/bgremove/internal/media"
)

// sampleSize is the size of a frame of nutSample in bytes.
const sampleSize = 4 * 16 * 8

// nutSample is a short stream written by ffmpeg.
func nutSample(t testing.TB) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi",
		"-i", "testsrc2=size=16x8:rate=30000/1001:duration=0.3", "-pix_fmt", "rgba", "-c:v", "rawvideo", "-f", "nut", "pipe:1").Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readNUT(data []byte) (stamps []int64, err error) {
	n, err := newNUTReader(bytes.NewReader(data), sampleSize)
	if err != nil {
		return nil, err
	}
	for {
		pts, err := n.next()
		if err == nil {
			err = n.read(make([]byte, sampleSize))
		}
		if errors.Is(err, io.EOF) {
			return stamps, nil
		}
		if err != nil {
			return stamps, err
		}
		stamps = append(stamps, pts)
	}
}

func TestNUTReader(t *testing.T) {
	t.Parallel()
	data := nutSample(t)
	n, err := newNUTReader(bytes.NewReader(data), sampleSize)
	if err != nil {
		t.Fatal(err)
	}
	if n.width != 16 || n.height != 8 {
		t.Errorf("size %d×%d, want 16×8", n.width, n.height)
	}
	stamps, err := readNUT(data)
	if err != nil || len(stamps) != 9 {
		t.Fatalf("%d frames, %v; want 9", len(stamps), err)
	}
	step := rescale(1001, media.Rational{Num: 1, Den: 30000}, n.base)
	for i, s := range stamps {
		if s != int64(i)*step {
			t.Errorf("frame %d at %d, want %d", i, s, int64(i)*step)
		}
	}
}

// gaps are distances between frames, mostly near changes in the coding of
// timestamps. These are at halves and wholes of 2^7 and 2^14, the spans of
// ffmpeg; its muxer turns up to 2^11 units into one.
func gaps(r *rand.Rand, frames int) []int64 {
	edges := []int64{1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 8191, 8192, 8193, 16383, 16384, 16385, 24576}
	all := make([]int64, frames)
	for i := range all {
		switch r.IntN(4) {
		case 0:
			all[i] = 1 + r.Int64N(40_000)
		case 1:
			all[i] = 1 + r.Int64N(40)
		default:
			all[i] = edges[r.IntN(len(edges))]
		}
	}
	return all
}

// timesExpression gives setpts the time of frame N, as a tree of choices,
// because lists are too deep for ffmpeg.
func timesExpression(times []int64, first int) string {
	if len(times) == 1 {
		return strconv.FormatInt(times[0], 10)
	}
	half := len(times) / 2
	return fmt.Sprintf("if(lt(N,%d),%s,%s)", first+half, timesExpression(times[:half], first), timesExpression(times[half:], first+half))
}

// TestNUTTimes sends thousands of random gaps in many time bases through
// ffmpeg's muxer and back, and checks each time exactly.
func TestNUTTimes(t *testing.T) {
	t.Parallel()
	const frames = 3000
	for i, base := range []string{"1/60", "1/25", "1/90000", "1/1000", "1001/30000", "1/12800", "1/1000000", "1/7", "1/999", "1/1001"} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 27))
			want, at := make([]int64, frames), int64(0)
			for i, gap := range gaps(r, frames) {
				want[i] = at
				at += gap
			}
			out, err := exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=size=2x2:rate=25,format=rgba",
				"-frames:v", strconv.Itoa(frames), "-vf", "settb="+base+",setpts='"+timesExpression(want, 0)+"'",
				"-fps_mode", "passthrough", "-enc_time_base", strings.Replace(base, "/", ":", 1), "-c:v", "rawvideo", "-f", "nut", "pipe:1").Output()
			if err != nil {
				t.Fatal(err)
			}
			n, err := newNUTReader(bytes.NewReader(out), 16)
			if err != nil {
				t.Fatal(err)
			}
			num, den, _ := strings.Cut(base, "/")
			written := media.Rational{}
			written.Num, _ = strconv.ParseInt(num, 10, 64)
			written.Den, _ = strconv.ParseInt(den, 10, 64)
			for i, want := range want {
				got, err := n.next()
				if err == nil {
					err = n.read(make([]byte, 16))
				}
				if err != nil {
					t.Fatalf("frame %d: %v", i, err)
				}
				if want*written.Num*n.base.Den != got*n.base.Num*written.Den {
					t.Fatalf("frame %d is at %d × %v, want %d × %s", i, got, n.base, want, base)
				}
			}
		})
	}
}

// A stream cut anywhere before its end is an error or a shorter clip, never a
// panic or a hang.
func TestNUTReaderTruncated(t *testing.T) {
	t.Parallel()
	data := nutSample(t)
	const trailer = 64 // at most: the index, which nothing needs
	for cut := range len(data) - trailer {
		if stamps, err := readNUT(data[:cut]); err == nil && len(stamps) == 9 {
			t.Fatalf("all frames read from %d of %d bytes", cut, len(data))
		}
	}
}

func FuzzNUTReader(f *testing.F) {
	f.Add([]byte(nutID))
	f.Add(nutSample(f))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = readNUT(data) })
}

func FuzzReadPackets(f *testing.F) {
	f.Add("pts=0,duration=1001,flags=K_\npts=1001,duration=N/A,flags=_D\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = readPackets(strings.NewReader(text), media.Limits{MaxFrames: 100})
	})
}

func TestReadPackets(t *testing.T) {
	t.Parallel()
	got, err := readPackets(strings.NewReader("pts=-512,duration=512,flags=KD\n"+
		"pts=0,duration=512,flags=K_\npts=1024,duration=512,flags=__\npts=512,duration=512,flags=__\npts=N/A,duration=1,flags=__\n"+
		"pts=1536,duration=512,size=7,flags=K_\n"), media.Limits{MaxFrames: 4})
	if want := (packetStats{count: 4, bytes: 7, first: 0, last: 1536, lastDuration: 512, lastKey: 3, seekTotal: 6}); err != nil || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Packets that cannot be read are an error, and no end.
func TestReadPacketsFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	text := strings.NewReader("pts=0,duration=1,flags=K_\npts=1,duration=1,flags=__\n")
	if _, err := readPackets(io.MultiReader(text, iotest.ErrReader(broken)), media.Limits{}); !errors.Is(err, broken) {
		t.Errorf("error = %v", err)
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	tests := map[string][2]int{
		"ffmpeg version 5.1.9-0+deb12u1 Copyright": {5, 1},
		"ffmpeg version n7.1 Copyright":            {7, 1},
		"ffmpeg version N-109-gabc Copyright":      {0, 0},
		"something else":                           {0, 0},
	}
	for out, want := range tests {
		if _, major, minor := parseVersion(out); major != want[0] || minor != want[1] {
			t.Errorf("parseVersion(%q) = %d.%d, want %v", out, major, minor, want)
		}
	}
}
