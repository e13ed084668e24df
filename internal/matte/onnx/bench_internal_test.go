package onnx

import (
	"fmt"
	"image"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/reduce"
	"github.com/bgremove/bgremove/internal/network/model"
)

// BenchmarkPrepare measures bringing a frame to size and into a tensor.
func BenchmarkPrepare(b *testing.B) {
	for _, size := range [][2]int{{320, 320}, {640, 360}, {1920, 1080}} {
		for _, side := range []int{320, 1024} {
			img := image.NewNRGBA(image.Rect(0, 0, size[0], size[1]))
			r := image.Rect(0, 0, side, side)
			v := &letterbox{side, side, r, reduce.New(img.Rect.Size(), r.Size())}
			k := &contract{image: port{elem: float32Elem}, spec: model.Spec{Input: model.Input{Std: [3]float32{1, 1, 1}}}}
			l := k.luts()
			var t tensor
			b.Run(fmt.Sprintf("scale/%dp/%d", size[1], side), func(b *testing.B) {
				for b.Loop() {
					v.draw(img)
				}
			})
			p := v.draw(img)
			b.Run(fmt.Sprintf("fill/%dp/%d", size[1], side), func(b *testing.B) {
				for b.Loop() {
					k.fill(&t, p, v, &l)
				}
			})
		}
	}
}

// BenchmarkMatte measures turning an output into bytes.
func BenchmarkMatte(b *testing.B) {
	var t tensor
	t.resize(float32Elem, 1, 1, 1024, 1024)
	for i := range t.f32 {
		t.f32[i] = float32(i%2000)/100 - 10
	}
	for _, o := range []model.Output{{}, {Sigmoid: true}, {Stretch: true}, {Sigmoid: true, Stretch: true}} {
		k := &contract{spec: model.Spec{Output: o}}
		b.Run(fmt.Sprintf("sigmoid=%v/stretch=%v", o.Sigmoid, o.Stretch), func(b *testing.B) {
			s := unitSpan
			for b.Loop() {
				if _, err := k.matte(&t, 1024, 1024, image.Rect(0, 0, 1024, 1024), &s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
