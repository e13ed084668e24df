package bgremove

import (
	"context"
	"encoding/binary"

	"github.com/bgremove/bgremove/internal/media"
	"github.com/bgremove/bgremove/internal/quant"
)

const (
	// alphaStep is the distance of the levels of alpha: 16 of them, 255 included.
	alphaStep = 17
	// stillChange is the change of a channel, from frame to frame, that is noise.
	stillChange = 6
)

// fewColours is a sink that gets the frames in few colours, because lossless files
// are small then. Pixels that hardly change stay as they are.
type fewColours struct {
	media.Sink
	palette []quant.RGB
	mapper  *quant.Mapper
	seen    []uint8 // each pixel as it was when it last changed
	shown   []uint8 // and in few colours
}

func newFewColours(s media.Sink, colours *quant.Histogram, n int) media.Sink {
	palette, _ := colours.Palette(min(n, 256), 0)
	if len(palette) == 0 { // there are none
		return s
	}
	return &fewColours{Sink: s, palette: palette, mapper: quant.NewMapper(palette, 1)}
}

// Write implements media.Sink.
func (s *fewColours) Write(ctx context.Context, f *media.Frame) error {
	pix := f.Image.Pix
	if s.seen == nil {
		s.seen, s.shown = make([]uint8, len(pix)), make([]uint8, len(pix))
	}
	for i := 0; i+4 <= len(pix); i += 4 {
		now, seen, shown := pix[i:i+4:i+4], s.seen[i:i+4:i+4], s.shown[i:i+4:i+4]
		if !isStill(now, seen) {
			copy(seen, now)
			s.reduce(shown, now)
		}
		copy(now, shown)
	}
	return s.Sink.Write(ctx, f)
}

// isStill reports whether a pixel differs from another by noise only.
func isStill(a, b []uint8) bool {
	for c := range 4 {
		if d := int(a[c]) - int(b[c]); d > stillChange || d < -stillChange {
			return false
		}
	}
	return true
}

// reduce writes a pixel in few colours.
func (s *fewColours) reduce(to, pixel []uint8) {
	alpha := (int(pixel[3]) + alphaStep/2) / alphaStep * alphaStep
	if alpha == 0 {
		clear(to)
		return
	}
	c := s.palette[s.mapper.Nearest(binary.LittleEndian.Uint32(pixel))]
	to[0], to[1], to[2], to[3] = c.R, c.G, c.B, uint8(alpha)
}
