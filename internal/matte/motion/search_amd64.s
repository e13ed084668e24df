//go:build !purego

#include "textflag.h"

// The inner loops of the search for AVX2. Operations and their order are those of plain.go.

// WEIGHTS fills X15 with the weights of a pixel and the next, as bytes, for AX of 64 parts,
// and X14 with BX parts of 1 << 15, for rounded products.
#define WEIGHTS \
	MOVL         $64, CX;  \
	SUBL         AX, CX;   \
	SHLL         $8, AX;   \
	ORL          CX, AX;   \
	VMOVD        AX, X15;  \
	VPBROADCASTW X15, X15; \
	SHLL         $9, BX;   \
	VMOVD        BX, X14;  \
	VPBROADCASTW X14, X14

// ACROSS sets h to a row of b, between its pixels, and goes to the next.
#define ACROSS(h) \
	VMOVQ      (DI), h;        \
	VMOVQ      1(DI), X2;      \
	VPUNPCKLBW X2, h, h;       \
	VPMADDUBSW X15, h, h;      \
	ADDQ       R10, DI

// LESS sets X3 to what a row of a differs by from one between h and below, and goes to
// the next.
#define LESS(h, below) \
	VPSUBW    h, below, X3; \
	VPMULHRSW X14, X3, X3;  \
	VPADDW    h, X3, X3;    \
	VPMOVZXBW (SI), X4;     \
	VPSLLW    $6, X4, X4;   \
	VPSUBW    X4, X3, X3;   \
	ADDQ      R10, SI

// DIFFER adds that to the sums.
#define DIFFER(h, below) \
	LESS(h, below);            \
	VPSRAW    $2, X3, X3;      \
	VPMADDWD  X13, X3, X4;     \
	VPMADDWD  X3, X3, X5;      \
	VPMADDWD  (R8), X3, X6;    \
	VPMADDWD  (R9), X3, X7;    \
	VPADDD    X4, X8, X8;      \
	VPADDD    X5, X9, X9;      \
	VPADDD    X6, X10, X10;    \
	VPADDD    X7, X11, X11;    \
	LEAQ      (R8)(R10*2), R8; \
	LEAQ      (R9)(R10*2), R9

// func compareVector(s *sums, a, b *uint8, dx, dy *int16, row int, u, v int32)
TEXT ·compareVector(SB), NOSPLIT, $0-56
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DI
	MOVQ dx+24(FP), R8
	MOVQ dy+32(FP), R9
	MOVQ row+40(FP), R10
	MOVL u+48(FP), AX
	MOVL v+52(FP), BX

	WEIGHTS
	VPCMPEQW X13, X13, X13
	VPABSW X13, X13       // ones
	VPXOR X8, X8, X8      // the sums: differences, squares, products
	VPXOR X9, X9, X9
	VPXOR X10, X10, X10
	VPXOR X11, X11, X11
	ACROSS(X0)
	MOVQ $4, CX

rows:
	ACROSS(X1)
	DIFFER(X0, X1)
	ACROSS(X0)
	DIFFER(X1, X0)
	DECQ CX
	JNZ  rows

	VPHADDD X9, X8, X8
	VPHADDD X11, X10, X10
	VPHADDD X10, X8, X8
	MOVQ    s+0(FP), AX
	VMOVDQU X8, (AX)
	RET

// BLEND adds a row of a patch, whose flow is in Y12 and Y13, to the flow.
#define BLEND(h, below) \
	LESS(h, below);          \
	VPABSW    X3, X3;        \
	VPMAXSW   X11, X3, X3;   \
	VPMOVSXWD X3, Y3;        \
	VCVTDQ2PS Y3, Y3;        \
	VMULPS    Y3, Y3, Y3;    \
	VDIVPS    Y3, Y10, Y3;   \
	VADDPS    (DX), Y3, Y4;  \
	VMOVUPS   Y4, (DX);      \
	VMULPS    Y12, Y3, Y4;   \
	VADDPS    (R8), Y4, Y4;  \
	VMOVUPS   Y4, (R8);      \
	VMULPS    Y13, Y3, Y4;   \
	VADDPS    (R9), Y4, Y4;  \
	VMOVUPS   Y4, (R9);      \
	ADDQ      R11, DX;       \
	ADDQ      R11, R8;       \
	ADDQ      R11, R9

// func blendVector(weight, x, y *float32, step int, a, b *uint8, row int, px, py float32, u, v int32)
TEXT ·blendVector(SB), NOSPLIT, $0-72
	MOVQ weight+0(FP), DX
	MOVQ x+8(FP), R8
	MOVQ y+16(FP), R9
	MOVQ step+24(FP), R11
	MOVQ a+32(FP), SI
	MOVQ b+40(FP), DI
	MOVQ row+48(FP), R10
	VBROADCASTSS px+56(FP), Y12
	VBROADCASTSS py+60(FP), Y13
	MOVL u+64(FP), AX
	MOVL v+68(FP), BX
	SHLQ $2, R11
	WEIGHTS
	VBROADCASTSS ·factors+4(SB), Y10
	MOVL $64, AX // the least difference
	VMOVD AX, X11
	VPBROADCASTW X11, X11
	ACROSS(X0)
	MOVQ $4, CX

rows:
	ACROSS(X1)
	BLEND(X0, X1)
	ACROSS(X0)
	BLEND(X1, X0)
	DECQ CX
	JNZ  rows
	VZEROUPPER
	RET
