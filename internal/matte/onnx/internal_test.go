package onnx

import (
	"errors"
	"image"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bgremove/bgremove/internal/network/model"
)

func TestToHalf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		v    float32
		want uint16
	}{
		{0, 0}, {1, 0x3c00}, {-2, 0xc000}, {65504, 0x7bff}, {65519, 0x7bff}, {65520, 0x7c00}, {1e9, 0x7c00},
		{1.0 / 3, 0x3555}, {6.103515625e-05, 0x0400}, {6.097555e-05, 0x03ff}, {5.9604645e-08, 1}, {2.9e-08, 0},
		{1 + 1.0/2048, 0x3c00}, {1 + 3.0/2048, 0x3c02}, // ties to even
		{float32(math.Inf(-1)), 0xfc00}, {float32(math.NaN()), 0x7e00},
	} {
		if got := toHalf(tt.v); got != tt.want {
			t.Errorf("toHalf(%g) = %#04x, want %#04x", tt.v, got, tt.want)
		}
	}
}

// TestLetterbox: what lies around the picture is black, whatever was there.
func TestLetterbox(t *testing.T) {
	t.Parallel()
	p := image.NewNRGBA(image.Rect(0, 0, 4, 2))
	for i := range p.Pix {
		p.Pix[i] = uint8(10 + i%4)
	}
	v := &letterbox{w: 5, h: 4, inner: image.Rect(1, 1, 5, 3)}
	for _, nhwc := range []bool{false, true} {
		k := &contract{nhwc: nhwc, image: port{elem: uint8Elem}}
		l := k.luts()
		var in tensor
		in.resize(uint8Elem, 3*4*5)
		for i := range in.u8 {
			in.u8[i] = 99
		}
		k.fill(&in, p, v, &l)
		for y := range v.h {
			for x := range v.w {
				for c := range 3 {
					at, want := (c*v.h+y)*v.w+x, uint8(0)
					if nhwc {
						at = 3*(y*v.w+x) + c
					}
					if image.Pt(x, y).In(v.inner) {
						want = uint8(10 + c)
					}
					if in.u8[at] != want {
						t.Fatalf("nhwc %v: channel %d of (%d, %d) is %d, want %d", nhwc, c, x, y, in.u8[at], want)
					}
				}
			}
		}
	}
}

// TestMetadata: a network's own Spec is read as strictly as a sidecar.
func TestMetadata(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{
		`{"input": {"width": 48, "height": 24}}`: true,
		`{"input": {"wide": 48}}`:                false,
		`{"colours": 2}`:                         false,
		`{"input": {}} {"colours": 1}`:           false,
	} {
		s, err := chooseSpec(Config{}, nil, map[string]string{MetadataKey: text})
		var bad *ModelError
		if ok && (err != nil || s.Input.Width != 48) || !ok && !errors.As(err, &bad) {
			t.Errorf("%s: %+v, %v", text, s, err)
		}
	}
}

// TestFit: the shorter side is what the network asks for, unless the picture is
// so long that it would make the input huge.
func TestFit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ short, w, h, iw, ih int }{
		{224, 640, 360, 384, 224},
		{224, 1080, 1920, 224, 384},
		{224, 1600, 400, 896, 224},
		{224, 2000, 16, 5024, 32},
		{224, 16, 2000, 32, 5024},
		{224, 1, 1, 224, 224},
		{8192, 100, 100, 8192, 8192},
		{8192, 400, 100, 16384, 4096},
	} {
		k := &contract{spec: model.Spec{Input: model.Input{ShortSide: tt.short, Multiple: 32}}}
		if iw, ih, inner := k.fit(tt.w, tt.h); iw != tt.iw || ih != tt.ih || inner != image.Rect(0, 0, iw, ih) {
			t.Errorf("%+v: %d×%d, %v", tt, iw, ih, inner)
		}
	}
}

// TestPlane: channels are told from sides, with and without a dimension for the
// picture's number.
func TestPlane(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		shape []int64
		nhwc  bool
		want  plane
	}{
		{[]int64{20, 30}, false, plane{30, 20, 1, 0}},
		{[]int64{1, 20, 30}, true, plane{30, 20, 1, 0}},
		{[]int64{20, 30, 1}, false, plane{30, 20, 1, 0}},
		{[]int64{20, 30, 2}, false, plane{30, 20, 2, 0}},
		{[]int64{1, 1, 20, 30}, true, plane{30, 20, 1, 0}},
		{[]int64{1, 20, 30, 1}, false, plane{30, 20, 1, 0}},
		{[]int64{1, 4, 4, 1}, true, plane{4, 4, 1, 0}},
		{[]int64{1, 4, 4, 1}, false, plane{1, 4, 1, 0}},
	} {
		k := &contract{nhwc: tt.nhwc}
		if got, err := k.plane(tt.shape); err != nil || got != tt.want {
			t.Errorf("%v, nhwc %v: %+v, %v; want %+v", tt.shape, tt.nhwc, got, err, tt.want)
		}
	}
}

func TestParallelism(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cores, threads, sessions int
		heavy                    bool
		want                     [2]int
	}{
		{1, 0, 0, false, [2]int{1, 1}},
		{1, 0, 0, true, [2]int{1, 1}},
		{2, 0, 0, false, [2]int{1, 2}},
		{2, 0, 0, true, [2]int{2, 1}},
		{4, 0, 0, false, [2]int{1, 4}},
		{16, 0, 0, false, [2]int{4, 4}},
		{16, 0, 0, true, [2]int{8, 2}},
		{64, 0, 0, false, [2]int{8, 4}},
		{2, 3, 0, false, [2]int{3, 1}},
		{2, 0, 5, true, [2]int{1, 5}},
		{16, 4, 2, false, [2]int{4, 2}},
	} {
		a, b := parallelism(tt.cores, tt.threads, tt.sessions, tt.heavy)
		if got := [2]int{a, b}; got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

func FuzzParseModel(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/onnx/*.onnx")
	if err != nil || len(files) == 0 {
		f.Fatal(err, files)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 4096 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g, _, err := readGraph(Config{ModelData: model.Forms{Float: append([]byte{}, b...)}})
		if err != nil {
			return
		}
		if k, err := newContract(Config{}, g); err == nil {
			for _, size := range [][2]int{{1, 1}, {1920, 1080}, {3, 4000}} {
				w, h, r := k.fit(size[0], size[1])
				if w <= 0 || h <= 0 || r.Empty() || !r.In(image.Rect(0, 0, w, h)) {
					t.Errorf("%v goes to %v of %d×%d", size, r, w, h)
				}
			}
		}
	})
}
