package removal

import (
	"image"
	"image/png"
	"io"

	"golang.org/x/image/draw"
)

// previewSide bounds a preview, in pixels: it is looked at while the job runs.
const previewSide = 1024

// encodePreview writes a picture as PNG, made smaller if it is large.
func encodePreview(w io.Writer, img *image.NRGBA) error {
	size := img.Rect.Size()
	if longest := max(size.X, size.Y); longest > previewSide {
		small := image.NewNRGBA(image.Rect(0, 0, max(1, size.X*previewSide/longest), max(1, size.Y*previewSide/longest)))
		draw.ApproxBiLinear.Scale(small, small.Rect, img, img.Rect, draw.Src, nil)
		img = small
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	return encoder.Encode(w, img)
}
