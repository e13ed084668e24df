//go:build !purego

#include "textflag.h"

// Only SSE2, which every amd64 has.

// Offsets in toRGB.
#define LUMA      0(R8)
#define RED_CR    16(R8)
#define BLUE_CB   32(R8)
#define GREEN_CB  48(R8)
#define GREEN_CR  64(R8)
#define BLACK     80(R8)
#define ROUNDING  96(R8)

// BRIGHT sets x, eight samples in the high bytes of words, to their share of
// each component.
#define BRIGHT(x) \
	PSRLW  $1, x;  \
	PSUBW  X9, x;  \
	PMULHW X10, x; \
	PADDW  X11, x

// CHANNEL sets lo to 16 bytes of a component: X0 and X1 plus what the
// differences, in lo, give, each for two pixels.
#define CHANNEL(lo, hi) \
	MOVO      lo, hi;  \
	PUNPCKLWL lo, lo;  \
	PUNPCKHWL hi, hi;  \
	PADDW     X0, lo;  \
	PADDW     X1, hi;  \
	PSRAW     $5, lo;  \
	PSRAW     $5, hi;  \
	PACKUSWB  hi, lo

// func decodeBlocks(dst, y, cb, cr *uint8, k *toRGB, blocks int)
TEXT ·decodeBlocks(SB), NOSPLIT, $0-48
	MOVQ    dst+0(FP), DI
	MOVQ    y+8(FP), SI
	MOVQ    cb+16(FP), DX
	MOVQ    cr+24(FP), BX
	MOVQ    k+32(FP), R8
	MOVQ    blocks+40(FP), CX
	MOVOU   BLACK, X9
	MOVOU   LUMA, X10
	MOVOU   ROUNDING, X11
	MOVOU   GREEN_CB, X12
	MOVOU   GREEN_CR, X13
	PCMPEQW X14, X14
	PSLLW   $15, X14   // 0x8000 in each word
	PCMPEQB X15, X15   // opaque

block:
	// 16 luma samples as two times eight words.
	MOVOU     (SI), X2
	PXOR      X0, X0
	PXOR      X1, X1
	PUNPCKLBW X2, X0
	PUNPCKHBW X2, X1
	BRIGHT(X0)
	BRIGHT(X1)

	// Eight pairs of differences, around 0.
	MOVQ      (DX), X7
	MOVQ      (BX), X8
	PXOR      X2, X2
	PXOR      X4, X4
	PUNPCKLBW X7, X4
	PUNPCKLBW X8, X2
	PXOR      X14, X4 // Cb
	PXOR      X14, X2 // Cr
	MOVO      X4, X3
	MOVO      X2, X5
	PMULHW    X12, X3
	PMULHW    X13, X5
	PADDW     X5, X3  // green
	MOVOU     BLUE_CB, X5
	PMULHW    X5, X4  // blue
	MOVOU     RED_CR, X5
	PMULHW    X5, X2  // red

	CHANNEL(X2, X5)
	CHANNEL(X3, X5)
	CHANNEL(X4, X5)

	// r, g, b and opaque, side by side.
	MOVO      X2, X5
	PUNPCKLBW X3, X2  // r g of the first eight
	PUNPCKHBW X3, X5  // and of the rest
	MOVO      X4, X6
	PUNPCKLBW X15, X4 // b a
	PUNPCKHBW X15, X6
	MOVO      X2, X7
	PUNPCKLWL X4, X2
	PUNPCKHWL X4, X7
	MOVO      X5, X8
	PUNPCKLWL X6, X5
	PUNPCKHWL X6, X8
	MOVOU     X2, (DI)
	MOVOU     X7, 16(DI)
	MOVOU     X5, 32(DI)
	MOVOU     X8, 48(DI)

	ADDQ $64, DI
	ADDQ $16, SI
	ADDQ $8, DX
	ADDQ $8, BX
	DECQ CX
	JNZ  block
	RET

// Offsets in toYUV.
#define LUMA_RB     0(R8)
#define LUMA_G      16(R8)
#define CB_RB       32(R8)
#define CB_G        48(R8)
#define CR_RB       64(R8)
#define CR_G        80(R8)
#define LUMA_OFFSET 96(R8)
#define COLOUR_OFFSET 112(R8)
#define EVENS       128(R8)

// LUMA4 sets x to the luma of four pixels.
#define LUMA4(at, x) \
	MOVOU   at, x;   \
	MOVO    x, X5;   \
	PAND    X15, x;  \
	PSRLW   $8, X5;  \
	PMADDWL X14, x;  \
	PMADDWL X13, X5; \
	PADDL   X12, x;  \
	PADDL   X5, x;   \
	PSRAL   $15, x

// func lumaBlocks(y, src *uint8, k *toYUV, blocks int)
TEXT ·lumaBlocks(SB), NOSPLIT, $0-32
	MOVQ  y+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  k+16(FP), R8
	MOVQ  blocks+24(FP), CX
	MOVOU LUMA_OFFSET, X12
	MOVOU LUMA_G, X13
	MOVOU LUMA_RB, X14
	MOVOU EVENS, X15

block:
	LUMA4(0(SI), X0)
	LUMA4(16(SI), X1)
	LUMA4(32(SI), X2)
	LUMA4(48(SI), X3)
	PACKSSLW X1, X0
	PACKSSLW X3, X2
	PACKUSWB X2, X0
	MOVOU    X0, (DI)
	ADDQ     $64, SI
	ADDQ     $16, DI
	DECQ     CX
	JNZ      block
	RET

// func extractAlpha(a, src *uint8, blocks int)
TEXT ·extractAlpha(SB), NOSPLIT, $0-24
	MOVQ a+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX

block:
	MOVOU    (SI), X0
	MOVOU    16(SI), X1
	MOVOU    32(SI), X2
	MOVOU    48(SI), X3
	PSRLL    $24, X0
	PSRLL    $24, X1
	PSRLL    $24, X2
	PSRLL    $24, X3
	PACKSSLW X1, X0
	PACKSSLW X3, X2
	PACKUSWB X2, X0
	MOVOU    X0, (DI)
	ADDQ     $64, SI
	ADDQ     $16, DI
	DECQ     CX
	JNZ      block
	RET

// SUMS sets rb and ga to the sums of four times two pixels by two, red and
// blue side by side, and green and alpha.
#define SUMS(at, rb, ga) \
	MOVOU  at(SI), rb;       \
	MOVOU  at(DX), X4;       \
	MOVO   rb, ga;           \
	MOVO   X4, X5;           \
	PAND   X15, rb;          \
	PAND   X15, X4;          \
	PSRLW  $8, ga;           \
	PSRLW  $8, X5;           \
	PADDW  X4, rb;           \
	PADDW  X5, ga;           \
	MOVOU  (16+at)(SI), X4;  \
	MOVOU  (16+at)(DX), X5;  \
	MOVO   X4, X6;           \
	MOVO   X5, X7;           \
	PAND   X15, X4;          \
	PAND   X15, X5;          \
	PSRLW  $8, X6;           \
	PSRLW  $8, X7;           \
	PADDW  X5, X4;           \
	PADDW  X7, X6;           \
	MOVO   rb, X5;           \
	SHUFPS $0x88, X4, rb;    \
	SHUFPS $0xdd, X4, X5;    \
	PADDW  X5, rb;           \
	MOVO   ga, X5;           \
	SHUFPS $0x88, X6, ga;    \
	SHUFPS $0xdd, X6, X5;    \
	PADDW  X5, ga

// COLOUR4 sets to to one difference for each of four sums.
#define COLOUR4(rb, ga, forRB, forG, to) \
	MOVO    rb, to;    \
	MOVO    ga, X5;    \
	PMADDWL forRB, to; \
	PMADDWL forG, X5;  \
	PADDL   X14, to;   \
	PADDL   X5, to;    \
	PSRAL   $17, to

// func colourBlocks(cb, cr, upper, lower *uint8, k *toYUV, blocks int)
TEXT ·colourBlocks(SB), NOSPLIT, $0-48
	MOVQ  cb+0(FP), DI
	MOVQ  cr+8(FP), BX
	MOVQ  upper+16(FP), SI
	MOVQ  lower+24(FP), DX
	MOVQ  k+32(FP), R8
	MOVQ  blocks+40(FP), CX
	MOVOU CB_RB, X10
	MOVOU CB_G, X11
	MOVOU CR_RB, X12
	MOVOU CR_G, X13
	MOVOU COLOUR_OFFSET, X14
	MOVOU EVENS, X15

block:
	SUMS(0, X0, X1)
	SUMS(32, X2, X3)
	COLOUR4(X0, X1, X10, X11, X6)
	COLOUR4(X2, X3, X10, X11, X7)
	PACKSSLW X7, X6
	PACKUSWB X6, X6
	MOVQ     X6, (DI)
	COLOUR4(X0, X1, X12, X13, X6)
	COLOUR4(X2, X3, X12, X13, X7)
	PACKSSLW X7, X6
	PACKUSWB X6, X6
	MOVQ     X6, (BX)
	ADDQ     $64, SI
	ADDQ     $64, DX
	ADDQ     $8, DI
	ADDQ     $8, BX
	DECQ     CX
	JNZ      block
	RET
