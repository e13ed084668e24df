//go:build !purego

#include "textflag.h"
#include "kernels_amd64.h"

// The inner loops for AVX2. Operations and their order are those of plain.go.

// CHANNEL makes the four words of a pixel's channel, at bit n, floats of eight pixels
// of Y1 and Y3 in y, by what is at inv.
#define CHANNEL(n, y, inv) \
	VPSRLQ       $n, Y1, y;         \
	VPSRLQ       $n, Y3, Y7;        \
	VPAND        Y9, y, y;          \
	VPAND        Y9, Y7, Y7;        \
	VSHUFPS      $0x88, Y7, y, y;   \
	VPERMQ       $0xD8, y, y;       \
	VCVTDQ2PS    y, y;              \
	VBROADCASTSS inv(DI), Y7;       \
	VMULPS       Y7, y, y

// COLLECT adds v to the plane at p, whose older values count Y2, where mask is set.
#define COLLECT(p, v, mask) \
	MOVQ      p(DI), AX;         \
	VMOVUPS   (AX)(BX*4), Y1;    \
	VMULPS    Y2, Y1, Y3;        \
	VADDPS    v, Y3, Y3;         \
	VBLENDVPS mask, Y3, Y1, Y1;  \
	VMOVUPS   Y1, (AX)(BX*4)

// AGE sets Y2 to how much older ones count, by the number of frames at p.
#define AGE(p) \
	MOVQ      p(DI), AX;          \
	VMOVUPS   (AX)(BX*4), Y0;     \
	FACTOR(HISTORY, Y1);          \
	VCMPPS    $13, Y1, Y0, Y1;    \
	FACTOR(ONE, Y2);              \
	FACTOR(OLDER, Y3);            \
	VBLENDVPS Y1, Y3, Y2, Y2

// MEAN sets y to the plane at p by Y1.
#define MEAN(p, y) \
	MOVQ    p(DI), AX;        \
	VMOVUPS (AX)(BX*4), y;    \
	VMULPS  Y1, y, y

// COLOUR writes the mean in y to the plane of colours at p.
#define COLOUR(p, y) \
	FACTOR(SIXTYFOUR, Y2);         \
	VMULPS     Y2, y, Y2;          \
	FACTOR(HALF, Y3);              \
	VADDPS     Y3, Y2, Y2;         \
	FACTOR(HIGHEST, Y3);           \
	VMINPS     Y3, Y2, Y2;         \
	VCVTTPS2DQ Y2, Y2;             \
	VPAND      Y14, Y2, Y2;        \
	VPACKUSDW  Y2, Y2, Y2;         \
	VPERMQ     $0x08, Y2, Y2;      \
	MOVQ       p(DI), AX;          \
	VMOVDQU    X2, (AX)(BX*2)

// func layVector(a *layArguments)
TEXT ·layVector(SB), NOSPLIT, $0-8
	MOVQ a+0(FP), DI
	MOVQ 0(DI), SI
	MOVQ 8(DI), R10
	MOVQ 16(DI), R11
	MOVQ 24(DI), R12
	LEAQ (R11*4), R8
	LEAQ (R12*4), R9
	MOVQ 192(DI), CX
	XORQ BX, BX
	VPBROADCASTW 160(DI), Y10
	VPBROADCASTW 164(DI), Y11
	VPBROADCASTW 168(DI), Y12
	VPBROADCASTW 172(DI), Y13

lay:
	LEAQ (R10)(BX*1), DX
	MOVQ (DX), AX
	ANDQ (DX)(R11*1), AX
	ADDQ R12, DX
	ANDQ (DX), AX
	ANDQ (DX)(R11*1), AX
	TESTQ AX, AX
	JZ   layNext
	VMOVQ AX, X0
	VPMOVZXBD X0, Y0
	INTEGER(1, X1, Y1)
	VPCMPEQD Y1, Y0, Y14
	VPADDD   Y1, Y1, Y1
	VPCMPEQD Y1, Y0, Y15

	// The frame between its pixels.
	LEAQ      (SI)(R9*1), DX
	VPMOVZXBW (SI), Y1
	VPMULLW   Y10, Y1, Y1
	VPMOVZXBW (SI)(R8*1), Y2
	VPMULLW   Y11, Y2, Y2
	VPADDW    Y2, Y1, Y1
	VPMOVZXBW (DX), Y2
	VPMULLW   Y12, Y2, Y2
	VPADDW    Y2, Y1, Y1
	VPMOVZXBW (DX)(R8*1), Y2
	VPMULLW   Y13, Y2, Y2
	VPADDW    Y2, Y1, Y1
	VPMOVZXBW 16(SI), Y3
	VPMULLW   Y10, Y3, Y3
	VPMOVZXBW 16(SI)(R8*1), Y2
	VPMULLW   Y11, Y2, Y2
	VPADDW    Y2, Y3, Y3
	VPMOVZXBW 16(DX), Y2
	VPMULLW   Y12, Y2, Y2
	VPADDW    Y2, Y3, Y3
	VPMOVZXBW 16(DX)(R8*1), Y2
	VPMULLW   Y13, Y2, Y2
	VPADDW    Y2, Y3, Y3
	VPCMPEQD  Y9, Y9, Y9
	VPSRLQ    $48, Y9, Y9
	CHANNEL(0, Y4, 176)
	CHANNEL(16, Y5, 180)
	CHANNEL(32, Y6, 184)

	// The backdrop's sums.
	AGE(56)
	FACTOR(ONE, Y7)
	COLLECT(32, Y4, Y14)
	COLLECT(40, Y5, Y14)
	COLLECT(48, Y6, Y14)
	COLLECT(56, Y7, Y14)
	VMULPS Y4, Y4, Y7
	VMULPS Y5, Y5, Y8
	VADDPS Y8, Y7, Y7
	VMULPS Y6, Y6, Y8
	VADDPS Y8, Y7, Y7
	COLLECT(64, Y7, Y14)

	// The subject's.
	VMOVMSKPS Y15, AX
	TESTL AX, AX
	JZ    layPixels
	AGE(96)
	FACTOR(ONE, Y7)
	COLLECT(72, Y4, Y15)
	COLLECT(80, Y5, Y15)
	COLLECT(88, Y6, Y15)
	COLLECT(96, Y7, Y15)

layPixels:
	MOVQ    56(DI), AX
	VMOVUPS (AX)(BX*4), Y0 // the number of frames
	FACTOR(LEAST, Y1)
	VCMPPS  $13, Y1, Y0, Y14
	FACTOR(ONE, Y1)
	VDIVPS  Y0, Y1, Y1
	MEAN(32, Y4)
	MEAN(40, Y5)
	MEAN(48, Y6)
	MEAN(64, Y7)
	VMULPS Y4, Y4, Y2
	VSUBPS Y2, Y7, Y7
	VMULPS Y5, Y5, Y2
	VSUBPS Y2, Y7, Y7
	VMULPS Y6, Y6, Y2
	VSUBPS Y2, Y7, Y7
	VXORPS Y2, Y2, Y2
	VMAXPS Y2, Y7, Y7
	FACTOR(THREE, Y2)
	VDIVPS Y2, Y7, Y7 // the variance
	COLOUR(104, Y4)
	COLOUR(112, Y5)
	COLOUR(120, Y6)
	VPSRLD $31, Y14, Y2
	BYTES(128, X2, Y2)
	VSQRTPS Y7, Y2
	FACTOR(FOUR, Y3)
	VMULPS Y3, Y2, Y2
	ROUND(Y2, Y8, Y14)
	BYTES(136, X2, Y2)
	FACTOR(SIXTEEN, Y2)
	VMULPS Y0, Y2, Y2
	ROUND(Y2, Y8, Y14)
	BYTES(144, X2, Y2)

	// The share of frames in which the place was taken for the subject.
	MOVQ    96(DI), AX
	VMOVUPS (AX)(BX*4), Y8
	FACTOR(LEAST, Y1)
	VCMPPS  $13, Y1, Y8, Y15
	VANDPS  Y15, Y14, Y15
	FACTOR(ONE, Y1)
	VDIVPS  Y8, Y1, Y1
	MEAN(72, Y2)
	VSUBPS  Y4, Y2, Y2
	VMULPS  Y2, Y2, Y2
	MEAN(80, Y3)
	VSUBPS  Y5, Y3, Y3
	VMULPS  Y3, Y3, Y3
	VADDPS  Y3, Y2, Y2
	MEAN(88, Y3)
	VSUBPS  Y6, Y3, Y3
	VMULPS  Y3, Y3, Y3
	VADDPS  Y3, Y2, Y2
	FACTOR(NOISE, Y1)
	VMAXPS  Y1, Y7, Y7
	FACTOR(TWENTYSEVEN, Y1)
	VMULPS  Y1, Y7, Y7
	VDIVPS  Y7, Y2, Y2
	FACTOR(ONE, Y1)
	VADDPS  Y1, Y2, Y2
	VDIVPS  Y2, Y1, Y2
	FACTOR(FULL, Y1)
	VMULPS  Y1, Y2, Y2
	VMULPS  Y8, Y2, Y2
	VADDPS  Y0, Y8, Y8
	VDIVPS  Y8, Y2, Y2
	ROUND(Y2, Y8, Y15)
	BYTES(152, X2, Y2)

layNext:
	ADDQ $8, BX
	ADDQ $32, SI
	DECQ CX
	JNZ  lay
	VZEROUPPER
	RET
