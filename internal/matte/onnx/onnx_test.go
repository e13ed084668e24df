package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/model"
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
			m, err := n.Small(t.Context(), sub)
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
	m, err := n.Small(t.Context(), img)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Pix[0]; got > 10 {
		t.Errorf("backdrop has matte %d", got)
	}
}

func TestEmptyFramesStayEmpty(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		net  string
		spec model.Spec
	}{
		{"distance", model.Spec{}},
		{"dull", model.Spec{Input: model.Input{ShortSide: 64}, Output: model.Output{Stretch: true}}},
	} {
		t.Run(tt.net, func(t *testing.T) {
			t.Parallel()
			c := open(t, tt.net, spec(tt.spec)).NewClip(onnx.ClipOptions{})
			empty, full := block(64, 64, image.Rectangle{}), block(64, 64, image.Rect(16, 16, 48, 48))
			for i, img := range []*image.NRGBA{empty, full, empty} {
				r, err := c.Estimate(t.Context(), img)
				if err != nil {
					t.Fatal(err)
				}
				if got := r.Matte.Pix[0]; got > 1 {
					t.Errorf("frame %d: backdrop has matte %d", i, got)
				}
				if got := r.Matte.AlphaAt(32, 32).A; i == 1 && got < 250 {
					t.Errorf("frame %d: subject has matte %d", i, got)
				}
			}
		})
	}
}

func TestStretchOnlyGrows(t *testing.T) {
	t.Parallel()
	n := open(t, "logits", spec(model.Spec{Input: model.Input{Width: 64, Height: 64}, Output: model.Output{Stretch: true}}))
	c := n.NewClip(onnx.ClipOptions{})
	if !c.Ordered() {
		t.Error("a stretched clip is in order")
	}
	// Logits of −20 to 20: half-way is zero. After the range is known, a frame
	// of one faint colour alone must not be blown up to it.
	faint := block(64, 64, image.Rectangle{})
	for i := 0; i < len(faint.Pix); i += 4 {
		faint.Pix[i] = 32 // distance 32/255·4 = 0.5
	}
	var got []uint8
	for _, img := range []*image.NRGBA{block(64, 64, image.Rect(16, 16, 48, 48)), faint} {
		r, err := c.Estimate(t.Context(), img)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Matte.AlphaAt(32, 32).A)
	}
	if got[0] != 255 || got[1] < 120 || got[1] > 136 {
		t.Errorf("mattes %v, want 255 and half of it", got)
	}
}

func TestRecurrentNetworkRemembersInOrder(t *testing.T) {
	t.Parallel()
	for _, net := range []string{"averager", "averager16"} {
		t.Run(net, func(t *testing.T) {
			t.Parallel()
			n := open(t, net)
			if n.Info().Kind != model.Recurrent {
				t.Fatalf("kind %q", n.Info().Kind)
			}
			c := n.NewClip(onnx.ClipOptions{NoReuse: true})
			img := block(80, 48, image.Rect(20, 10, 60, 40))
			// The matte is the running mean, which begins with zero.
			want := []int{128, 191, 223, 239}
			run := func(i int, img *image.NRGBA) {
				t.Helper()
				r, err := c.Estimate(t.Context(), img)
				if err != nil {
					t.Fatal(err)
				}
				if r.Matte.Rect != img.Rect || r.Foreground == nil || r.Foreground.Rect != img.Rect {
					t.Fatalf("matte %v, foreground %v", r.Matte.Rect, r.Foreground)
				}
				if got := int(r.Matte.AlphaAt(40, 25).A); max(got-want[i], want[i]-got) > 1 {
					t.Errorf("frame %d: matte %d, want %d", i, got, want[i])
				}
				if got := r.Matte.AlphaAt(0, 0).A; got != 0 {
					t.Errorf("frame %d: backdrop has matte %d", i, got)
				}
				k := uint8(i + 1)
				if got, want := r.Foreground.NRGBAAt(3, 3), (color.NRGBA{2 * k, k, k, 255}); got != want {
					t.Errorf("frame %d: states show %v, want %v", i, got, want)
				}
			}
			for i := range 4 {
				run(i, img)
			}
			c.Reset()
			run(0, img)
			run(1, img)
			run(0, block(90, 50, image.Rect(20, 10, 60, 40))) // another size starts anew
		})
	}
}

func TestDownsampleRatio(t *testing.T) {
	t.Parallel()
	c := open(t, "averager").NewClip(onnx.ClipOptions{NoReuse: true})
	var got []uint8
	for range 4 {
		r, err := c.Estimate(t.Context(), block(1024, 30, image.Rectangle{}))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Foreground.Pix[2])
	}
	if got[1] != 1 || got[3] != 2 { // 2 and 4 times 512/1024
		t.Errorf("ratios add up to %v", got)
	}
}

func TestForegroundCanBeLeftOut(t *testing.T) {
	t.Parallel()
	c := open(t, "averager").NewClip(onnx.ClipOptions{NoForeground: true})
	r, err := c.Estimate(t.Context(), block(40, 30, image.Rectangle{}))
	if err != nil || r.Foreground != nil {
		t.Errorf("foreground %v, error %v", r.Foreground, err)
	}
}

func TestReuse(t *testing.T) {
	t.Parallel()
	a, b := block(100, 60, image.Rect(10, 10, 50, 40)), block(100, 60, image.Rect(20, 10, 60, 40))
	for _, tt := range []struct {
		name, net string
		options   onnx.ClipOptions
		want      []bool // a a b reset b b
	}{
		{"frame", "distance", onnx.ClipOptions{}, []bool{false, true, false, false, true}},
		{"recurrent", "averager", onnx.ClipOptions{}, []bool{false, true, false, false, true}},
		{"switched off", "distance", onnx.ClipOptions{NoReuse: true}, []bool{false, false, false, false, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := open(t, tt.net).NewClip(tt.options)
			var got []bool
			var mattes []*image.Alpha
			for i, img := range []*image.NRGBA{a, a, b, b, b} {
				if i == 3 {
					c.Reset()
				}
				r, err := c.Estimate(t.Context(), img)
				if err != nil {
					t.Fatal(err)
				}
				got, mattes = append(got, r.Reused), append(mattes, r.Matte)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if !bytes.Equal(mattes[0].Pix, mattes[1].Pix) || bytes.Equal(mattes[1].Pix, mattes[2].Pix) {
				t.Error("mattes do not follow their frames")
			}
		})
	}
}

func TestManyClipsShareANetwork(t *testing.T) {
	t.Parallel()
	for _, net := range []string{"distance", "averager"} {
		n := open(t, net)
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() {
				img := block(64, 64, image.Rect(4*i, 8, 4*i+20, 50))
				want, err := n.Small(t.Context(), img)
				if err != nil {
					t.Error(err)
					return
				}
				for range 4 {
					c := n.NewClip(onnx.ClipOptions{})
					r, err := c.Estimate(t.Context(), img)
					if err != nil || !bytes.Equal(r.Matte.Pix, want.Pix) {
						t.Errorf("%s, clip %d: another matte, error %v", net, i, err)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestOneClipFromManyGoroutines(t *testing.T) {
	t.Parallel()
	c := open(t, "distance").NewClip(onnx.ClipOptions{})
	if c.Ordered() {
		t.Error("a network that knows one picture needs no order")
	}
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			r := image.Rect(4*(i/4), 8, 4*(i/4)+20, 50)
			res, err := c.Estimate(t.Context(), block(64, 64, r))
			if err != nil {
				t.Error(err)
				return
			}
			checkBlock(t, res.Matte, r, 1, 1)
		})
	}
	wg.Wait()
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for _, net := range []string{"distance", "averager"} {
		c := open(t, net).NewClip(onnx.ClipOptions{})
		img := block(64, 64, image.Rectangle{})
		if _, err := c.Estimate(ctx, img); !errors.Is(err, cause) {
			t.Errorf("%s: error %v", net, err)
		}
		// Nothing of it is left to be reused.
		if r, err := c.Estimate(t.Context(), img); err != nil || r.Reused {
			t.Errorf("%s: afterwards reused %v, error %v", net, r.Reused, err)
		}
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
	if _, err := n.Small(t.Context(), block(8, 8, image.Rectangle{})); !errors.Is(err, onnx.ErrClosed) {
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
		n := open(t, net, func(c *onnx.Config) { c.Model, c.ModelData = "bundled", data })
		if !bytes.Equal(data, before) {
			t.Error("ModelData was written to")
		}
		clear(data) // it is not needed any more
		r := image.Rect(16, 16, 48, 48)
		m, err := n.Small(t.Context(), block(64, 64, r))
		if err != nil {
			t.Fatal(err)
		}
		if net == "distance" {
			checkBlock(t, m, r, 1, 1)
		}
	}
}

func TestNaNNamesTheNetwork(t *testing.T) {
	t.Parallel()
	for _, s := range []model.Output{{}, {Sigmoid: true}, {Stretch: true}} {
		n := open(t, "nan", spec(model.Spec{Input: model.Input{Multiple: 1}, Output: s}))
		_, err := n.Small(t.Context(), block(40, 40, image.Rectangle{}))
		var me *onnx.ModelError
		if !errors.As(err, &me) || me.Path != nets+"nan.onnx" || !strings.Contains(err.Error(), "NaN") {
			t.Errorf("%+v: error %v", s, err)
		}
	}
}

func TestBadNetworks(t *testing.T) {
	t.Parallel()
	lib := library(t)
	good, err := os.ReadFile(nets + "unet.onnx")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	spoilt := bytes.Clone(good)
	copy(spoilt[200:], strings.Repeat("\xff", 400))
	for _, tt := range []struct {
		name, path string
		spec       model.Spec
		want       string
	}{
		{"missing", filepath.Join(dir, "none.onnx"), model.Spec{}, "cannot be read"},
		{"folder", dir, model.Spec{}, "is not a file"},
		{"empty", write("empty.onnx", nil), model.Spec{}, "not an ONNX network"},
		{"text", write("text.onnx", []byte("version https://example.org/lfs")), model.Spec{}, ""},
		{"truncated", write("short.onnx", good[:len(good)*2/3]), model.Spec{}, "truncated"},
		{"one byte short", write("shorter.onnx", good[:len(good)-1]), model.Spec{}, "truncated"},
		{"corrupt", write("spoilt.onnx", spoilt), model.Spec{}, ""},
		{"another width", nets + "distance.onnx", model.Spec{Input: model.Input{Width: 320, Height: 320}}, "width: the network has 64"},
		{"no such output", nets + "distance.onnx", model.Spec{Output: model.Output{Name: "fog"}}, `no output "fog"`},
		{"no such channel", nets + "distance.onnx", model.Spec{Output: model.Output{Channel: 1}}, "no channel 1"},
		{"wrong layout", nets + "distance.onnx", model.Spec{Input: model.Input{Layout: "nhwc"}}, "channels, want 3"},
		{"not recurrent", nets + "distance.onnx", model.Spec{Kind: model.Recurrent}, "1 inputs"},
		{"not per frame", nets + "averager.onnx", model.Spec{Kind: model.PerFrame}, "6 inputs"},
		{"senseless", nets + "logits.onnx", model.Spec{Input: model.Input{ShortSide: -1}}, "negative"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := onnx.Open(onnx.Config{Library: lib, Model: tt.path, Spec: tt.spec, Device: onnx.CPU})
			var me *onnx.ModelError
			if !errors.As(err, &me) || me.Path != tt.path || !strings.Contains(me.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestBadRuntime(t *testing.T) {
	t.Parallel()
	lib := library(t)
	open(t, "distance") // loads it
	_, err := onnx.Open(onnx.Config{Library: "/nowhere/libonnxruntime.so", Model: nets + "distance.onnx"})
	if !errors.Is(err, onnx.ErrOtherRuntime) {
		t.Errorf("another library: error %v", err)
	}
	_, err = onnx.Open(onnx.Config{Library: lib, Model: nets + "distance.onnx", Device: "abacus"})
	if err == nil || !strings.Contains(err.Error(), "abacus") {
		t.Errorf("unknown device: error %v", err)
	}
}

func TestRequireGPU(t *testing.T) {
	t.Parallel()
	lib := library(t)
	for _, d := range []onnx.Device{onnx.CPU, onnx.DirectML, onnx.CoreML} {
		c := onnx.Config{Library: lib, Model: nets + "distance.onnx", Device: d}
		if n, err := onnx.Open(c); err != nil {
			t.Errorf("%s: %v", d, err)
		} else if n.Provider() != "cpu" {
			t.Skipf("this machine has %s", d)
		}
		c.RequireGPU = true
		if _, err := onnx.Open(c); !errors.Is(err, onnx.ErrNoGPU) {
			t.Errorf("%s: error %v", d, err)
		}
	}
}
