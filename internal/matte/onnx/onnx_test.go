package onnx_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/network/model"
)

const nets = "../../../testdata/onnx/"

var (
	green = color.NRGBA{0, 177, 64, 255}
	red   = color.NRGBA{250, 20, 30, 255}
)

// library is where ONNX Runtime is; without it the test is skipped.
func library(tb testing.TB) string {
	tb.Helper()
	path := os.Getenv("BGREMOVE_ONNXRUNTIME")
	if path == "" {
		tb.Skip("BGREMOVE_ONNXRUNTIME does not name ONNX Runtime's shared library")
	}
	if _, err := onnx.Open(onnx.Config{Library: path}); errors.Is(err, onnx.ErrNoCGO) {
		tb.Skip("built without cgo")
	}
	return path
}

func open(tb testing.TB, name string, change ...func(*onnx.Config)) *onnx.Network {
	tb.Helper()
	c := onnx.Config{Library: library(tb), Model: nets + name + ".onnx", Device: onnx.CPU, Threads: 1, Sessions: 2}
	for _, f := range change {
		f(&c)
	}
	n, err := onnx.Open(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := n.Close(); err != nil {
			tb.Error(err)
		}
	})
	return n
}

func spec(s model.Spec) func(*onnx.Config) { return func(c *onnx.Config) { c.Spec = s } }

// block is w×h of green with a red rectangle in it.
func block(w, h int, r image.Rectangle) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := green
			if image.Pt(x, y).In(r) {
				c = red
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// checkBlock wants m to be 255 within r and 0 outside, off by at most tol
// except within band pixels of r's edge.
func checkBlock(t *testing.T, m *image.Alpha, r image.Rectangle, tol, band int) {
	t.Helper()
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			p := image.Pt(x, y)
			want := 0
			if p.In(r) {
				want = 255
			}
			if p.In(r.Inset(-band)) && !p.In(r.Inset(band)) {
				continue
			}
			if got := int(m.Pix[y*m.Stride+x]); max(got-want, want-got) > tol {
				t.Fatalf("matte at %v is %d, want %d", p, got, want)
			}
		}
	}
}

func TestEveryKindOfNetworkGivesTheMatte(t *testing.T) {
	t.Parallel()
	logits := model.Output{Sigmoid: true}
	for _, tt := range []struct {
		name, net string
		spec      model.Spec
		want      image.Point // size of the matte of a 200×100 picture
	}{
		{"float32, fixed, probability", "distance", model.Spec{}, image.Pt(64, 64)},
		{"letterboxed", "distance", model.Spec{Input: model.Input{Letterbox: true}}, image.Pt(64, 32)},
		{"open size, logits", "logits", model.Spec{Input: model.Input{ShortSide: 64}, Output: logits}, image.Pt(128, 64)},
		{"sides of a multiple", "logits", model.Spec{Input: model.Input{ShortSide: 70, Multiple: 10}, Output: logits}, image.Pt(140, 70)},
		{"given size", "logits", model.Spec{Input: model.Input{Width: 96, Height: 80}, Output: logits}, image.Pt(96, 80)},
		{"enlarged", "logits", model.Spec{Input: model.Input{Width: 400, Height: 400}, Output: logits}, image.Pt(400, 400)},
		{"default size", "logits", model.Spec{Output: logits}, image.Pt(1024, 512)},
		{"float16", "half", model.Spec{Input: model.Input{ShortSide: 64}}, image.Pt(128, 64)},
		{"float16, weights apart", "half_apart", model.Spec{Input: model.Input{ShortSide: 64}}, image.Pt(128, 64)},
		{"uint8 both ways, nhwc", "octets", model.Spec{}, image.Pt(64, 64)},
		{"nhwc, second output and channel", "octets", model.Spec{Output: model.Output{Name: "classes", Channel: 1}}, image.Pt(64, 64)},
		{"described by itself", "described", model.Spec{}, image.Pt(48, 24)},
		{"stretched", "dull", model.Spec{Input: model.Input{ShortSide: 64}, Output: model.Output{Stretch: true}}, image.Pt(128, 64)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := open(t, tt.net, spec(tt.spec))
			img := block(200, 100, image.Rect(40, 20, 120, 70))
			sub := image.NewNRGBA(image.Rect(7, 5, 207, 105)) // neither at the origin nor contiguous
			sub = sub.SubImage(sub.Rect).(*image.NRGBA)
			for y := range 100 {
				copy(sub.Pix[y*sub.Stride:], img.Pix[y*img.Stride:][:800])
			}
			m, err := n.Matte(t.Context(), sub)
			if err != nil {
				t.Fatal(err)
			}
			if m.Rect != (image.Rectangle{Max: tt.want}) {
				t.Fatalf("matte is %v, want %v", m.Rect, tt.want)
			}
			r := image.Rect(40*tt.want.X/200, 20*tt.want.Y/100, 120*tt.want.X/200, 70*tt.want.Y/100)
			checkBlock(t, m, r, 1, 1+tt.want.X/200+tt.want.Y/100)
		})
	}
}

func TestNormalisation(t *testing.T) {
	t.Parallel()
	// The network sees (v−mean)/std; this one undoes nothing, so a picture of
	// the colour that normalises to its green is what it takes for backdrop.
	n := open(t, "distance", spec(model.Spec{Input: model.Input{
		Mean: [3]float32{0.5, 0.25, 0}, Std: [3]float32{1, 0.5, 2},
	}}))
	img := image.NewNRGBA(image.Rect(0, 0, 10, 10))
	f := func(v, mean, std float64) uint8 { return uint8(math.Round((v/255*std + mean) * 255)) }
	for i := 0; i < len(img.Pix); i += 4 {
		copy(img.Pix[i:], []uint8{f(0, 0.5, 1), f(177, 0.25, 0.5), f(64, 0, 2), 255})
	}
	m, err := n.Matte(t.Context(), img)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Pix[0]; got > 10 {
		t.Errorf("backdrop has matte %d", got)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	n := open(t, "distance")
	for range 2 {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := n.Matte(t.Context(), block(8, 8, image.Rectangle{})); !errors.Is(err, onnx.ErrClosed) {
		t.Errorf("error %v", err)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	got := open(t, "octets").Info()
	if got.Runtime == "" {
		t.Error("no version")
	}
	got.Runtime = ""
	want := onnx.Info{Provider: "cpu", Kind: model.PerFrame, Width: 64, Height: 64, Input: "uint8", Threads: 1, Sessions: 2}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := open(t, "described"); n.Provider() != "cpu" || n.Info().Width != 48 {
		t.Errorf("got %+v", n.Info())
	}
}

func TestExplicitSpecWins(t *testing.T) {
	t.Parallel()
	n := open(t, "described", spec(model.Spec{Input: model.Input{Width: 32, Height: 32}, Output: model.Output{Sigmoid: true}}))
	if got := n.Info(); got.Width != 32 {
		t.Errorf("got %+v", got)
	}
}

func TestModelData(t *testing.T) {
	t.Parallel()
	for _, net := range []string{"distance", "half"} {
		data, err := os.ReadFile(nets + net + ".onnx")
		if err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(data)
		n := open(t, net, func(c *onnx.Config) { c.Model, c.ModelData = "bundled", model.Forms{Float: data} })
		if !bytes.Equal(data, before) {
			t.Error("ModelData was written to")
		}
		clear(data) // it is not needed any more
		r := image.Rect(16, 16, 48, 48)
		m, err := n.Matte(t.Context(), block(64, 64, r))
		if err != nil {
			t.Fatal(err)
		}
		if net == "distance" {
			checkBlock(t, m, r, 1, 1)
		}
	}
}
