package ffmpeg

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzIVF checks that an encoder's output is read to its end or refused.
// Reading must not take more memory than the output has bytes.
func FuzzIVF(f *testing.F) {
	head := append([]byte("DKIF"), make([]byte, ivfHeader-4)...)
	f.Add(append(head, "\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00abc"...))
	f.Add(append(head, "\xff\xff\xff\x0f\x00\x00\x00\x00\x00\x00\x00\x00abc"...))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := newIVFReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		total := 0
		for {
			packet, err := v.next()
			if err != nil {
				if !errors.Is(err, errIVF) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Error(err)
				}
				return
			}
			if total += len(packet); len(packet) == 0 || total > len(data) || cap(packet) > 4*len(data)+4096 {
				t.Fatalf("%d bytes in %d of a file of %d", len(packet), cap(packet), len(data))
			}
		}
	})
}
