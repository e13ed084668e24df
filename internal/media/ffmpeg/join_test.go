package ffmpeg

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/media/yuv"
)

// ivf is a file of packets.
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
		err     string // of what comes after them
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
type closer struct{ bytes.Buffer }

func (*closer) Close() error { return nil }

// Nothing is left out, or shown at another frame's time, without a word.
func TestJoinerCounts(t *testing.T) {
	t.Parallel()
	const key, inter = "\x80", "\x84"
	tests := map[string]struct {
		colour, alpha []byte
		want          string // of the error
	}{
		"two of each":   {ivf(key, inter), ivf(key, inter), ""},
		"short alpha":   {ivf(key, inter), ivf(key), "mux: the encoder has left out 1 frames"},
		"short colours": {ivf(key), ivf(key, inter), "mux: the encoder has left out 1 frames"},
		"both short":    {ivf(key), ivf(key), "mux: the encoder has left out 1 frames"},
		"no alpha":      {ivf(key, inter), nil, "mux: the encoder has left out 2 frames"},
		"one too many":  {ivf(key, inter, inter), ivf(key, inter, inter), "mux: more packets than frames"},
		"not IVF":       {[]byte(strings.Repeat("x", ivfHeader)), nil, "encode: malformed IVF stream: no signature"},
		"cut":           {ivf(key, inter), ivf(key, inter)[:ivfHeader+20], "encode: unexpected EOF"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipe := new(closer)
			mkv, err := newMatroskaWriter(pipe, vp9, yuv.Layout{Width: 16, Height: 16, Alpha: true})
			if err != nil {
				t.Fatal(err)
			}
			j := &joiner{child: &process{op: "mux"}, pipe: pipe, mkv: mkv, running: 2}
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

// A pipe to the muxer that breaks is told as such where the child says nothing.
func TestJoinerBrokenPipe(t *testing.T) {
	t.Parallel()
	j := &joiner{child: &process{op: "mux", wait: func() error { return nil }}, running: 2}
	r, w := io.Pipe()
	_ = r.Close() // never fails
	j.mkv = &matroskaWriter{w: w}
	j.expect(&picture{})
	err := j.read(0, nil, bytes.NewReader(ivf("\x80")))
	if err == nil {
		err = j.read(1, nil, bytes.NewReader(ivf("\x80")))
	}
	if err == nil || !strings.HasPrefix(err.Error(), "mux: ") {
		t.Errorf("error = %v, want one of the muxer", err)
	}
}

func TestVP9Key(t *testing.T) {
	t.Parallel()
	for packet, want := range map[string]bool{
		"\x82\x49\x83\x42": true,  // key frame, shown
		"\x80\x49\x83\x42": true,  // key frame, hidden
		"\x86\x00":         false, // predicted
		"\x88":             false, // an earlier one again
	} {
		if got := vp9Key([]byte(packet)); got != want {
			t.Errorf("vp9Key(%x) = %v", packet, got)
		}
	}
}
