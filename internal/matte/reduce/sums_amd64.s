//go:build !purego

#include "textflag.h"

// Only SSE2, which every amd64 has.

// WEIGHTS fills x with one 16-bit weight.
#define WEIGHTS(at, x) \
	MOVWLZX at, AX;     \
	MOVL    AX, x;      \
	PSHUFLW $0, x, x;   \
	PSHUFL  $0, x, x

// TIMES sets lo and hi to 16 bytes of a row times a weight.
#define TIMES(row, weight, lo, hi) \
	MOVOU     (row)(BX*1), lo; \
	MOVO      lo, hi;          \
	PUNPCKLBW X15, lo;         \
	PUNPCKHBW X15, hi;         \
	PMULLW    weight, lo;      \
	PMULLW    weight, hi

// PLUS adds such a product to X0 and X1.
#define PLUS(row, weight) \
	TIMES(row, weight, X2, X3); \
	PADDW X2, X0;               \
	PADDW X3, X1

// func weigh(at *uint16, rows *[most]*byte, weight *[most]uint16, n int)
TEXT ·weigh(SB), NOSPLIT, $0-32
	MOVQ at+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ weight+16(FP), DX
	MOVQ n+24(FP), CX
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	WEIGHTS(0(DX), X8)
	WEIGHTS(2(DX), X9)
	WEIGHTS(4(DX), X10)
	WEIGHTS(6(DX), X11)
	PXOR X15, X15
	XORQ BX, BX
	SUBQ $16, CX // where the last block begins, which may overlap the one before

block:
	TIMES(R8, X8, X0, X1)
	TESTQ R9, R9
	JZ    store
	PLUS(R9, X9)
	TESTQ R10, R10
	JZ    store
	PLUS(R10, X10)
	TESTQ R11, R11
	JZ    store
	PLUS(R11, X11)

store:
	PSRLW $1, X0
	PSRLW $1, X1
	MOVOU X0, (DI)(BX*2)
	MOVOU X1, 16(DI)(BX*2)
	CMPQ  BX, CX
	JE    done
	ADDQ  $16, BX
	CMPQ  BX, CX
	JLE   block
	MOVQ  CX, BX
	JMP   block

done:
	RET

// func gather(dst *byte, at *uint16, start *int32, weight *int16, m, pairs int)
TEXT ·gather(SB), NOSPLIT, $0-48
	MOVQ   dst+0(FP), DI
	MOVQ   at+8(FP), SI
	MOVQ   start+16(FP), R8
	MOVQ   weight+24(FP), R9
	MOVQ   m+32(FP), CX
	MOVQ   pairs+40(FP), R10
	MOVL   $0x4000, AX // half of what the shift leaves out
	MOVL   AX, X6
	PSHUFL $0, X6, X6
	MOVL   $0xff000000, AX
	MOVL   AX, X7

pixel:
	MOVLQSX (R8), AX
	ADDQ    SI, AX
	MOVO    X6, X0
	MOVQ    R10, DX

pair:
	MOVOU     (AX), X1       // r g b a of one, r g b a of the other
	PSHUFL    $0xee, X1, X2
	PUNPCKLWL X2, X1         // r r g g b b a a
	MOVL      (R9), X3
	PSHUFL    $0, X3, X3
	PMADDWL   X3, X1
	PADDL     X1, X0
	ADDQ      $16, AX
	ADDQ      $4, R9
	DECQ      DX
	JNZ       pair

	PSRLL    $15, X0
	PACKSSLW X0, X0
	PACKUSWB X0, X0
	POR      X7, X0
	MOVL     X0, (DI)
	ADDQ     $4, DI
	ADDQ     $4, R8
	DECQ     CX
	JNZ      pixel
	RET
