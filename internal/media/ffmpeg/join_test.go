package ffmpeg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media/yuv"
)

// ivf is a file with packets.
func ivf(packets ...string) []byte {
	b := append([]byte("DKIF"), make([]byte, ivfHeader-4)...)
	for i, p := range packets {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
		b = binary.LittleEndian.AppendUint64(b, uint64(i))
		b = append(b, p...)
	}
	return b
}

func TestIVFReader(t *testing.T) {
	t.Parallel()
	whole := ivf("one", "two")
	huge := bytes.Clone(whole)
	copy(huge[ivfHeader:], "\xff\xff\xff\xff")
	tests := map[string]struct {
		data    []byte
		packets int
		err     string // of the content after them
	}{
		"whole":        {whole, 2, "EOF"},
		"nothing":      {nil, 0, "EOF"},
		"no packets":   {ivf(), 0, "EOF"},
		"no signature": {bytes.Replace(whole, []byte("DKIF"), []byte("RIFF"), 1), 0, "malformed IVF stream: no signature"},
		"huge":         {huge, 0, "malformed IVF stream: packet of 4294967295 bytes"},
		"empty packet": {ivf("one", ""), 1, "malformed IVF stream: packet of 0 bytes"},
		"cut header":   {whole[:ivfHeader+5], 0, "unexpected EOF"},
		"cut packet":   {whole[:len(whole)-1], 1, "unexpected EOF"},
		"no data":      {whole[:len(whole)-3], 1, "unexpected EOF"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			r, err := newIVFReader(bytes.NewReader(tt.data))
			for ; err == nil; n++ {
				_, err = r.next()
			}
			if n = max(n-1, 0); n != tt.packets || err.Error() != tt.err {
				t.Errorf("%d packets and %q, want %d and %q", n, err, tt.packets, tt.err)
			}
		})
	}
}

// closer is a pipe that is a buffer.
type closer struct {
	bytes.Buffer
	err error // of Close
}

func (c *closer) Close() error { return c.err }

// Nothing is silently left out, or shown at another frame's time.
func TestJoinerCounts(t *testing.T) {
	t.Parallel()
	const key, inter = "\x80", "\x84"
	tests := map[string]struct {
		colour, alpha []byte
		want          string // of the error
	}{
		"two of each":         {ivf(key, inter), ivf(key, inter), ""},
		"short alpha":         {ivf(key, inter), ivf(key), "mux: the encoder has left out frames"},
		"short colours":       {ivf(key), ivf(key, inter), "mux: the encoder has left out frames"},
		"both short":          {ivf(key), ivf(key), "mux: the encoder has left out frames"},
		"no alpha":            {ivf(key, inter), nil, "mux: the encoder has left out frames"},
		"one colour too many": {ivf(key, inter, inter), ivf(key, inter), "mux: more packets than frames"},
		"one alpha too many":  {ivf(key, inter), ivf(key, inter, inter), "mux: more packets than frames"},
		"one too many":        {ivf(key, inter, inter), ivf(key, inter, inter), "mux: more packets than frames"},
		"not IVF":             {[]byte(strings.Repeat("x", ivfHeader)), nil, "encode: malformed IVF stream: no signature"},
		"cut":                 {ivf(key, inter), ivf(key, inter)[:ivfHeader+20], "encode: unexpected EOF"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := new(closer)
			mkv, err := newMatroskaWriter(pipe, vp9, yuv.Layout{Width: 16, Height: 16, Alpha: true})
			if err != nil {
				t.Fatal(err)
			}
			j := &joiner{op: "mux", to: &webmWriter{pipe: pipe, mkv: mkv}, unit: time.Millisecond, packets: make([][][]byte, 2), running: 2}
			for i := range time.Duration(2) {
				j.expect(&picture{pts: i * time.Second, duration: time.Second})
			}
			encoder := &process{op: "encode", wait: func() error { return nil }}
			for stream, data := range [][]byte{tt.colour, tt.alpha} {
				if err == nil {
					err = j.read(stream, encoder, bytes.NewReader(data))
				}
				if err == nil {
					err = j.end()
				}
			}
			said := ""
			if err != nil {
				said = err.Error()
			}
			if said != tt.want {
				t.Errorf("error %q, want %q", said, tt.want)
			}
		})
	}
}

// Each frame ends where the next one begins, in milliseconds, and none has zero
// length.
func TestJoinerTimes(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, tt := range map[string]struct {
		pts, duration time.Duration
		want          block
	}{
		"whole":       {40 * ms, 40 * ms, block{pts: 40 * ms, duration: 40 * ms}},
		"first of 24": {0, time.Second / 24, block{pts: 0, duration: 42 * ms}},
		"third of 24": {time.Second / 12, time.Second / 24, block{pts: 83 * ms, duration: 42 * ms}},
		"none":        {80 * ms, 0, block{pts: 80 * ms, duration: ms}},
		"very short":  {80*ms + 600*time.Microsecond, 10 * time.Microsecond, block{pts: 81 * ms, duration: ms}},
	} {
		j := &joiner{unit: ms}
		j.expect(&picture{pts: tt.pts, duration: tt.duration})
		if got, ok := j.next(); !ok || got.pts != tt.want.pts || got.duration != tt.want.duration {
			t.Errorf("%s: %v for %v, want %v for %v", name, got.pts, got.duration, tt.want.pts, tt.want.duration)
		}
	}
}

// A broken pipe to the muxer is reported as such if the child says nothing. It
// may be noticed at a packet or at the end.
func TestJoinerBrokenPipe(t *testing.T) {
	t.Parallel()
	child := &process{op: "mux", wait: func() error { return nil }}
	r, w := io.Pipe()
	_ = r.Close() // never fails
	packet := &joiner{to: &webmWriter{child: child, mkv: &matroskaWriter{w: w}}, unit: 1, packets: make([][][]byte, 2), running: 2}
	packet.expect(new(picture))
	end := &joiner{to: &webmWriter{child: child, pipe: &closer{err: os.ErrClosed}}, running: 1}
	for name, err := range map[string]error{
		"packet": errors.Join(packet.read(0, nil, bytes.NewReader(ivf("\x80"))), packet.read(1, nil, bytes.NewReader(ivf("\x80")))),
		"end":    end.end(),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "mux: ") {
			t.Errorf("%s: error = %v, want one of the muxer", name, err)
		}
	}
}

func TestVP9Key(t *testing.T) {
	t.Parallel()
	for packet, want := range map[string]bool{
		"\x82\x49\x83\x42": true,  // key frame, shown
		"\x80\x49\x83\x42": true,  // key frame, hidden
		"\x86\x00":         false, // predicted
		"\x88":             false, // repeats an earlier one
	} {
		if got := vp9Key([]byte(packet)); got != want {
			t.Errorf("vp9Key(%x) = %v", packet, got)
		}
	}
}
