package gif

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"github.com/bgremove/bgremove/internal/media"
)

// Clip is a GIF file. It implements media.Clip and is safe for concurrent use.
type Clip struct {
	path   string
	limits media.Limits
	info   media.Info
}

// Probe scans the file; see Scan for the errors.
func Probe(path string, limits media.Limits) (*Clip, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := Scan(f, limits)
	if err != nil {
		return nil, err
	}
	return &Clip{path: path, limits: limits, info: info}, nil
}

// Info implements media.Clip.
func (c *Clip) Info() media.Info { return c.info }

// Open implements media.Clip.
func (c *Clip) Open(_ context.Context, o media.ReadOptions) (media.Source, error) {
	f, err := os.Open(c.path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(bufio.NewReaderSize(f, 64<<10), c.limits, o.Pool)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &fileSource{Reader: r, file: f, pool: o.Pool, every: max(1, o.Every)}, nil
}

// fileSource is a Reader with its file, which may skip frames: they must be
// decoded all the same, since later ones are painted over them.
type fileSource struct {
	*Reader
	file   io.Closer
	pool   *media.Pool
	every  int
	closed bool
}

func (s *fileSource) Next(ctx context.Context) (*media.Frame, error) {
	f, err := s.Reader.Next(ctx)
	for n := 1; err == nil && n < s.every; n++ {
		skipped, end := s.Reader.Next(ctx)
		if errors.Is(end, io.EOF) {
			break
		}
		if end != nil {
			s.pool.Put(f.Image)
			return nil, end
		}
		s.pool.Put(skipped.Image)
	}
	return f, err
}

func (s *fileSource) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return errors.Join(s.Reader.Close(), s.file.Close())
}
