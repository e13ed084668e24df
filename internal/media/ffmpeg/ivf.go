package ffmpeg

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ivfReader reads the packets of an IVF file, libvpx's own container: a header
// of 32 bytes, and 12 bytes before every packet, its size and its time.
type ivfReader struct {
	r    *bufio.Reader
	head [ivfPacketHeader]byte
}

const (
	ivfHeader       = 32
	ivfPacketHeader = 12
	ivfMaxPacket    = 1 << 28 // bytes
)

var errIVF = errors.New("malformed IVF stream")

// newIVFReader reads the header. An encoder that is given nothing writes
// nothing: the error is io.EOF then.
func newIVFReader(r io.Reader) (*ivfReader, error) {
	v := &ivfReader{r: bufio.NewReader(r)}
	var head [ivfHeader]byte
	if _, err := io.ReadFull(v.r, head[:]); err != nil {
		return nil, err
	}
	if string(head[:4]) != "DKIF" {
		return nil, fmt.Errorf("%w: no signature", errIVF)
	}
	return v, nil
}

// next reads the next packet, and returns io.EOF after the last.
func (v *ivfReader) next() ([]byte, error) {
	if _, err := io.ReadFull(v.r, v.head[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(v.head[:])
	if size == 0 || size > ivfMaxPacket {
		return nil, fmt.Errorf("%w: packet of %d bytes", errIVF, size)
	}
	var packet bytes.Buffer // grows with the received bytes, whatever the header promises
	_, err := io.CopyN(&packet, v.r, int64(size))
	return packet.Bytes(), unexpected(err)
}
