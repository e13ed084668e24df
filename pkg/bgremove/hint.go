package bgremove

import (
	"fmt"
	"image"
	"image/color"

	"github.com/bgremove/bgremove/internal/matte/segment"
	"github.com/bgremove/bgremove/internal/matte/subject"
	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/media/picture"
	"github.com/bgremove/bgremove/pkg/option"
)

// defaultBrush is the radius of a stroke that tells none, as a share of the picture's height.
const defaultBrush = 0.02

// hints are the wishes for a clip, or an *Error that says which does not fit it.
func (r *Remover) hints(o Options, info media.Info) (all []segment.Hint, err error) {
	if err := o.CheckHints(info.Width, info.Height, info.Duration); err != nil {
		return nil, invalid(err)
	}
	for i, h := range o.Hints {
		wish := segment.Hint{At: h.At, Hint: shares(h, float64(info.Width), float64(info.Height))}
		if h.Mask != "" {
			if wish.Mask, err = r.maskOf(h.Mask); err != nil {
				return nil, err
			}
			if size := wish.Mask.Rect.Size(); size != image.Pt(info.Width, info.Height) {
				return nil, &Error{Kind: Invalid, Field: "hints", Reason: fmt.Sprintf("number %d (%s) has %d×%d pixels, and not the input's %d×%d",
					i+1, h, size.X, size.Y, info.Width, info.Height)}
			}
		}
		all = append(all, wish)
	}
	return all, nil
}

// shares is a hint with its places as shares of a picture of w × h pixels, without its mask.
func shares(h option.Hint, w, height float64) subject.Hint {
	at := func(x, y float64) subject.Point { return subject.Point{X: x / w, Y: y / height} }
	s := subject.Hint{Keep: h.Keep, Radius: h.Radius / height}
	if c := h.Click; c != nil {
		p := at(c[0], c[1])
		s.Click = &p
	}
	if b := h.Box; b != nil {
		s.Box = &[2]subject.Point{at(b[0], b[1]), at(b[0]+b[2]-1, b[1]+b[3]-1)}
	}
	for _, p := range h.Stroke {
		s.Stroke = append(s.Stroke, at(p[0], p[1]))
	}
	if s.Radius == 0 {
		s.Radius = defaultBrush
	}
	return s
}

// maskOf is what a picture marks: what is opaque, or bright if all is.
func (r *Remover) maskOf(path string) (*image.Alpha, error) {
	f, err := openInput(path)
	if err != nil {
		return nil, explain(path, err)
	}
	defer f.Close()
	img, err := picture.Decode(f, r.config.Limits.video())
	if err != nil {
		return nil, explain(path, err)
	}
	m := image.NewAlpha(img.Rect)
	for i := range m.Pix {
		m.Pix[i] = img.Pix[4*i+3]
	}
	if img.Opaque() {
		for i := range m.Pix {
			p := img.Pix[4*i:]
			m.Pix[i] = color.GrayModel.Convert(color.NRGBA{p[0], p[1], p[2], 255}).(color.Gray).Y
		}
	}
	return m, nil
}
