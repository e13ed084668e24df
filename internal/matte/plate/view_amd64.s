//go:build !purego

#include "textflag.h"
#include "kernels_amd64.h"

// The inner loops of predictions and views for AVX2. Operations and their order are those of plain.go.

// BETWEEN sets y to the words of the plane at p, between places.
#define BETWEEN(p, y) \
	MOVQ      p(DI), AX;            \
	LEAQ      (AX)(BX*2), AX;       \
	VPMOVZXWD (AX), y;              \
	VPMULLD   Y10, y, y;            \
	VPMOVZXWD (AX)(R11*2), Y3;      \
	VPMULLD   Y11, Y3, Y3;          \
	VPADDD    Y3, y, y;             \
	LEAQ      (AX)(R12*2), AX;      \
	VPMOVZXWD (AX), Y3;             \
	VPMULLD   Y12, Y3, Y3;          \
	VPADDD    Y3, y, y;             \
	VPMOVZXWD (AX)(R11*2), Y3;      \
	VPMULLD   Y13, Y3, Y3;          \
	VPADDD    Y3, y, y;             \
	VPSRLD    $8, y, y

// LIT brings colours to the light at l.
#define LIT(y, l) \
	VPBROADCASTD l(DI), Y3;      \
	VPMULLD      Y3, y, y;       \
	VPADDD       Y14, y, y;      \
	VPSRLD       $20, y, y;      \
	VPMINSD      Y15, y, y

// BYTESBETWEEN sets y to the bytes of the plane at p, between places.
#define BYTESBETWEEN(p, y) \
	MOVQ      p(DI), AX;            \
	ADDQ      BX, AX;               \
	VPMOVZXBD (AX), y;              \
	VPMULLD   Y10, y, y;            \
	VPMOVZXBD (AX)(R11*1), Y3;      \
	VPMULLD   Y11, Y3, Y3;          \
	VPADDD    Y3, y, y;             \
	ADDQ      R12, AX;              \
	VPMOVZXBD (AX), Y3;             \
	VPMULLD   Y12, Y3, Y3;          \
	VPADDD    Y3, y, y;             \
	VPMOVZXBD (AX)(R11*1), Y3;      \
	VPMULLD   Y13, Y3, Y3;          \
	VPADDD    Y3, y, y;             \
	VPADDD    Y9, y, y;             \
	VPSRLD    $8, y, y

// func drawVector(a *drawArguments) (left int)
TEXT ·drawVector(SB), NOSPLIT, $0-16
	MOVQ a+0(FP), DI
	MOVQ 24(DI), R10
	MOVQ 56(DI), R11
	MOVQ 64(DI), R12
	MOVQ 72(DI), SI
	MOVQ 144(DI), CX
	XORQ BX, BX
	VPBROADCASTD 112(DI), Y10
	VPBROADCASTD 116(DI), Y11
	VPBROADCASTD 120(DI), Y12
	VPBROADCASTD 124(DI), Y13
	INTEGER(0x80000, X14, Y14)
	INTEGER(255, X15, Y15)
	INTEGER(128, X9, Y9)
	MOVQ $0x0101010101010101, R13

draw:
	LEAQ (R10)(BX*1), DX
	MOVQ (DX), AX
	MOVQ AX, R8
	MOVQ (DX)(R11*1), R9
	ANDQ R9, AX
	ORQ  R9, R8
	ADDQ R12, DX
	MOVQ (DX), R9
	ANDQ R9, AX
	ORQ  R9, R8
	MOVQ (DX)(R11*1), R9
	ANDQ R9, AX
	ORQ  R9, R8
	CMPQ AX, R13
	JEQ  drawKnown
	TESTQ R8, R8
	JNZ  drawEnd

	VPXOR   Y0, Y0, Y0
	VMOVDQU Y0, (SI)
	MOVQ    80(DI), DX
	MOVQ    R8, (DX)(BX*1)
	MOVQ    88(DI), DX
	MOVQ    R8, (DX)(BX*1)
	MOVQ    96(DI), DX
	MOVQ    R8, (DX)(BX*1)
	MOVQ    104(DI), DX
	MOVQ    R8, (DX)(BX*1)
	JMP     drawNext

drawKnown:
	MOVQ 80(DI), DX
	MOVQ R13, (DX)(BX*1)
	BETWEEN(0, Y0)
	LIT(Y0, 128)
	BETWEEN(8, Y1)
	LIT(Y1, 132)
	BETWEEN(16, Y2)
	LIT(Y2, 136)
	VPSLLD  $8, Y1, Y1
	VPSLLD  $16, Y2, Y2
	VPOR    Y1, Y0, Y0
	VPOR    Y2, Y0, Y0
	VMOVDQU Y0, (SI)
	BYTESBETWEEN(32, Y0)
	VPBROADCASTD 140(DI), Y3
	VPMULLD Y3, Y0, Y0
	VPSRLD  $6, Y14, Y3
	VPADDD  Y3, Y0, Y0
	VPSRLD  $14, Y0, Y0
	VPMINSD Y15, Y0, Y0
	BYTES(88, X0, Y0)
	BYTESBETWEEN(40, Y0)
	BYTES(96, X0, Y0)
	BYTESBETWEEN(48, Y0)
	BYTES(104, X0, Y0)

drawNext:
	ADDQ $8, BX
	ADDQ $32, SI
	DECQ CX
	JNZ  draw

drawEnd:
	MOVQ CX, left+8(FP)
	VZEROUPPER
	RET

// DIFFERENCE writes a channel, at bit n, of the pixels in Y0, and its difference from Y1, and adds
// the square of that to Y4. The planes are R9 and three planes on.
#define DIFFERENCE(n) \
	VPSRLD  $n, Y0, Y5;         \
	VPAND   Y10, Y5, Y5;        \
	VPSRLD  $n, Y1, Y6;         \
	VPAND   Y10, Y6, Y6;        \
	VPSUBD  Y6, Y5, Y6;         \
	NARROW(X5, Y5, X3);         \
	VMOVQ   X5, (R9);           \
	VPMULLD Y6, Y6, Y5;         \
	VPADDD  Y5, Y4, Y4;         \
	VPSRLD  $31, Y6, Y5;        \
	VPADDD  Y5, Y6, Y6;         \
	VPSRAD  $1, Y6, Y6;         \
	VPAND   Y15, Y6, Y6;        \
	VPADDD  Y11, Y6, Y6;        \
	NARROW(X6, Y6, X3);         \
	VMOVQ   X6, (R9)(R8*4);     \
	ADDQ    R8, R9

// WHERE writes eight bytes from p on, or 0 where X14 is, and goes to the next plane.
#define WHERE(p) \
	VMOVQ (p)(BX*1), X5;    \
	VPAND X14, X5, X5;      \
	VMOVQ X5, (R9);         \
	ADDQ  R8, R9

// func compareVector(a *compareArguments) (known int)
TEXT ·compareVector(SB), NOSPLIT, $0-16
	MOVQ a+0(FP), DI
	MOVQ 0(DI), SI
	MOVQ 8(DI), DX
	MOVQ 16(DI), R10
	MOVQ 24(DI), R11
	MOVQ 32(DI), R12
	MOVQ 48(DI), R8
	MOVQ 56(DI), R13
	MOVQ 64(DI), CX
	XORQ BX, BX
	INTEGER(255, X10, Y10)
	INTEGER(128, X11, Y11)
	INTEGER(23, X12, Y12) // minFrames less 1
	XORQ AX, AX
	MOVQ AX, known+8(FP)

compare:
	MOVQ      40(DI), R9
	ADDQ      BX, R9
	VMOVDQU   (SI)(BX*4), Y0
	VMOVDQU   (DX)(BX*4), Y1
	VPMOVZXBD (R11)(BX*1), Y2
	VPCMPGTD  Y12, Y2, Y15
	VPXOR     Y4, Y4, Y4
	DIFFERENCE(0)
	DIFFERENCE(8)
	DIFFERENCE(16)
	LEAQ      (R9)(R8*4), R9  // past coverage and the differences
	VCVTDQ2PS Y4, Y4
	VPMOVZXBD (R10)(BX*1), Y5
	VPCMPEQD  Y6, Y6, Y6
	VGATHERDPS Y6, (R13)(Y5*4), Y7
	VMULPS    Y7, Y4, Y4
	VSQRTPS   Y4, Y4
	ROUND(Y4, Y5, Y15)
	NARROW(X4, Y4, X3)
	VMOVQ     X4, (R9)
	ADDQ      R8, R9
	VMOVMSKPS Y15, AX
	POPCNTL   AX, AX
	ADDQ      AX, known+8(FP)
	VPAND     Y10, Y15, Y14
	NARROW(X14, Y14, X3)
	WHERE(R10)
	WHERE(R11)
	WHERE(R12)
	ADDQ      $8, BX
	DECQ      CX
	JNZ       compare
	VZEROUPPER
	RET
