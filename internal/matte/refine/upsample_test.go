package refine_test

import (
	"bytes"
	"fmt"
	"image"
	"slices"
	"sync"
	"testing"

	"github.com/bgremove/bgremove/internal/matte/reduce"
	"github.com/bgremove/bgremove/internal/matte/refine"
	"github.com/bgremove/bgremove/internal/synth"
)

// TestUpsampleFollowsEdges: on the mean over sizes and blurs of the small
// matte, the result is better than the bilinear one, and far so at the edges of
// what has a calm backdrop. Before backdrops as rough as the subject's outline
// it need only not be worse by more than a hair.
func TestUpsampleFollowsEdges(t *testing.T) {
	t.Parallel()
	var u refine.Upsampler
	limits := map[int]struct{ iou, mae, edge float64 }{
		flat: {0, 0.75, 0.45}, gradient: {0, 0.85, 0.55}, waves: {0, 1, 0.7}, stripes: {-0.005, 1.05, 1}, noise: {-0.02, 1.05, 1},
	}
	for _, s := range []synth.Subject{synth.Discs, synth.Soft, synth.Gap, synth.Strokes} {
		for kind, name := range textures {
			t.Run(fmt.Sprint(s, "/", name), func(t *testing.T) {
				t.Parallel()
				p := synth.Clip{Width: 480, Height: 270, Frames: 8, Backdrop: synth.Blue, Subject: s}.Frame(1)
				img := onto(p, texture(480, 270, kind))
				var got, plain quality
				for _, by := range []int{4, 6, 8} {
					for blurs := range 2 {
						small := shrink(p.Alpha, 480/by, 270/by, blurs)
						m := image.NewAlpha(p.Alpha.Rect)
						u.Upsample(m, img, small, nil)
						got.add(m, p.Alpha)
						plain.add(bilinear(small, 480, 270), p.Alpha)
					}
				}
				t.Logf("IoU %.4f (bilinear %.4f), mean error %.4f (%.4f), at edges %.3f (%.3f)",
					got.iou/6, plain.iou/6, got.mae/6, plain.mae/6, got.edge/6, plain.edge/6)
				l := limits[kind]
				if got.iou < plain.iou+6*l.iou || got.mae > l.mae*plain.mae || got.edge > l.edge*plain.edge {
					t.Error("not as much better than bilinear as it should be")
				}
			})
		}
	}
}

// quality sums measures over several mattes.
type quality struct{ iou, mae, edge float64 }

func (q *quality) add(got, want *image.Alpha) {
	q.iou += synth.IoU(got, want)
	q.mae += synth.MeanError(got, want)
	q.edge += edgeError(got, want)
}

// TestUpsampleKeepsWhatIsSure: where the small matte is empty or full all
// around, so is the large one, whatever the picture.
func TestUpsampleKeepsWhatIsSure(t *testing.T) {
	t.Parallel()
	var u refine.Upsampler
	img := texture(333, 187, noise)
	for _, c := range []struct{ in, want uint8 }{{0, 0}, {2, 0}, {255, 255}, {253, 255}} {
		small, dst := image.NewAlpha(image.Rect(0, 0, 40, 40)), image.NewAlpha(img.Rect)
		for i := range small.Pix {
			small.Pix[i] = c.in
		}
		for i := range dst.Pix {
			dst.Pix[i] = 77
		}
		u.Upsample(dst, img, small, nil)
		for i, v := range dst.Pix {
			if v != c.want {
				t.Fatalf("matte of %d: %d at %d", c.in, v, i)
			}
		}
	}
	p := synth.Clip{Width: 333, Height: 187, Frames: 8, Backdrop: synth.Blue}.Frame(1)
	small, dst := shrink(p.Alpha, 64, 64, 1), image.NewAlpha(img.Rect)
	u.Upsample(dst, onto(p, img), small, nil)
	checked := 0
	for i, v := range dst.Pix {
		x, y := i%333*64/333, i/333*64/187
		if want, ok := sure(small, x, y); ok {
			checked++
			if v != want {
				t.Fatalf("pixel %d is %d where the small matte is sure of %d", i, v, want)
			}
		}
	}
	if checked < len(dst.Pix)/2 {
		t.Errorf("only %d pixels are sure", checked)
	}
}

// sure returns the value that all samples within 3 of x, y share, if it is 0
// or 255.
func sure(m *image.Alpha, x, y int) (v uint8, ok bool) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	v = m.Pix[y*w+x]
	for j := max(y-3, 0); j <= min(y+3, h-1); j++ {
		for _, u := range m.Pix[j*w+max(x-3, 0) : j*w+min(x+4, w)] {
			if u != v {
				return 0, false
			}
		}
	}
	return v, v == 0 || v == 255
}

var sizes = [][2]int{{1, 1}, {1, 7}, {7, 1}, {2, 2}, {3, 40}, {15, 16}, {16, 17}, {31, 33}, {65, 9}}

// TestOddSizes: every combination of tiny and odd sizes works, and a constant
// matte stays constant, stretched a little.
func TestOddSizes(t *testing.T) {
	t.Parallel()
	var u refine.Upsampler
	var f refine.Foreground
	for _, s := range sizes {
		img := texture(s[0], s[1], noise)
		for _, n := range sizes {
			for v, want := range map[uint8]uint8{0: 0, 8: 0, 90: 87, 247: 255, 255: 255} {
				small, dst := image.NewAlpha(image.Rect(0, 0, n[0], n[1])), image.NewAlpha(img.Rect)
				for i := range small.Pix {
					small.Pix[i] = v
				}
				u.Upsample(dst, img, small, nil)
				for i, got := range dst.Pix {
					if got != want {
						t.Fatalf("%v from %v: %d of %d at %d, want %d", s, n, got, v, i, want)
					}
				}
			}
			f.Decontaminate(texture(s[0], s[1], waves), bilinear(shrink(image.NewAlpha(image.Rect(0, 0, 3, 3)), n[0], n[1], 0), s[0], s[1]))
		}
	}
	u.Upsample(image.NewAlpha(image.Rectangle{}), image.NewNRGBA(image.Rectangle{}), image.NewAlpha(image.Rect(0, 0, 2, 2)), nil)
	dst := image.NewAlpha(image.Rect(0, 0, 2, 2))
	dst.Pix[3] = 5
	if u.Upsample(dst, texture(2, 2, flat), image.NewAlpha(image.Rectangle{}), nil); dst.Pix[3] != 0 {
		t.Error("no small matte does not give an empty one")
	}
	f.Decontaminate(image.NewNRGBA(image.Rectangle{}), image.NewAlpha(image.Rectangle{}))
}

// FuzzSizes runs everything on any sizes and contents.
func FuzzSizes(f *testing.F) {
	f.Add(uint8(1), uint8(1), uint8(9), uint8(9), []byte{1, 2, 3})
	f.Add(uint8(40), uint8(33), uint8(5), uint8(1), []byte{0, 255, 0, 128})
	f.Add(uint8(17), uint8(90), uint8(60), uint8(50), []byte{255, 255, 7})
	var u refine.Upsampler
	var fg refine.Foreground
	f.Fuzz(func(t *testing.T, w, h, sw, sh uint8, data []byte) {
		if w == 0 || h == 0 || len(data) == 0 {
			t.Skip()
		}
		img, small := texture(int(w), int(h), noise), image.NewAlpha(image.Rect(0, 0, int(sw), int(sh)))
		for i := range small.Pix {
			small.Pix[i] = data[(i/3+i/7)%len(data)]
		}
		dst := image.NewAlpha(img.Rect)
		u.Upsample(dst, img, small, nil)
		before := slices.Clone(img.Pix)
		fg.Decontaminate(img, dst)
		for i, v := range dst.Pix {
			if v%255 == 0 && [4]uint8(img.Pix[4*i:]) != [4]uint8(before[4*i:]) {
				t.Fatalf("pixel %d of matte %d changed", i, v)
			}
		}
	})
}

// TestConcurrentUse: many goroutines on one Upsampler and one Foreground get
// what one gets.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	var u refine.Upsampler
	var f refine.Foreground
	p := synth.Clip{Width: 160, Height: 90, Frames: 8, Backdrop: synth.Green}.Frame(1)
	work := func() []byte {
		img, dst := onto(p, texture(160, 90, waves)), image.NewAlpha(p.Alpha.Rect)
		u.Upsample(dst, img, shrink(p.Alpha, 40, 30, 1), nil)
		f.Decontaminate(img, dst)
		return append(img.Pix, dst.Pix...)
	}
	want := work()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if !bytes.Equal(work(), want) {
				t.Error("another result")
			}
		})
	}
	wg.Wait()
}

// TestGuide: a picture reduced before gives the same matte, one of
// another size is not looked at.
func TestGuide(t *testing.T) {
	t.Parallel()
	var u refine.Upsampler
	p := synth.Clip{Width: 160, Height: 90, Frames: 8, Backdrop: synth.Green}.Frame(1)
	small := shrink(p.Alpha, 40, 30, 1)
	want := image.NewAlpha(p.Alpha.Rect)
	u.Upsample(want, p.Image, small, nil)
	for _, s := range [][2]int{{40, 30}, {41, 30}, {0, 0}} {
		guide, got := image.NewNRGBA(image.Rect(0, 0, s[0], s[1])), image.NewAlpha(p.Alpha.Rect)
		if s[0] == 40 {
			reduce.New(p.Image.Rect.Size(), guide.Rect.Size()).Draw(guide, p.Image)
		}
		if u.Upsample(got, p.Image, small, guide); !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("another matte with a guide of %v", s)
		}
	}
}
