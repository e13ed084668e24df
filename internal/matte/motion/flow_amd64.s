//go:build !purego

#include "textflag.h"

// Bringing flow to the next size, and a picture back by the flow, for AVX2. Operations and their order
// are those of plain.go.

// FACTOR fills y with one of the factors.
#define FACTOR(i, y) VBROADCASTSS ·factors+(4*i)(SB), y

// func mixVector(line, near, far *float32, groups int)
TEXT ·mixVector(SB), NOSPLIT, $0-32
	MOVQ line+0(FP), DI
	MOVQ near+8(FP), SI
	MOVQ far+16(FP), DX
	MOVQ groups+24(FP), CX
	FACTOR(10, Y2)
	FACTOR(7, Y3)

group:
	VMULPS  (SI), Y2, Y0
	VMULPS  (DX), Y3, Y1
	VADDPS  Y1, Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ    $32, DI
	ADDQ    $32, SI
	ADDQ    $32, DX
	DECQ    CX
	JNZ     group
	VZEROUPPER
	RET

// func interpolateVector(dst, line *float32, groups int)
TEXT ·interpolateVector(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ line+8(FP), SI
	MOVQ groups+16(FP), CX
	FACTOR(8, Y6)
	FACTOR(11, Y7)

group:
	VMULPS     (SI), Y6, Y0
	VMULPS     4(SI), Y7, Y1
	VMULPS     8(SI), Y6, Y2
	VADDPS     Y1, Y0, Y0
	VADDPS     Y2, Y1, Y1
	VUNPCKLPS  Y1, Y0, Y2
	VUNPCKHPS  Y1, Y0, Y3
	VPERM2F128 $0x20, Y3, Y2, Y4
	VPERM2F128 $0x31, Y3, Y2, Y5
	VMOVUPS    Y4, (DI)
	VMOVUPS    Y5, 32(DI)
	ADDQ       $32, SI
	ADDQ       $64, DI
	DECQ       CX
	JNZ        group
	VZEROUPPER
	RET

// PAIR sets a and b to the values of two pixels side by side that are the low bytes of
// words.
#define PAIR(words, a, b) \
	VPAND     Y15, words, a; \
	VPSRLD    $8, words, b;  \
	VPAND     Y15, b, b;     \
	VCVTDQ2PS a, a;          \
	VCVTDQ2PS b, b

// BETWEEN sets a to a + k·(b - a).
#define BETWEEN(a, b, k) \
	VSUBPS a, b, b; \
	VMULPS k, b, b; \
	VADDPS b, a, a

// func warpVector(known, mean, diff, u, v *float32, a, b *uint8, row int, x, y, right, bottom float32, groups int)
TEXT ·warpVector(SB), NOSPLIT, $0-88
	MOVQ known+0(FP), DI
	MOVQ mean+8(FP), R8
	MOVQ diff+16(FP), R9
	MOVQ u+24(FP), R10
	MOVQ v+32(FP), R11
	MOVQ a+40(FP), SI
	MOVQ b+48(FP), R12
	MOVQ row+56(FP), AX
	MOVQ groups+80(FP), CX
	LEAQ (R12)(AX*1), R13 // the row below
	XORQ DX, DX
	VMOVD        AX, X14
	VPBROADCASTD X14, Y14
	VBROADCASTSS x+64(FP), Y13
	VADDPS       ·evens(SB), Y13, Y13
	VBROADCASTSS y+68(FP), Y12
	VBROADCASTSS right+72(FP), Y11
	VBROADCASTSS bottom+76(FP), Y10
	VPCMPEQD     Y15, Y15, Y15
	VPSRLD       $24, Y15, Y15
	VXORPS       Y9, Y9, Y9

group:
	VADDPS (R10)(DX*1), Y13, Y0
	VADDPS (R11)(DX*1), Y12, Y1
	VCMPPS $2, Y0, Y9, Y2  // 0 ≤ x
	VCMPPS $2, Y11, Y0, Y3
	VANDPS Y3, Y2, Y2
	VCMPPS $2, Y1, Y9, Y3
	VANDPS Y3, Y2, Y2
	VCMPPS $2, Y10, Y1, Y3
	VANDPS Y3, Y2, Y2
	FACTOR(1, Y3)
	VANDPS  Y3, Y2, Y2
	VMOVUPS Y2, (DI)(DX*1)

	VMAXPS     Y9, Y0, Y0
	VMINPS     Y11, Y0, Y0
	VMAXPS     Y9, Y1, Y1
	VMINPS     Y10, Y1, Y1
	VCVTTPS2DQ Y0, Y2
	VCVTTPS2DQ Y1, Y3
	VCVTDQ2PS  Y2, Y4
	VSUBPS     Y4, Y0, Y0  // the parts of a pixel
	VCVTDQ2PS  Y3, Y4
	VSUBPS     Y4, Y1, Y1
	VPMULLD    Y14, Y3, Y3
	VPADDD     Y3, Y2, Y2
	VPCMPEQD   Y3, Y3, Y3
	VPGATHERDD Y3, (R12)(Y2*1), Y4
	VPCMPEQD   Y3, Y3, Y3
	VPGATHERDD Y3, (R13)(Y2*1), Y5
	PAIR(Y4, Y6, Y7)
	BETWEEN(Y6, Y7, Y0)
	PAIR(Y5, Y4, Y7)
	BETWEEN(Y4, Y7, Y0)
	BETWEEN(Y6, Y4, Y1)

	VMOVDQU   (SI), X4
	VPSLLW    $8, X4, X4   // every second pixel
	VPSRLW    $8, X4, X4
	VPMOVZXWD X4, Y4
	VCVTDQ2PS Y4, Y4
	VADDPS    Y6, Y4, Y5
	FACTOR(7, Y7)
	VMULPS    Y7, Y5, Y5
	VMOVUPS   Y5, (R8)(DX*1)
	VSUBPS    Y4, Y6, Y6
	VMOVUPS   Y6, (R9)(DX*1)

	FACTOR(12, Y7)
	VADDPS Y7, Y13, Y13
	ADDQ   $32, DX
	ADDQ   $16, SI
	DECQ   CX
	JNZ    group
	VZEROUPPER
	RET
