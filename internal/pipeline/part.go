package pipeline

import (
	"encoding/gob"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"github.com/klauspost/compress/s2"
)

// savedFormat is the number of the format that Save writes.
const savedFormat = 1

// savedClip is what a Prepared is saved as, before its frames.
type savedClip struct {
	Format int
	Size   image.Point
	Origin time.Duration
	Frames int
}

// savedFrame is a frame with its final matte.
type savedFrame struct {
	Start, End     time.Duration
	Box            image.Rectangle
	Matte          []byte
	ForegroundSize image.Point // zero where there is no foreground
	Foreground     []byte
}

// ErrSaved is a file that Save of this version has not written, or not for this clip.
var ErrSaved = errors.New("these are no mattes of this clip")

// Save writes the mattes of the kept frames, for Restore. It needs Job.Keep.
func (p *Prepared) Save(w io.Writer) error {
	packed := s2.NewWriter(w)
	if err := p.save(gob.NewEncoder(packed)); err != nil {
		return fmt.Errorf("save mattes: %w", err)
	}
	return packed.Close()
}

func (p *Prepared) save(to *gob.Encoder) error {
	r, m, keep := p.runner, p.measured, p.plan.keep
	if err := to.Encode(savedClip{savedFormat, r.source, m.origin, keep.len()}); err != nil {
		return err
	}
	matte := r.newMatte()
	for i := keep.first; i <= keep.last; i++ {
		foreground, err := m.mattes.read(i, matte)
		if err != nil {
			return err
		}
		if m.volume != nil {
			m.volume.Clean(i, matte)
		}
		f := savedFrame{Start: m.frames[i].start, End: m.frames[i].end, Box: m.frames[i].box, Matte: matte.Pix}
		if foreground != nil {
			f.ForegroundSize, f.Foreground = foreground.Rect.Size(), foreground.Pix
		}
		if err := to.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// Restore is Prepare of the frames whose mattes Save wrote. Of the job's estimator only
// Decontaminate is used, and Timing is the part that was saved. The error is ErrSaved
// for another clip's.
func Restore(job Job, from io.Reader) (*Prepared, error) {
	r := newRunner(job)
	mattes, err := newMatteFile(job.TempDir)
	if err != nil {
		return nil, err
	}
	p := &Prepared{runner: r, measured: &measurements{mattes: mattes}}
	if err := p.restore(gob.NewDecoder(s2.NewReader(from))); err != nil {
		return nil, errors.Join(fmt.Errorf("restore mattes: %w", err), p.Close())
	}
	p.plan = p.measured.plan(span{0, len(p.measured.frames) - 1}, false)
	r.report.Empty = p.plan.box.Empty()
	p.report = r.report
	return p, nil
}

func (p *Prepared) restore(from *gob.Decoder) error {
	var clip savedClip
	if err := from.Decode(&clip); err != nil {
		return errors.Join(ErrSaved, err)
	}
	size := p.runner.source
	if clip.Format != savedFormat || clip.Size != size || clip.Frames < 1 {
		return ErrSaved
	}
	p.measured.origin = clip.Origin
	for range clip.Frames {
		var f savedFrame
		if err := from.Decode(&f); err != nil {
			return errors.Join(ErrSaved, err)
		}
		matte := image.Alpha{Pix: f.Matte, Stride: size.X, Rect: image.Rectangle{Max: size}}
		var foreground *image.NRGBA
		if s := f.ForegroundSize; s != (image.Point{}) {
			foreground = &image.NRGBA{Pix: f.Foreground, Stride: 4 * s.X, Rect: image.Rectangle{Max: s}}
		}
		if len(f.Matte) != size.X*size.Y || foreground != nil && len(f.Foreground) != 4*foreground.Rect.Dx()*foreground.Rect.Dy() {
			return ErrSaved
		}
		p.measured.frames = append(p.measured.frames, frameMeasurement{f.Start, f.End, f.Box})
		if err := p.measured.mattes.append(&matte, foreground); err != nil {
			return err
		}
	}
	return nil
}

// Joined is the report of a clip that was rendered in parts, in order.
func Joined(parts []Report) Report {
	first, last := parts[0], parts[len(parts)-1]
	all := Report{Layout: first.Layout, Start: first.Start, Duration: last.Start + last.Duration - first.Start, Empty: true, Busy: make(map[string]time.Duration)}
	for _, p := range parts {
		all.Frames += p.Frames
		all.Dropped += p.Dropped
		all.Empty = all.Empty && p.Empty
		for stage, busy := range p.Busy {
			all.Busy[stage] += busy
		}
		all.Quality.Fragments = max(all.Quality.Fragments, p.Quality.Fragments)
	}
	for _, p := range parts {
		all.Quality.add(p.Quality, float64(p.Frames)/float64(all.Frames))
	}
	return all
}
