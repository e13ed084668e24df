//go:build !amd64 || purego

package yuv

// Without vectors nothing is done by blocks: all is left to the rows.

func (k *toRGB) blocks(_, _, _, _ []uint8) (done int)       { return 0 }
func (k *toYUV) lumaBlocks(_, _ []uint8) (done int)         { return 0 }
func (k *toYUV) colourBlocks(_, _, _, _ []uint8) (done int) { return 0 }
func alphaBlocks(_, _ []uint8) (done int)                   { return 0 }
