package bgremove

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // the pictures that are read
	_ "image/png"
	"io"
	"io/fs"
	"os"
	"strconv"

	_ "golang.org/x/image/webp" // also a picture that is read

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/scene"
	"github.com/bgremove/bgremove/pkg/option"
)

// CheckBackground reads what is behind the subject, as Remove does before its
// work begins, and explains why it cannot be used.
func (r *Remover) CheckBackground(ctx context.Context, o Options) error {
	if err := Validate(o); err != nil {
		return err
	}
	if err := checkRoom(o.WithPreset()); err != nil {
		return err
	}
	_, err := r.scene(ctx, o)
	return err
}

// scene is what stands behind the subject, or nil where that is a colour or
// nothing.
func (r *Remover) scene(ctx context.Context, o Options) (scene.Scene, error) {
	b, _ := option.ParseBackground(o.Background)
	switch {
	case b.Blur != nil:
		return scene.Blur{Radius: b.Blur.Radius}, nil
	case b.Gradient != nil:
		return scene.Gradient(b.Gradient.From, b.Gradient.To, b.Gradient.Angle), nil
	case b.File != "":
		return r.sceneOfFile(ctx, b.File, o.BackgroundFit)
	}
	return nil, nil
}

// rim is what is drawn around the subject.
func rim(o Options) (r canvas.Rim) {
	if line, ok := option.ParseOutline(o.Outline); ok {
		r.Outline = &canvas.Outline{Colour: line.Colour, Width: line.Width}
	}
	if cast, ok := option.ParseShadow(o.Shadow); ok {
		s := canvas.Shadow(cast)
		r.Shadow = &s
	}
	return r
}

// checkRoom refuses a canvas that the outline and the shadow would fill.
func checkRoom(o Options) error {
	before, after := rim(o).Margins()
	need := before.Add(after)
	for _, side := range []struct {
		field     string
		has, need int
	}{{"canvasW", o.CanvasW, need.X}, {"canvasH", o.CanvasH, need.Y}} {
		if !o.MaskOnly && side.has > 0 && side.has <= side.need {
			return &Error{Kind: Invalid, Field: side.field,
				Reason: fmt.Sprintf("%d leaves no room for the subject: the outline and the shadow take %d pixels", side.has, side.need)}
		}
	}
	return nil
}

// sceneOfFile is a picture or a clip behind the subject. The file's content decides its type.
func (r *Remover) sceneOfFile(ctx context.Context, path string, fit option.Fit) (scene.Scene, error) {
	head, _, err := readHead(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Kind: NotFound, Path: path, Reason: "no such file", Err: err}
	case err != nil:
		return nil, explain(path, err)
	}
	switch media.Sniff(head) {
	case media.PNG, media.JPEG, media.WebP:
		img, err := r.readPicture(path)
		if err != nil {
			return nil, explain(path, err)
		}
		return scene.Picture(img, fit)
	case media.GIF, media.MP4, media.MOV, media.WebM, media.Matroska:
		in, err := r.open(ctx, path)
		if err != nil {
			return nil, err
		}
		if in.clip.Info().Truncated {
			return nil, &Error{Kind: Unreadable, Cause: InputTruncated, Path: path, Reason: "the file is truncated"}
		}
		return scene.Clip(namedClip{in.clip, path}, fit)
	}
	return nil, &Error{Kind: Unreadable, Cause: NotPicture, Path: path,
		Reason: "not a picture (PNG, JPEG, WebP) nor a clip (GIF, MP4, MOV, WebM)"}
}

// namedClip is a clip beside the input: its errors name its own file.
type namedClip struct {
	media.Clip
	path string
}

// Open starts a pass.
func (c namedClip) Open(ctx context.Context, o media.ReadOptions) (media.Source, error) {
	src, err := c.Clip.Open(ctx, o)
	if err != nil {
		return nil, c.explain(err)
	}
	return namedSource{src, c}, nil
}

func (c namedClip) explain(err error) error {
	if errors.Is(err, io.EOF) {
		return err
	}
	return explain(c.path, err)
}

type namedSource struct {
	media.Source
	clip namedClip
}

// Next returns the next frame.
func (s namedSource) Next(ctx context.Context) (*media.Frame, error) {
	f, err := s.Source.Next(ctx)
	if err != nil {
		return nil, s.clip.explain(err)
	}
	return f, nil
}

// readPicture decodes a picture within the limits.
func (r *Remover) readPicture(path string) (image.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	damaged := func(err error) error {
		return &Error{Kind: Unreadable, Cause: InputDamaged, Path: path, Reason: "the picture cannot be read: " + err.Error(), Err: err}
	}
	c, _, err := image.DecodeConfig(bufio.NewReader(f))
	if err != nil {
		return nil, damaged(err)
	}
	limits := r.config.Limits.video()
	if area := int64(c.Width) * int64(c.Height); c.Width > limits.MaxSide || c.Height > limits.MaxSide || area > limits.MaxArea {
		return nil, &Error{Kind: TooLarge, Cause: OverLimits, Path: path, Name: "picture", Limit: strconv.FormatInt(limits.MaxArea, 10),
			Reason: fmt.Sprintf("the picture is too large: %d×%d", c.Width, c.Height)}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	img, kind, err := image.Decode(bufio.NewReader(f))
	if err != nil {
		return nil, damaged(err)
	}
	if kind == string(media.WebP) {
		fullRange(img)
	}
	return img, nil
}

// fullRange spreads the video levels of a lossy WebP, in place: the decoder passes
// them on as if they were a JPEG's, which use all 256 levels.
func fullRange(img image.Image) {
	var p *image.YCbCr
	switch img := img.(type) {
	case *image.YCbCr:
		p = img
	case *image.NYCbCrA:
		p = &img.YCbCr
	default:
		return
	}
	spread := func(pix []uint8, from, to, levels float64) {
		for i, v := range pix {
			pix[i] = uint8(min(max((float64(v)-from)*255/levels+to+0.5, 0), 255))
		}
	}
	spread(p.Y, 16, 0, 219)
	spread(p.Cb, 128, 128, 224)
	spread(p.Cr, 128, 128, 224)
}
