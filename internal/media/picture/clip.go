package picture

import (
	"context"
	"image"
	"os"
	"path/filepath"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/yuv"
)

// Clip is a still picture: a clip of one frame without a time. It implements
// media.Clip and is safe for concurrent use.
type Clip struct {
	path   string
	limits media.Limits
	info   media.Info
}

// Probe reads the picture's head; see ReadConfig for the errors.
func Probe(path string, l media.Limits) (*Clip, error) {
	c, err := configOf(path, l)
	if err != nil {
		return nil, err
	}
	return &Clip{path, l, c.info()}, l.CheckTotals(1, int64(c.Width)*int64(c.Height))
}

// info describes a clip of the picture alone.
func (c Config) info() media.Info {
	i := media.Info{Container: c.Kind, Codec: string(c.Kind), Width: c.Width, Height: c.Height, Frames: 1, HasAlpha: c.HasAlpha, Still: true,
		TimeBase: media.Rational{Num: 1, Den: 1000}}
	if c.Subsampled {
		i.Luma = yuv.BT601.Weights()
	}
	return i
}

func configOf(path string, l media.Limits) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, err
	}
	defer f.Close()
	return ReadConfig(f, l)
}

// Info implements media.Clip.
func (c *Clip) Info() media.Info { return c.info }

// Open implements media.Clip.
func (c *Clip) Open(context.Context, media.ReadOptions) (media.Source, error) {
	return media.Single(func(context.Context) (*image.NRGBA, error) { return c.Decode() }), nil
}

// Decode reads the picture.
func (c *Clip) Decode() (*image.NRGBA, error) {
	f, err := os.Open(c.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Decode(f, c.limits)
}

// Name is the file's name.
func (c *Clip) Name() string { return filepath.Base(c.path) }
