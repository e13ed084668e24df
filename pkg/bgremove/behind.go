package bgremove

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bgremove/bgremove/internal/canvas"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/picture"
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
	return ended(ctx, err)
}

// scene is what stands behind the subject, or nil where that is nothing, or a colour
// that needs no scene.
func (r *Remover) scene(ctx context.Context, o Options) (scene.Scene, error) {
	b, _ := option.ParseBackground(o.Background)
	switch {
	case b.Colour != nil && o.Harmonise:
		return scene.Colour(*b.Colour), nil
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
	if err != nil {
		return nil, explain(path, err)
	}
	if media.Sniff(head) == media.Unknown {
		return nil, &Error{Kind: Unreadable, Cause: NotPicture, Path: path, Reason: "not a picture nor a clip that bgremove reads"}
	}
	in, err := r.open(ctx, path)
	if err != nil {
		return nil, err
	}
	if in.clip.Info().Truncated {
		return nil, &Error{Kind: Unreadable, Cause: InputTruncated, Path: path, Reason: "the file is truncated"}
	}
	if still, ok := in.clip.(*picture.Clip); ok {
		img, err := still.Decode()
		if err != nil {
			return nil, explain(path, err)
		}
		return scene.Picture(img, fit)
	}
	return scene.Clip(namedClip{in.clip, path}, fit)
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
