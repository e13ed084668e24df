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
// "Alpha channel"). Without alpha there is one encoder.
type joiner struct {
	op   string // of the work, for errors
	to   frameWriter
	unit time.Duration // times are multiples of it

	// fail ends the work of all children, for this reason.
	fail context.CancelCauseFunc

	times   sync.Mutex
	pending []block // the times of frames without written packets

	mu      sync.Mutex // held as long as the muxer takes, as times never is
	packets [][][]byte // of colours and of alpha, which wait for the other
	running int        // encoders that have not ended
}

// frameWriter takes frames whose packets are all there.
type frameWriter interface {
	write(b block) error
	close() error
}

// webmWriter is an ffmpeg child that makes a WebM of packets of VP9, with the sound.
type webmWriter struct {
	child *process
	pipe  io.WriteCloser
	mkv   *matroskaWriter
}

func (w *webmWriter) write(b block) error {
	b.follows = !vp9Key(b.data[0]) || !vp9Key(b.alpha)
	if err := w.mkv.write(b); err != nil {
		return w.child.writeError(err)
	}
	return nil
}

func (w *webmWriter) close() error {
	if err := w.pipe.Close(); err != nil {
		return w.child.writeError(err)
	}
	return nil
}

// expect announces a frame that the encoders are about to be given. It ends, in
// the file's unit, where the next one begins.
func (j *joiner) expect(p *picture) {
	b := block{pts: p.pts.Round(j.unit)}
	b.duration = max(j.unit, (p.pts+p.duration).Round(j.unit)-b.pts)
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
	for _, waiting := range j.packets {
		if len(waiting) == 0 {
			return nil
		}
	}
	b, ok := j.next()
	if !ok {
		return j.surplus()
	}
	b.data = j.packets[0][:1]
	if len(j.packets) > 1 {
		b.alpha = j.packets[1][0]
	}
	for i := range j.packets {
		j.packets[i] = j.packets[i][1:]
	}
	return j.to.write(b)
}

// end completes the file when both encoders have ended.
func (j *joiner) end() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running--; j.running > 0 {
		return nil
	}
	if _, more := j.next(); more {
		return fmt.Errorf("%s: the encoder has left out frames", j.op)
	}
	for _, waiting := range j.packets {
		if len(waiting) > 0 {
			return j.surplus()
		}
	}
	return j.to.close()
}

func (j *joiner) surplus() error {
	return fmt.Errorf("%s: more packets than frames", j.op)
}

// vp9Key reports whether a packet is a key frame by its uncompressed header
// ("VP9 Bitstream & Decoding Process Specification", section 6.2, for profile
// 0): it does not repeat another frame, and its type is 0.
func vp9Key(packet []byte) bool { return packet[0]&0b1100 == 0 }
