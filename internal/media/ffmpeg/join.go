package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// joiner puts the packets of two encoders together, of colours and of alpha,
// which is the luma of grey pictures. A block of WebM holds the one, and the
// other as its BlockAdditional (RFC 9559, section 5.1.3.5.2.2, and WebM's
// "Alpha channel"). An ffmpeg child makes the file of them, with the sound.
type joiner struct {
	child *process
	pipe  io.WriteCloser
	mkv   *matroskaWriter

	// fail ends the work of all children, for this reason.
	fail context.CancelCauseFunc

	times   sync.Mutex
	pending []block // the times of frames without written packets

	mu      sync.Mutex  // held as long as the muxer takes, as times never is
	packets [2][][]byte // of colours and of alpha, which wait for the other
	running int         // encoders that have not ended
}

// expect announces a frame that the encoders are about to be given. It ends, in
// the file's milliseconds, where the next one begins.
func (j *joiner) expect(p *picture) {
	b := block{pts: p.pts.Round(time.Millisecond)}
	b.duration = max(time.Millisecond, (p.pts+p.duration).Round(time.Millisecond)-b.pts)
	j.times.Lock()
	defer j.times.Unlock()
	j.pending = append(j.pending, b)
}

// next takes the times of the next frame to be written.
func (j *joiner) next() (b block, ok bool) {
	j.times.Lock()
	defer j.times.Unlock()
	if len(j.pending) == 0 {
		return block{}, false
	}
	b, j.pending = j.pending[0], j.pending[1:]
	return b, true
}

// join takes an encoder's packets until it ends. All are read at once, so that
// neither encoder ever waits for the other.
func (j *joiner) join(stream int, encoder *process, output io.Reader) error {
	if err := j.read(stream, encoder, output); err != nil {
		j.fail(err)
		_ = encoder.wait() // killed on purpose
		return err
	}
	if err := encoder.wait(); err != nil {
		return err
	}
	return j.end()
}

func (j *joiner) read(stream int, encoder *process, output io.Reader) error {
	ivf, err := newIVFReader(output)
	for err == nil {
		var packet []byte
		if packet, err = ivf.next(); err == nil {
			if failure := j.add(stream, packet); failure != nil {
				return failure
			}
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, errIVF):
		return fmt.Errorf("%s: %w", encoder.op, err)
	}
	return encoder.writeError(err) // it has ended in the middle
}

// add writes the packets of a frame as soon as there are both.
func (j *joiner) add(stream int, packet []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.packets[stream] = append(j.packets[stream], packet)
	colour, alpha := j.packets[0], j.packets[1]
	if len(colour) == 0 || len(alpha) == 0 {
		return nil
	}
	b, ok := j.next()
	if !ok {
		return j.surplus()
	}
	b.data, b.alpha = colour[:1], alpha[0]
	b.follows = !vp9Key(colour[0]) || !vp9Key(alpha[0])
	j.packets[0], j.packets[1] = colour[1:], alpha[1:]
	if err := j.mkv.write(b); err != nil {
		return j.child.writeError(err)
	}
	return nil
}

// end completes the file when both encoders have ended.
func (j *joiner) end() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running--; j.running > 0 {
		return nil
	}
	if _, more := j.next(); more {
		return fmt.Errorf("%s: the encoder has left out frames", j.child.op)
	}
	if len(j.packets[0])+len(j.packets[1]) > 0 {
		return j.surplus()
	}
	if err := j.pipe.Close(); err != nil {
		return j.child.writeError(err)
	}
	return nil
}

func (j *joiner) surplus() error {
	return fmt.Errorf("%s: more packets than frames", j.child.op)
}

// vp9Key reports whether a packet is a key frame by its uncompressed header
// ("VP9 Bitstream & Decoding Process Specification", section 6.2, for profile
// 0): it does not repeat another frame, and its type is 0.
func vp9Key(packet []byte) bool { return packet[0]&0b1100 == 0 }
