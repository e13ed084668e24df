//go:build !purego

#include "textflag.h"
#include "kernels_amd64.h"

// The inner loops of the alignment for AVX2. Operations and their order are those of plain.go.

// func lightVector(dst *float32, pix *uint8, groups int)
TEXT ·lightVector(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ pix+8(FP), SI
	MOVQ groups+16(FP), CX
	INTEGER(0x00010502, X1, Y1)
	INTEGER(0x00010001, X2, Y2)
	FACTOR(EIGHTH, Y3)

light:
	VMOVDQU    (SI), Y0
	VPMADDUBSW Y1, Y0, Y0
	VPMADDWD   Y2, Y0, Y0
	VCVTDQ2PS  Y0, Y0
	VMULPS     Y3, Y0, Y0
	VMOVUPS    Y0, (DI)
	ADDQ       $32, SI
	ADDQ       $32, DI
	DECQ       CX
	JNZ        light
	VZEROUPPER
	RET

// GATHER adds a·b to a sum.
#define GATHER(a, b, sum) \
	VMULPS a, b, Y15;      \
	VADDPS Y15, sum, sum

// func matchVector(a *matchArguments) (count int)
TEXT ·matchVector(SB), NOSPLIT, $0-16
	MOVQ a+0(FP), DX
	MOVQ 0(DX), SI
	MOVQ 8(DX), DI
	MOVQ 16(DX), R11
	MOVQ 24(DX), R12
	MOVQ 32(DX), R8
	SHLQ $2, R8
	MOVQ 40(DX), R13
	LEAQ (R13*4), R10
	MOVQ 48(DX), CX
	MOVQ SI, R9
	SUBQ R8, R9 // the row above
	XORQ BX, BX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9

match:
	MOVQ   (R12), AX
	ANDQ   1(R12), AX
	ANDQ   (R12)(R13*1), AX
	ANDQ   1(R12)(R13*1), AX
	ANDQ   (R11), AX
	JZ     matchNext
	VMOVQ  AX, X15
	POPCNTQ AX, AX
	ADDQ   AX, BX
	VPMOVZXBD X15, Y15
	VCVTDQ2PS Y15, Y15
	FACTOR(HALF, Y14)
	VMOVUPS 4(SI), Y10
	VSUBPS -4(SI), Y10, Y10
	VMULPS Y14, Y10, Y10
	VMOVUPS (SI)(R8*1), Y11
	VSUBPS (R9), Y11, Y11
	VMULPS Y14, Y11, Y11
	VMOVUPS 56(DX), Y12
	VMULPS (DI), Y12, Y12
	VMOVUPS 88(DX), Y13
	VMULPS 4(DI), Y13, Y13
	VADDPS Y13, Y12, Y12
	VMOVUPS 120(DX), Y13
	VMULPS (DI)(R10*1), Y13, Y13
	VADDPS Y13, Y12, Y12
	VMOVUPS 152(DX), Y13
	VMULPS 4(DI)(R10*1), Y13, Y13
	VADDPS Y13, Y12, Y12
	VMOVUPS (SI), Y13
	VSUBPS Y12, Y13, Y12
	VSUBPS 184(DX), Y12, Y12 // the difference
	VMULPS Y12, Y12, Y13
	FACTOR(ROBUST, Y14)
	VMULPS Y14, Y13, Y13
	FACTOR(ONE, Y14)
	VADDPS Y14, Y13, Y13
	VDIVPS Y13, Y14, Y13
	VMULPS Y13, Y13, Y13
	VMULPS Y15, Y13, Y13     // the weight
	VPCMPEQD Y14, Y14, Y14
	VPSRLD $1, Y14, Y14
	VANDPS Y14, Y12, Y14
	GATHER(Y15, Y14, Y9)
	VMULPS Y10, Y13, Y14
	VADDPS Y14, Y3, Y3
	GATHER(Y10, Y14, Y0)
	GATHER(Y11, Y14, Y1)
	GATHER(Y12, Y14, Y6)
	VMULPS Y11, Y13, Y14
	VADDPS Y14, Y4, Y4
	GATHER(Y11, Y14, Y2)
	GATHER(Y12, Y14, Y7)
	VADDPS Y13, Y5, Y5
	GATHER(Y12, Y13, Y8)

matchNext:
	ADDQ $32, SI
	ADDQ $32, DI
	ADDQ $32, R9
	ADDQ $8, R11
	ADDQ $8, R12
	DECQ CX
	JNZ  match
	MOVQ 216(DX), AX
	VMOVUPS Y0, (AX)
	VMOVUPS Y1, 32(AX)
	VMOVUPS Y2, 64(AX)
	VMOVUPS Y3, 96(AX)
	VMOVUPS Y4, 128(AX)
	VMOVUPS Y5, 160(AX)
	VMOVUPS Y6, 192(AX)
	VMOVUPS Y7, 224(AX)
	VMOVUPS Y8, 256(AX)
	VMOVUPS Y9, 288(AX)
	MOVQ BX, count+8(FP)
	VZEROUPPER
	RET

// func sumVector(sums *[8]float32, f, p *float32, frameKnown, plateKnown *uint8, groups int) (count int)
TEXT ·sumVector(SB), NOSPLIT, $0-56
	MOVQ sums+0(FP), DX
	MOVQ f+8(FP), SI
	MOVQ p+16(FP), DI
	MOVQ frameKnown+24(FP), R8
	MOVQ plateKnown+32(FP), R9
	MOVQ groups+40(FP), CX
	XORQ BX, BX
	VMOVUPS (DX), Y0

sum:
	MOVQ      (R8), AX
	ANDQ      (R9), AX
	VMOVQ     AX, X1
	POPCNTQ   AX, AX
	ADDQ      AX, BX
	VPMOVZXBD X1, Y1
	VCVTDQ2PS Y1, Y1
	VMOVUPS   (SI), Y2
	VSUBPS    (DI), Y2, Y2
	VMULPS    Y1, Y2, Y2
	VADDPS    Y2, Y0, Y0
	ADDQ      $32, SI
	ADDQ      $32, DI
	ADDQ      $8, R8
	ADDQ      $8, R9
	DECQ      CX
	JNZ       sum
	VMOVUPS   Y0, (DX)
	MOVQ      BX, count+48(FP)
	VZEROUPPER
	RET

// func costVector(costs *[8]float32, f, p *float32, frameKnown, plateKnown *uint8, mean float32, groups int)
TEXT ·costVector(SB), NOSPLIT, $0-56
	MOVQ costs+0(FP), DX
	MOVQ f+8(FP), SI
	MOVQ p+16(FP), DI
	MOVQ frameKnown+24(FP), R8
	MOVQ plateKnown+32(FP), R9
	VBROADCASTSS mean+40(FP), Y4
	MOVQ groups+48(FP), CX
	FACTOR(SQUARE, Y5)
	VMOVUPS (DX), Y0

cost:
	MOVQ      (R8), AX
	ANDQ      (R9), AX
	VMOVQ     AX, X1
	VPMOVZXBD X1, Y1
	VCVTDQ2PS Y1, Y1
	VMOVUPS   (SI), Y2
	VSUBPS    (DI), Y2, Y2
	VSUBPS    Y4, Y2, Y2
	VMULPS    Y2, Y2, Y2
	VADDPS    Y5, Y2, Y3
	VDIVPS    Y3, Y2, Y2
	VMULPS    Y1, Y2, Y2
	VADDPS    Y2, Y0, Y0
	ADDQ      $32, SI
	ADDQ      $32, DI
	ADDQ      $8, R8
	ADDQ      $8, R9
	DECQ      CX
	JNZ       cost
	VMOVUPS   Y0, (DX)
	VZEROUPPER
	RET
