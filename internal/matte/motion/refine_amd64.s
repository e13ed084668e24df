//go:build !purego

#include "textflag.h"

// The inner loops of the refinement for AVX2. Operations and their order are those of plain.go.

// FACTOR fills y with one of the factors.
#define FACTOR(i, y) VBROADCASTSS ·factors+(4*i)(SB), y

// CONSTRAIN writes a constraint of x, y and z for the flow in Y10 and Y11 where what is
// known is in Y9.
#define CONSTRAIN(x, y, z, at) \
	VMULPS  x, x, Y5;      \
	VMULPS  y, y, Y6;      \
	VADDPS  Y6, Y5, Y5;    \
	VADDPS  Y14, Y5, Y5;   \
	VSQRTPS Y5, Y5;        \
	VDIVPS  Y5, Y9, Y5;    \
	VMULPS  Y5, x, Y6;     \
	VMULPS  Y5, y, Y7;     \
	VMULPS  Y5, z, Y8;     \
	VMOVUPS Y6, at(DI);    \
	VMOVUPS Y7, at+32(DI); \
	VMULPS  Y10, Y6, Y6;   \
	VMULPS  Y11, Y7, Y7;   \
	VADDPS  Y7, Y6, Y6;    \
	VSUBPS  Y8, Y6, Y6;    \
	VMOVUPS Y6, at+64(DI)

// func constrainVector(data *block, mean, diff, known, u, v *float32, before, row, groups int)
TEXT ·constrainVector(SB), NOSPLIT, $0-72
	MOVQ data+0(FP), DI
	MOVQ mean+8(FP), SI
	MOVQ diff+16(FP), DX
	MOVQ known+24(FP), R8
	MOVQ u+32(FP), R9
	MOVQ v+40(FP), R10
	MOVQ before+48(FP), R11
	MOVQ row+56(FP), AX
	MOVQ groups+64(FP), CX
	MOVQ AX, BX
	NEGQ BX
	LEAQ (DX)(R11*1), R12 // differences to the left
	ADDQ SI, R11          // means to the left
	FACTOR(7, Y13)
	FACTOR(8, Y12)
	FACTOR(9, Y14)

group:
	VMOVUPS (R8), Y9
	VMOVUPS (R9), Y10
	VMOVUPS (R10), Y11

	VMOVUPS 4(R11), Y0
	VSUBPS  (R11), Y0, Y0
	VMULPS  Y13, Y0, Y0
	VMOVUPS (SI)(AX*1), Y1
	VSUBPS  (SI)(BX*1), Y1, Y1
	VMULPS  Y13, Y1, Y1
	VMOVUPS (DX), Y2
	CONSTRAIN(Y0, Y1, Y2, 0)

	VMOVUPS 4(R11)(AX*1), Y0 // the mixed derivative
	VSUBPS  (R11)(AX*1), Y0, Y0
	VMOVUPS 4(R11)(BX*1), Y1
	VSUBPS  (R11)(BX*1), Y1, Y1
	VSUBPS  Y1, Y0, Y0
	VMULPS  Y12, Y0, Y0
	VMOVUPS (SI), Y3
	VMOVUPS 4(SI), Y1
	VSUBPS  Y3, Y1, Y1
	VSUBPS  -4(SI), Y3, Y2
	VSUBPS  Y2, Y1, Y1
	VMULPS  Y12, Y1, Y1
	VMOVUPS 4(R12), Y2
	VSUBPS  (R12), Y2, Y2
	VMULPS  Y13, Y2, Y2
	CONSTRAIN(Y1, Y0, Y2, 96)

	VMOVUPS (SI)(AX*2), Y1
	VSUBPS  Y3, Y1, Y1
	VSUBPS  (SI)(BX*2), Y3, Y2
	VSUBPS  Y2, Y1, Y1
	VMULPS  Y12, Y1, Y1
	VMOVUPS (DX)(AX*1), Y2
	VSUBPS  (DX)(BX*1), Y2, Y2
	VMULPS  Y13, Y2, Y2
	CONSTRAIN(Y0, Y1, Y2, 192)

	ADDQ $288, DI
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, R8
	ADDQ $32, R9
	ADDQ $32, R10
	ADDQ $32, R11
	ADDQ $32, R12
	DECQ CX
	JNZ  group
	VZEROUPPER
	RET

// func edgesVector(kx, ky, sx, sy, u, v *float32, next, row, groups int)
TEXT ·edgesVector(SB), NOSPLIT, $0-72
	MOVQ kx+0(FP), R8
	MOVQ ky+8(FP), R9
	MOVQ sx+16(FP), R10
	MOVQ sy+24(FP), R11
	MOVQ u+32(FP), SI
	MOVQ v+40(FP), DI
	MOVQ next+48(FP), AX
	MOVQ row+56(FP), BX
	MOVQ groups+64(FP), CX
	FACTOR(0, Y15)
	FACTOR(1, Y14)
	XORQ DX, DX
	LEAQ (SI)(AX*1), R12 // to the right
	ADDQ DI, AX
	LEAQ (SI)(BX*1), R13 // below
	ADDQ DI, BX

group:
	VMOVUPS (SI)(DX*1), Y0
	VMOVUPS (DI)(DX*1), Y1
	VMOVUPS (R12)(DX*1), Y2
	VSUBPS  Y0, Y2, Y2
	VMOVUPS (AX)(DX*1), Y3
	VSUBPS  Y1, Y3, Y3
	VMOVUPS (R13)(DX*1), Y4
	VSUBPS  Y0, Y4, Y4
	VMOVUPS (BX)(DX*1), Y5
	VSUBPS  Y1, Y5, Y5
	VMULPS  Y2, Y2, Y2
	VMULPS  Y3, Y3, Y3
	VADDPS  Y3, Y2, Y2
	VMULPS  Y4, Y4, Y4
	VADDPS  Y4, Y2, Y2
	VMULPS  Y5, Y5, Y5
	VADDPS  Y5, Y2, Y2
	VADDPS  Y15, Y2, Y2
	VSQRTPS Y2, Y2
	VDIVPS  Y2, Y14, Y2
	VMULPS  (R10)(DX*1), Y2, Y3
	VMOVUPS Y3, (R8)(DX*1)
	VMULPS  (R11)(DX*1), Y2, Y3
	VMOVUPS Y3, (R9)(DX*1)
	ADDQ    $32, DX
	DECQ    CX
	JNZ     group
	VZEROUPPER
	RET

// func systemVector(work, data *block, u, v, kx, ky *float32, before, row, groups int)
TEXT ·systemVector(SB), NOSPLIT, $0-72
	MOVQ work+0(FP), DI
	MOVQ data+8(FP), SI
	MOVQ u+16(FP), R8
	MOVQ v+24(FP), R9
	MOVQ kx+32(FP), R10
	MOVQ ky+40(FP), R11
	MOVQ before+48(FP), R12
	MOVQ row+56(FP), AX
	MOVQ groups+64(FP), CX
	ADDQ R10, R12 // to the left
	MOVQ R11, R13
	SUBQ AX, R13  // above
	FACTOR(0, Y15)

group:
	VMOVUPS (R8), Y13
	VMOVUPS (R9), Y14

	// Brightness.
	VMOVUPS 0(SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMULPS  Y13, Y0, Y3
	VMULPS  Y14, Y1, Y4
	VADDPS  Y4, Y3, Y3
	VSUBPS  Y2, Y3, Y3
	VMULPS  Y3, Y3, Y3
	VADDPS  Y15, Y3, Y3
	VSQRTPS Y3, Y3
	FACTOR(2, Y4)
	VDIVPS  Y3, Y4, Y3
	VMULPS  Y0, Y0, Y8
	VMULPS  Y3, Y8, Y8   // xx
	VMULPS  Y1, Y0, Y9
	VMULPS  Y3, Y9, Y9   // xy
	VMULPS  Y1, Y1, Y10
	VMULPS  Y3, Y10, Y10 // yy
	VMULPS  Y2, Y0, Y11
	VMULPS  Y3, Y11, Y11 // xz
	VMULPS  Y2, Y1, Y12
	VMULPS  Y3, Y12, Y12 // yz

	// Both components of its gradient.
	VMOVUPS 96(SI), Y0
	VMOVUPS 128(SI), Y1
	VMOVUPS 160(SI), Y2
	VMOVUPS 192(SI), Y3
	VMOVUPS 224(SI), Y4
	VMOVUPS 256(SI), Y5
	VMULPS  Y13, Y0, Y6
	VMULPS  Y14, Y1, Y7
	VADDPS  Y7, Y6, Y6
	VSUBPS  Y2, Y6, Y6
	VMULPS  Y13, Y3, Y13
	VMULPS  Y14, Y4, Y14
	VADDPS  Y14, Y13, Y13
	VSUBPS  Y5, Y13, Y13
	VMULPS  Y6, Y6, Y6
	VMULPS  Y13, Y13, Y13
	VADDPS  Y13, Y6, Y6
	VADDPS  Y15, Y6, Y6
	VSQRTPS Y6, Y6
	FACTOR(3, Y7)
	VDIVPS  Y6, Y7, Y6

// ADD adds what both constraints give by a·b + c·d to a sum.
#define ADD(a, b, c, d, sum) \
	VMULPS b, a, Y7;      \
	VMULPS d, c, Y13;     \
	VADDPS Y13, Y7, Y7;   \
	VMULPS Y6, Y7, Y7;    \
	VADDPS Y7, sum, sum

	ADD(Y0, Y0, Y3, Y3, Y8)
	ADD(Y0, Y1, Y3, Y4, Y9)
	ADD(Y1, Y1, Y4, Y4, Y10)
	ADD(Y0, Y2, Y3, Y5, Y11)
	ADD(Y1, Y2, Y4, Y5, Y12)

	// The edges.
	VMOVUPS (R12), Y0
	VMOVUPS (R10), Y1
	VMOVUPS (R13), Y2
	VMOVUPS (R11), Y3
	VADDPS  Y1, Y0, Y4
	VADDPS  Y2, Y4, Y4
	VADDPS  Y3, Y4, Y4
	FACTOR(4, Y5)
	VADDPS  Y5, Y4, Y4
	VADDPS  Y4, Y8, Y8
	VADDPS  Y4, Y10, Y10
	FACTOR(5, Y5)
	VDIVPS  Y8, Y5, Y8
	VDIVPS  Y10, Y5, Y10
	VMOVUPS Y9, 0(DI)
	VMOVUPS Y11, 32(DI)
	VMOVUPS Y12, 64(DI)
	VMOVUPS Y8, 96(DI)
	VMOVUPS Y10, 128(DI)
	VMOVUPS Y0, 160(DI)
	VMOVUPS Y1, 192(DI)
	VMOVUPS Y2, 224(DI)
	VMOVUPS Y3, 256(DI)

	ADDQ $288, SI
	ADDQ $288, DI
	ADDQ $32, R8
	ADDQ $32, R9
	ADDQ $32, R10
	ADDQ $32, R11
	ADDQ $32, R12
	ADDQ $32, R13
	DECQ CX
	JNZ  group
	VZEROUPPER
	RET

// FLOW sets sum to what the equations of one component ask for, but for the other
// component. Its pixels to the left are at l, those above at a, those below at b.
#define FLOW(at, l, a, b, sum) \
	VMOVUPS at(DI), sum;           \
	VMULPS  (l)(DX*1), Y8, Y2;     \
	VADDPS  Y2, sum, sum;          \
	VMULPS  4(l)(DX*1), Y9, Y2;    \
	VADDPS  Y2, sum, sum;          \
	VMULPS  (a)(DX*1), Y10, Y2;    \
	VADDPS  Y2, sum, sum;          \
	VMULPS  (b)(DX*1), Y11, Y2;    \
	VADDPS  Y2, sum, sum

// func relaxVector(work *block, u, v *float32, before, row, groups int)
TEXT ·relaxVector(SB), NOSPLIT, $0-48
	MOVQ work+0(FP), DI
	MOVQ u+8(FP), R8
	MOVQ v+16(FP), R9
	MOVQ before+24(FP), R10
	MOVQ row+32(FP), AX
	MOVQ groups+40(FP), CX
	LEAQ (R9)(R10*1), R11 // to the left
	ADDQ R8, R10
	LEAQ (R8)(AX*1), SI   // below
	LEAQ (R9)(AX*1), BX
	MOVQ R8, R12          // above
	SUBQ AX, R12
	MOVQ R9, R13
	SUBQ AX, R13
	XORQ DX, DX
	FACTOR(6, Y15)

group:
	VMOVUPS 0(DI), Y7
	VMOVUPS 160(DI), Y8
	VMOVUPS 192(DI), Y9
	VMOVUPS 224(DI), Y10
	VMOVUPS 256(DI), Y11
	VMOVUPS (R8)(DX*1), Y0
	VMOVUPS (R9)(DX*1), Y1
	FLOW(32, R10, R12, SI, Y3)
	FLOW(64, R11, R13, BX, Y4)

	VMULPS  Y1, Y7, Y5
	VSUBPS  Y5, Y3, Y3
	VMULPS  96(DI), Y3, Y3
	VMULPS  Y15, Y0, Y0
	VADDPS  Y3, Y0, Y0
	VMOVUPS Y0, (R8)(DX*1)
	VMULPS  Y0, Y7, Y5
	VSUBPS  Y5, Y4, Y4
	VMULPS  128(DI), Y4, Y4
	VMULPS  Y15, Y1, Y1
	VADDPS  Y4, Y1, Y1
	VMOVUPS Y1, (R9)(DX*1)

	ADDQ $288, DI
	ADDQ $32, DX
	DECQ CX
	JNZ  group
	VZEROUPPER
	RET
