//go:build !purego

#include "textflag.h"

// The inner loop of Consistency for AVX2. Operations and their order are those of plain.go.

// FACTOR fills y with one of the factors.
#define FACTOR(i, y) VBROADCASTSS ·factors+(4*i)(SB), y

// GATHER sets y to the values at p of the pixels in Y5, where Y4 is set.
#define GATHER(p, y) \
	VMOVAPS    Y4, Y12;             \
	VGATHERDPS Y12, (p)(Y5*4), y

// OF sets Y8 to the values at p, Y2 and Y3 of a pixel on.
#define OF(p) \
	GATHER(p, Y8);              \
	LEAQ   (p)(R11*1), AX;      \
	GATHER(AX, Y9);             \
	VSUBPS Y8, Y9, Y9;          \
	VMULPS Y2, Y9, Y9;          \
	VADDPS Y9, Y8, Y8;          \
	LEAQ   (p)(R12*1), AX;      \
	GATHER(AX, Y9);             \
	ADDQ   R11, AX;             \
	GATHER(AX, Y10);            \
	VSUBPS Y9, Y10, Y10;        \
	VMULPS Y2, Y10, Y10;        \
	VADDPS Y10, Y9, Y9;         \
	VSUBPS Y8, Y9, Y9;          \
	VMULPS Y3, Y9, Y9;          \
	VADDPS Y9, Y8, Y8

// func consistencyVector(dst, fx, fy, bx, by *float32, y float32, where *grid, groups int)
TEXT ·consistencyVector(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ fx+8(FP), SI
	MOVQ fy+16(FP), DX
	MOVQ bx+24(FP), R8
	MOVQ by+32(FP), R9
	VBROADCASTSS y+40(FP), Y14
	MOVQ where+48(FP), R10
	MOVQ groups+56(FP), CX
	MOVQ 8(R10), R11
	MOVQ 16(R10), R12
	SHLQ $2, R11
	SHLQ $2, R12
	VMOVUPS ·places(SB), Y15

group:
	VMOVUPS (SI), Y0
	VMOVUPS (DX), Y1
	VADDPS  Y15, Y0, Y2
	VADDPS  Y14, Y1, Y3

	FACTOR(13, Y6)              // which lie inside
	VCMPPS $13, Y6, Y2, Y4
	VCMPPS $13, Y6, Y3, Y5
	VANDPS Y5, Y4, Y4
	VBROADCASTSS 32(R10), Y5
	VCMPPS $2, Y5, Y2, Y5
	VANDPS Y5, Y4, Y4
	VBROADCASTSS 36(R10), Y5
	VCMPPS $2, Y5, Y3, Y5
	VANDPS Y5, Y4, Y4

	VCVTTPS2DQ   Y2, Y5         // the pixels there, and the way on
	VPBROADCASTD 24(R10), Y7
	VPMINSD      Y7, Y5, Y5
	VCVTTPS2DQ   Y3, Y6
	VPBROADCASTD 28(R10), Y7
	VPMINSD      Y7, Y6, Y6
	VCVTDQ2PS    Y5, Y7
	VSUBPS       Y7, Y2, Y2
	VCVTDQ2PS    Y6, Y7
	VSUBPS       Y7, Y3, Y3
	VPBROADCASTD (R10), Y7
	VPMULLD      Y7, Y6, Y6
	VPADDD       Y6, Y5, Y5

	OF(R8)
	VADDPS Y8, Y0, Y11
	OF(R9)
	VADDPS Y8, Y1, Y7

	VMULPS  Y0, Y0, Y8
	VMULPS  Y1, Y1, Y9
	VADDPS  Y9, Y8, Y8
	VSQRTPS Y8, Y8
	FACTOR(14, Y9)
	VMULPS  Y9, Y8, Y8
	FACTOR(15, Y9)
	VADDPS  Y9, Y8, Y8
	VMULPS  Y8, Y8, Y8
	VMULPS  Y11, Y11, Y11
	VADDPS  Y11, Y8, Y9
	VMULPS  Y7, Y7, Y7
	VADDPS  Y7, Y9, Y9
	VDIVPS  Y9, Y8, Y8
	VANDPS  Y4, Y8, Y8
	VMOVUPS Y8, (DI)

	FACTOR(16, Y9)
	VADDPS Y9, Y15, Y15
	ADDQ   $32, DI
	ADDQ   $32, SI
	ADDQ   $32, DX
	DECQ   CX
	JNZ    group
	VZEROUPPER
	RET
