package ortlib

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/bgremove/bgremove/internal/system/infile"
)

// Errors of archives.
var (
	// ErrArchive means that an archive cannot be read to its end.
	ErrArchive = errors.New("the archive is damaged")
	// ErrNoLibrary means that an archive has no library for this system.
	ErrNoLibrary = errors.New("the archive holds no ONNX Runtime library for this system")
)

const (
	maxLibrary = 1 << 30 // bytes; GPU builds keep their kernels in other libraries
	maxArchive = 8 << 30 // bytes unpacked
)

// extract writes the library in an archive to w. The archive's first bytes show
// whether it is a .tgz or a .zip. Names in the archive are only compared with
// the wanted ones.
func extract(archive string, wanted func(name string) bool, w io.Writer) error {
	f, err := infile.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return extractFrom(f, info.Size(), wanted, w)
}

func extractFrom(r io.ReaderAt, size int64, wanted func(name string) bool, w io.Writer) error {
	head := make([]byte, 4)
	if _, err := r.ReadAt(head, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return extractTar(io.NewSectionReader(r, 0, size), wanted, w)
	case bytes.Equal(head, []byte("PK\x03\x04")):
		return extractZip(r, size, wanted, w)
	}
	return fmt.Errorf("%w: neither .tgz nor .zip", ErrArchive)
}

func extractTar(r io.Reader, wanted func(name string) bool, w io.Writer) error {
	unzipped, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	entries := tar.NewReader(io.LimitReader(unzipped, maxArchive))
	for {
		h, err := entries.Next()
		if err == io.EOF {
			return ErrNoLibrary
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrArchive, err)
		}
		if h.Typeflag == tar.TypeReg && wanted(h.Name) {
			return copyLibrary(w, entries, h.Size)
		}
	}
}

func extractZip(r io.ReaderAt, size int64, wanted func(name string) bool, w io.Writer) error {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	for _, f := range archive.File {
		if !f.Mode().IsRegular() || !wanted(f.Name) {
			continue
		}
		content, err := f.Open()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrArchive, err)
		}
		err = copyLibrary(w, content, int64(min(f.UncompressedSize64, maxLibrary+1)))
		return errors.Join(err, content.Close())
	}
	return ErrNoLibrary
}

// copyLibrary copies exactly size bytes.
func copyLibrary(w io.Writer, r io.Reader, size int64) error {
	if size > maxLibrary {
		return fmt.Errorf("%w: a library of %d bytes", ErrArchive, size)
	}
	in := &source{r: io.LimitReader(r, size+1)}
	n, err := io.Copy(w, in)
	switch {
	case in.err != nil:
		return fmt.Errorf("%w: %w", ErrArchive, in.err)
	case err != nil:
		return fmt.Errorf("unpack the library: %w", err)
	case n != size:
		return fmt.Errorf("%w: a library of %d bytes, not %d", ErrArchive, n, size)
	}
	return nil
}

// source records its own error, to distinguish it from the writer's.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// wantedIn recognises the library's name in an archive: npm's one path, or any
// of the library's names in a release's lib folder.
func (b build) wantedIn(goos string) func(name string) bool {
	names := fileNames(goos)
	return func(name string) bool {
		name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
		if strings.HasPrefix(name, "package/") {
			return name == b.npmLibrary
		}
		return path.Base(path.Dir(name)) == "lib" && slices.Contains(names, path.Base(name))
	}
}
