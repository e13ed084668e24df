package onnx

import (
	"context"
	"image"
)

// Estimated is the result for a frame, and whether it is that of another one.
type Estimated struct {
	Result
	Reused bool
}

// Estimate starts the network on a frame and waits for it.
func (c *Clip) Estimate(ctx context.Context, img *image.NRGBA) (Estimated, error) {
	i, err := c.Start(ctx, img, c.Picture(img))
	if err != nil {
		return Estimated{}, err
	}
	r, err := i.Wait(ctx)
	return Estimated{r, i.original != nil}, err
}

// Matte is that of a single picture.
func (n *Network) Matte(ctx context.Context, img *image.NRGBA) (*image.Alpha, error) {
	r, err := n.NewClip(ClipOptions{NoReuse: true}).Estimate(ctx, img)
	return r.Matte, err
}
