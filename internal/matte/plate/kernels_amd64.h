// What the files of assembly share.

// FACTOR fills y with one of the factors, INTEGER with a number of 32 bits.
#define FACTOR(i, y) VBROADCASTSS ·factors+(4*i)(SB), y

#define INTEGER(n, x, y) \
	MOVL         $n, AX; \
	VMOVD        AX, x;  \
	VPBROADCASTD x, y

#define ONE 0
#define HALF 1
#define HISTORY 2
#define OLDER 3
#define LEAST 4
#define THREE 5
#define FOUR 6
#define SIXTEEN 7
#define SIXTYFOUR 8
#define HIGHEST 9
#define NOISE 10
#define TWENTYSEVEN 11
#define FULL 12
#define EIGHTH 13
#define ROBUST 14
#define SQUARE 15

// NARROW makes the eight numbers of y, at most 255, the first bytes of x, its lower half.
#define NARROW(x, y, xt) \
	VPACKUSDW    y, y, y;     \
	VPACKUSWB    y, y, y;     \
	VEXTRACTI128 $1, y, xt;   \
	VPUNPCKLDQ   xt, x, x

// ROUND makes the floats of y, from 0 on, the nearest integers up to 255, or 0 where mask is
// not set.
#define ROUND(y, yt, mask) \
	FACTOR(HALF, yt);      \
	VADDPS     yt, y, y;   \
	VCVTTPS2DQ y, y;       \
	INTEGER(255, X3, Y3);  \
	VPMINSD    Y3, y, y;   \
	VPAND      mask, y, y

// BYTES writes the eight numbers of y to the plane at p.
#define BYTES(p, x, y) \
	NARROW(x, y, X3);          \
	MOVQ  p(DI), AX;           \
	VMOVQ x, (AX)(BX*1)
