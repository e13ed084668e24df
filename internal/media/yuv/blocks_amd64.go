//go:build !purego

package yuv

// block is how many samples of a plane are made, or used, at once.
const block = 16

// blocks converts as many pixels of a row as fill blocks, and says how many.
func (k *toRGB) blocks(dst, y, cb, cr []uint8) (done int) {
	if n := len(y) / block; n > 0 {
		decodeBlocks(&dst[0], &y[0], &cb[0], &cr[0], k, n)
		return n * block
	}
	return 0
}

// lumaBlocks makes as many samples as fill blocks, and says how many.
func (k *toYUV) lumaBlocks(y, src []uint8) (done int) {
	if n := len(y) / block; n > 0 {
		lumaBlocks(&y[0], &src[0], k, n)
		return n * block
	}
	return 0
}

// alphaBlocks takes as many samples as fill blocks, and says how many.
func alphaBlocks(a, src []uint8) (done int) {
	if n := len(a) / block; n > 0 {
		extractAlpha(&a[0], &src[0], n)
		return n * block
	}
	return 0
}

// colourBlocks makes differences that fill half blocks from pixels that fill
// blocks, and returns their number.
func (k *toYUV) colourBlocks(cb, cr, upper, lower []uint8) (done int) {
	if n := len(upper) / 4 / block; n > 0 {
		colourBlocks(&cb[0], &cr[0], &upper[0], &lower[0], k, n)
		return n * block / 2
	}
	return 0
}

//go:noescape
func decodeBlocks(dst, y, cb, cr *uint8, k *toRGB, blocks int)

//go:noescape
func lumaBlocks(y, src *uint8, k *toYUV, blocks int)

//go:noescape
func extractAlpha(a, src *uint8, blocks int)

//go:noescape
func colourBlocks(cb, cr, upper, lower *uint8, k *toYUV, blocks int)
