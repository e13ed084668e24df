package pipeline

import (
	"image"

	"github.com/bgremove/bgremove/internal/records"
)

// matteFile keeps the mattes of a pass, and foregrounds where there are any, for the
// next pass. First all are appended, then they are read.
type matteFile struct {
	file  *records.File
	sizes []image.Point // of the foregrounds, the zero point where there is none
}

func newMatteFile(dir string) (*matteFile, error) {
	f, err := records.Create(dir)
	if err != nil {
		return nil, err
	}
	return &matteFile{file: f}, nil
}

// append adds a matte and its foreground, which may be nil.
func (k *matteFile) append(m *image.Alpha, foreground *image.NRGBA) error {
	if foreground == nil {
		k.sizes = append(k.sizes, image.Point{})
		return k.file.Append(m.Pix)
	}
	k.sizes = append(k.sizes, foreground.Rect.Size())
	return k.file.Append(m.Pix, foreground.Pix)
}

// read reads the matte of frame i into m, which has the size of the one appended, and
// returns the foreground.
func (k *matteFile) read(i int, m *image.Alpha) (foreground *image.NRGBA, err error) {
	if size := k.sizes[i]; size != (image.Point{}) {
		foreground = image.NewNRGBA(image.Rectangle{Max: size})
		return foreground, k.file.Read(i, m.Pix, foreground.Pix)
	}
	return nil, k.file.Read(i, m.Pix)
}

// close removes them.
func (k *matteFile) close() error { return k.file.Close() }
