package media_test

import (
	"context"
	"errors"
	"image"
	"io"
	"testing"

	"github.com/bgremove/bgremove/internal/media"
)

func TestSingle(t *testing.T) {
	t.Parallel()
	want, wrong := image.NewNRGBA(image.Rect(0, 0, 3, 2)), errors.New("wrong")
	read := func(img *image.NRGBA, err error) media.Source {
		return media.Single(func(context.Context) (*image.NRGBA, error) { return img, err })
	}
	s := read(want, nil)
	f, err := s.Next(t.Context())
	if err != nil || f.Image != want || f.PTS != 0 || f.Duration != 0 {
		t.Errorf("the first frame is %v, %v", f, err)
	}
	if _, err := s.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after it: %v, want %v", err, io.EOF)
	}
	if _, err := read(nil, wrong).Next(t.Context()); !errors.Is(err, wrong) {
		t.Errorf("a picture that cannot be read: %v, want %v", err, wrong)
	}
	closed := read(want, nil)
	if err := closed.Close(); err != nil {
		t.Error(err)
	}
	if _, err := closed.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after Close: %v, want %v", err, io.EOF)
	}
	ended, end := context.WithCancelCause(t.Context())
	end(wrong)
	if _, err := read(want, nil).Next(ended); !errors.Is(err, wrong) {
		t.Errorf("after the context's end: %v, want its cause", err)
	}
}
