package onnx_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bgremove/bgremove/internal/matte/onnx"
	"github.com/bgremove/bgremove/internal/network/model"
)

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
		want      []bool // a a b a reset b b
	}{
		{"frame", "distance", onnx.ClipOptions{}, []bool{false, true, false, true, false, true}},
		{"recurrent", "averager", onnx.ClipOptions{}, []bool{false, true, false, false, false, true}},
		{"switched off", "distance", onnx.ClipOptions{NoReuse: true}, make([]bool, 6)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := open(t, tt.net).NewClip(tt.options)
			var got []bool
			var mattes []*image.Alpha
			for i, img := range []*image.NRGBA{a, a, b, a, b, b} {
				if i == 4 {
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

// TestPicture: what the network saw fits the matte, without what surrounds it.
func TestPicture(t *testing.T) {
	t.Parallel()
	for _, letterbox := range []bool{false, true} {
		n := open(t, "distance", spec(model.Spec{Input: model.Input{Letterbox: letterbox}}))
		img := block(200, 100, image.Rect(100, 0, 200, 100))
		clear(img.Pix[3:4]) // its alpha does not matter
		r, err := n.NewClip(onnx.ClipOptions{}).Estimate(t.Context(), img)
		if err != nil {
			t.Fatal(err)
		}
		p := r.Picture
		if p == nil || p.Rect != r.Matte.Rect {
			t.Fatalf("picture %v for a matte of %v", p, r.Matte.Rect)
		}
		for i, want := range []color.NRGBA{green, red} {
			if got := p.NRGBAAt(i*(p.Rect.Dx()-1), 0); got != want {
				t.Errorf("letterbox %v: corner %d is %v, want %v", letterbox, i, got, want)
			}
		}
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
				want, err := n.Matte(t.Context(), img)
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
